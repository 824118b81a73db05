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
from tidegate.protocols.conversion import Abilities, Carried, OpenCarrier, Target, Written
from tidegate.protocols.registry import dialect_of

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
