"""Requests of a client and the channels that they are written for, as the tests of conversion need them."""

import json
from collections.abc import Callable
from typing import Any

from tidegate.core.capability import Capabilities, Effort, Thinking
from tidegate.core.conversation import Conversation
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.abilities import resolve
from tidegate.protocols.base import Asked
from tidegate.protocols.carrier import opener, sealer
from tidegate.protocols.chat.read_conversation import read_conversation as read_chat
from tidegate.protocols.chat.request import read_request as ask_chat
from tidegate.protocols.conversion import Target, Written
from tidegate.protocols.messages.read_conversation import read_conversation as read_messages
from tidegate.protocols.messages.request import read_request as ask_messages
from tidegate.protocols.messages.write_conversation import write_conversation as write_messages
from tidegate.protocols.responses.read_conversation import read_conversation as read_responses
from tidegate.protocols.responses.request import read_request as ask_responses
from tidegate.protocols.warnings import row

SECRET = b"s" * 32
ACCOUNT = "acme"
GROUP = "anthropic"
OPEN = opener(SECRET, ACCOUNT)
SEAL = sealer(SECRET, ACCOUNT, GROUP)

MODELS = {
    Protocol.CHAT: "up-chat-model",
    Protocol.RESPONSES: "up-responses-model",
    Protocol.MESSAGES: "up-messages-model",
}
_ASK: dict[Protocol, Callable[[bytes], Asked | Failure]] = {
    Protocol.CHAT: ask_chat,
    Protocol.RESPONSES: ask_responses,
    Protocol.MESSAGES: ask_messages,
}
_READ = {Protocol.CHAT: read_chat, Protocol.RESPONSES: read_responses, Protocol.MESSAGES: read_messages}


def read(protocol: Protocol, request: Any) -> Conversation | Failure:
    """The request, a JSON value, as the dialect reads it."""
    asked = _ASK[protocol](json.dumps(request).encode())
    return asked if isinstance(asked, Failure) else _READ[protocol](asked, OPEN)


def target(protocol: Protocol = Protocol.MESSAGES, model: str | None = None, **told: Any) -> Target:
    """A channel. Its Messages model takes adaptive thinking, its Chat model every effort, unless told."""
    usual: dict[Protocol, dict[str, Any]] = {
        Protocol.CHAT: {"efforts": tuple(Effort)},
        Protocol.RESPONSES: {},
        Protocol.MESSAGES: {} if model else {"thinking": Thinking.ADAPTIVE},
    }
    name = model or MODELS[protocol]
    capabilities = Capabilities(**{**usual[protocol], **told})
    return Target(
        model=name,
        group=GROUP,
        abilities=resolve(protocol, name, capabilities, Capabilities()),
        max_output_tokens=4096,
        stream=True,
    )


def converted(protocol: Protocol, request: Any, to: Target) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The body for a messages channel and the warnings."""
    written = write(protocol, request, to)
    assert isinstance(written, Written), written
    body: dict[str, Any] = json.loads(written.body)
    return body, row(written.losses)


def write(protocol: Protocol, request: Any, to: Target) -> Written | Failure:
    """The request of another protocol for a messages channel."""
    conversation = read(protocol, request)
    return conversation if isinstance(conversation, Failure) else write_messages(conversation, to)


def chat(*messages: Any, **members: Any) -> dict[str, Any]:
    """A Chat request."""
    return {"model": "m", "messages": list(messages or [{"role": "user", "content": "hi"}]), **members}


def responses(*items: Any, **members: Any) -> dict[str, Any]:
    """A Responses request."""
    return {"model": "m", "input": list(items or [{"role": "user", "content": "hi"}]), **members}


def messages(*turns: Any, **members: Any) -> dict[str, Any]:
    """A Messages request."""
    return {
        "model": "m",
        "max_tokens": 1000,
        "messages": list(turns or [{"role": "user", "content": "hi"}]),
        **members,
    }
