"""Requests of every protocol, read and written for a messages channel."""

from typing import Any

from tests.unit.protocols.asking import GROUP, asked, said, told
from tests.unit.protocols.asking import target as usual_target

from tidegate.core.conversation import Conversation
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.carrier import opener, sealer
from tidegate.protocols.chat.read_conversation import read_conversation as read_chat
from tidegate.protocols.conversion import Target, Written
from tidegate.protocols.messages.read_conversation import read_conversation as read_messages
from tidegate.protocols.messages.write_conversation import write_conversation
from tidegate.protocols.responses.read_conversation import read_conversation as read_responses

OPEN = opener(b"s" * 32, "acme")
SEAL = sealer(b"s" * 32, "acme", GROUP)
SEAL_ELSEWHERE = sealer(b"s" * 32, "acme", "elsewhere")
READ = {Protocol.CHAT: read_chat, Protocol.RESPONSES: read_responses, Protocol.MESSAGES: read_messages}

C, R, M = Protocol.CHAT, Protocol.RESPONSES, Protocol.MESSAGES
CALLED = [
    {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
    {"id": "b", "type": "function", "function": {"name": "g", "arguments": ""}},
]
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def target(**abilities: Any) -> Target:
    """A messages channel."""
    return usual_target(M, **abilities)


def read(protocol: Protocol, request: dict[str, Any]) -> Conversation | Failure:
    """The request in the common form."""
    return READ[protocol](asked(protocol, request), OPEN)


def write(protocol: Protocol, request: dict[str, Any], **abilities: Any) -> Written | Failure:
    """The request for a messages channel."""
    conversation = read(protocol, request)
    if isinstance(conversation, Failure):
        return conversation
    return write_conversation(conversation, target(**abilities))


def converted(
    protocol: Protocol, request: dict[str, Any], **abilities: Any
) -> tuple[dict[str, Any], list[str]]:
    """The body for a messages channel and what was lost, silent losses in brackets."""
    written = write(protocol, request, **abilities)
    assert isinstance(written, Written), written
    return said(written), told(written.losses)


def refused(protocol: Protocol, request: dict[str, Any], **abilities: Any) -> str | None:
    """The path of what was refused."""
    failure = write(protocol, request, **abilities)
    assert isinstance(failure, Failure), failure
    return failure.param


def user(content: Any = "hi") -> dict[str, Any]:
    """What a user says, in any protocol."""
    return {"role": "user", "content": content}


def assistant(content: Any = None, **members: Any) -> dict[str, Any]:
    """What the model said, in any protocol."""
    return {"role": "assistant", "content": content, **members}


def tool(id_: str, content: Any = "ok") -> dict[str, Any]:
    """What a tool answered, in Chat."""
    return {"role": "tool", "tool_call_id": id_, "content": content}


def chat(*messages: dict[str, Any], **members: Any) -> dict[str, Any]:
    """A Chat request."""
    return {"messages": list(messages or [user()]), **members}


def responses(*items: dict[str, Any], **members: Any) -> dict[str, Any]:
    """A Responses request."""
    return {"input": list(items or [user()]), **members}


def messages(*turns: dict[str, Any], **members: Any) -> dict[str, Any]:
    """A Messages request."""
    return {"max_tokens": 1000, "messages": list(turns or [user()]), **members}
