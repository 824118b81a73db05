"""Clients' requests and channels for the tests of conversions."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import structs

from tidegate.core.capability import Effort, MaxTokensField, ReplayReasoning, Thinking, UnsupportedTools
from tidegate.core.conversation import Conversation, Loss
from tidegate.core.events import Opaque
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked
from tidegate.protocols.chat import read_conversation as read_chat
from tidegate.protocols.chat import write_conversation as write_chat
from tidegate.protocols.conversion import (
    Abilities,
    Carried,
    OpenCarrier,
    ReadConversation,
    Target,
    WriteConversation,
    Written,
)
from tidegate.protocols.messages import read_conversation as read_messages
from tidegate.protocols.messages import write_conversation as write_messages
from tidegate.protocols.registry import dialect_of
from tidegate.protocols.responses import read_conversation as read_responses
from tidegate.protocols.responses import write_conversation as write_responses

READ: dict[Protocol, ReadConversation] = {
    Protocol.CHAT: read_chat.read_conversation,
    Protocol.RESPONSES: read_responses.read_conversation,
    Protocol.MESSAGES: read_messages.read_conversation,
}
WRITE: dict[Protocol, WriteConversation] = {
    Protocol.CHAT: write_chat.write_conversation,
    Protocol.RESPONSES: write_responses.write_conversation,
    Protocol.MESSAGES: write_messages.write_conversation,
}
PAIRS = Path(__file__).parents[2] / "fixtures" / "pairs"
GROUP = "up"
NAME_LIMITS = {Protocol.CHAT: 64, Protocol.RESPONSES: 128, Protocol.MESSAGES: 128}


def abilities(protocol: Protocol, **changes: Any) -> Abilities:
    """The defaults of conversion.md §12 for an unknown model, but with every level of effort."""
    plain = Abilities(
        max_tokens_field=MaxTokensField.MAX_COMPLETION_TOKENS,
        sampling=True,
        thinking=Thinking.ADAPTIVE,
        efforts=tuple(Effort),
        prefill=True,
        mid_system=False,
        developer_role=False,
        instructions_required=False,
        structured_output=True,
        custom_tools=protocol is Protocol.RESPONSES,
        web_search=False,
        reasoning_summary=True,
        replay_reasoning=ReplayReasoning.NEVER,
        tool_name_max=NAME_LIMITS[protocol],
        unsupported_tools=UnsupportedTools.DROP,
    )
    return structs.replace(plain, **changes)


def target(protocol: Protocol, **changes: Any) -> Target:
    """A channel of a protocol; `changes` are abilities."""
    return Target(
        model=f"up-{protocol.value}-model",
        group=GROUP,
        abilities=abilities(protocol, **changes),
        max_output_tokens=4096,
        stream=True,
    )


def asked(protocol: Protocol, body: Mapping[str, Any]) -> Asked:
    """The request as the gateway reads it first."""
    read = dialect_of(protocol).read_request(json.dumps({"model": "MODEL_ID", **body}).encode())
    assert isinstance(read, Asked), read
    return read


def foreign(sealed: str) -> Carried | None:
    """Opens nothing."""
    del sealed
    return None


def opener(carriers: Mapping[str, Opaque], group: str = GROUP) -> OpenCarrier:
    """Opens these carriers, all made by one group."""

    def open_carrier(sealed: str) -> Carried | None:
        return Carried(carriers[sealed], group) if sealed in carriers else None

    return open_carrier


def said(written: Written | Failure) -> dict[str, Any]:
    """The body that goes up."""
    assert isinstance(written, Written), written
    body: dict[str, Any] = json.loads(written.body)
    return body


def told(losses: tuple[Loss, ...]) -> list[str]:
    """The losses as in the header, in order; silent ones in brackets."""
    words = (f"{loss.code.value}:{loss.path}" for loss in losses)
    return [f"({word})" if loss.silent else word for word, loss in zip(words, losses, strict=True)]


def without_nulls(value: Any) -> Any:
    """The value without members that are null, which corpus comparisons take out."""
    match value:
        case dict():
            return {name: without_nulls(member) for name, member in value.items() if member is not None}
        case list():
            return [without_nulls(element) for element in value]
        case _:  # scalars
            return value


def conversation_of(found: Conversation | Failure) -> Conversation:
    """The conversation that was read."""
    assert isinstance(found, Conversation), found
    return found


def converted(
    client: Protocol,
    body: Mapping[str, Any],
    channel: Protocol,
    open_carrier: OpenCarrier = foreign,
    **changes: Any,
) -> Written | Failure:
    """A client's request on a channel of another protocol; `changes` are the channel's abilities."""
    found = READ[client](asked(client, body), open_carrier)
    return found if isinstance(found, Failure) else WRITE[channel](found, target(channel, **changes))


class Crossing:
    """One cross pair, for tables of what goes in and what comes out."""

    def __init__(self, client: Protocol, channel: Protocol, smallest: Mapping[str, Any]) -> None:
        self.client = client
        self.channel = channel
        self.smallest = smallest

    def written(self, body: Mapping[str, Any], **changes: Any) -> Written:
        """What goes up for the smallest request with these members."""
        found = converted(self.client, {**self.smallest, **body}, self.channel, **changes)
        assert isinstance(found, Written), found
        return found

    def sent(self, body: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
        """Its body, without what is sent for every request."""
        usual = said(self.written({}, **changes))
        whole = said(self.written(body, **changes))
        return {name: value for name, value in whole.items() if usual.get(name) != value}

    def lost(self, body: Mapping[str, Any], **changes: Any) -> list[str]:
        """What was lost, silent losses in brackets."""
        return told(self.written(body, **changes).losses)

    def refused(self, body: Mapping[str, Any], **changes: Any) -> tuple[str, str | None]:
        """Kind and path of the refusal."""
        found = converted(self.client, {**self.smallest, **body}, self.channel, **changes)
        assert isinstance(found, Failure), said(found)
        assert found.message
        return found.kind.value, found.param


HI_CHAT = {"messages": [{"role": "user", "content": "hi"}]}
HI_RESPONSES = {"input": "hi"}
HI_MESSAGES = {"max_tokens": 100, **HI_CHAT}
CHAT_TO_RESPONSES = Crossing(Protocol.CHAT, Protocol.RESPONSES, HI_CHAT)
RESPONSES_TO_CHAT = Crossing(Protocol.RESPONSES, Protocol.CHAT, HI_RESPONSES)
MESSAGES_TO_CHAT = Crossing(Protocol.MESSAGES, Protocol.CHAT, HI_MESSAGES)
MESSAGES_TO_RESPONSES = Crossing(Protocol.MESSAGES, Protocol.RESPONSES, HI_MESSAGES)
