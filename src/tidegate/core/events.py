"""What a model can say, in the order it says it: one vocabulary for every protocol."""

# An answer is Started, then blocks one after the other (opened, grown, closed; never two open at once), then
# Finished or Failed. UsageTold may come anywhere before the end; the last one counts, field by field.

from enum import Enum
from typing import Any, TypeAlias

from msgspec import Struct

from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage


class Opaque(Struct, frozen=True):
    """Reasoning as only the upstream that made it can read it; goes back to no other.

    `value` by `origin`: MESSAGES a list of `thinking` / `redacted_thinking` blocks verbatim, RESPONSES the
    whole reasoning item, CHAT the reasoning text.
    """

    origin: Protocol
    value: Any


class CallKind(Enum):
    """What a tool call's input is."""

    FUNCTION = "function"
    """JSON text."""
    CUSTOM = "custom"
    """Free text."""


class ReasoningForm(Enum):
    """What the readable part of reasoning is."""

    RAW = "raw"
    SUMMARY = "summary"


class Stop(Enum):
    """Why an answer ended well."""

    END = "end"
    LENGTH = "length"
    """The output limit."""
    CONTEXT = "context"
    """The model's context was full."""
    TOOL_CALLS = "tool_calls"
    STOP_SEQUENCE = "stop_sequence"
    REFUSAL = "refusal"
    """The model or a classifier refused."""
    CONTENT_FILTER = "content_filter"
    PAUSE = "pause"
    """A long turn of hosted tools was paused (Messages `pause_turn`)."""


class Started(Struct, frozen=True):
    """The model took the request. It has not said anything yet."""

    id: str | None = None
    service_tier: str | None = None


class TextOpened(Struct, frozen=True):
    """A text block begins."""


class RefusalOpened(Struct, frozen=True):
    """A refusal, in words, begins."""


class ReasoningOpened(Struct, frozen=True):
    """A reasoning block begins."""


class CallOpened(Struct, frozen=True):
    """A call of a client's tool begins. `name` and `namespace` are the upstream's until mapped back."""

    id: str
    name: str
    kind: CallKind = CallKind.FUNCTION
    namespace: str | None = None


class TextDelta(Struct, frozen=True):
    """More of the open text or refusal block. `logprobs` are entries in OpenAI's form."""

    text: str
    logprobs: tuple[Any, ...] = ()


class ReasoningDelta(Struct, frozen=True):
    """More of the open reasoning block; `part` counts summary parts from 0."""

    text: str
    form: ReasoningForm = ReasoningForm.RAW
    part: int = 0


class CallDelta(Struct, frozen=True):
    """More of the open call's input: a fragment of JSON text, or of free text for a custom tool.

    A function's call without any has an empty object for its input, which each protocol tells in its own way.
    """

    text: str


class Cited(Struct, frozen=True):
    """The open text block cites a page. Indices are of this block's text, None where not told."""

    url: str
    title: str
    start: int | None = None
    end: int | None = None


class Closed(Struct, frozen=True):
    """The open block is whole. `opaque` comes with reasoning; `cut`: ended by a limit in the middle."""

    opaque: Opaque | None = None
    cut: bool = False


class Searched(Struct, frozen=True):
    """The upstream's own web search ran; stands between blocks."""

    id: str
    query: str | None = None


class UsageTold(Struct, frozen=True):
    """Counts so far."""

    usage: Usage


class Finished(Struct, frozen=True):
    """The protocol's own end mark arrived, so the answer is whole."""

    stop: Stop
    stop_sequence: str | None = None
    explanation: str | None = None
    """Why it was refused, in words, where the upstream says so beside the answer."""
    category: str | None = None


class Failed(Struct, frozen=True):
    """The upstream reported an error in the stream."""

    failure: Failure


Opened: TypeAlias = TextOpened | RefusalOpened | ReasoningOpened | CallOpened
Spoken: TypeAlias = (
    Started
    | TextOpened
    | RefusalOpened
    | ReasoningOpened
    | CallOpened
    | TextDelta
    | ReasoningDelta
    | CallDelta
    | Cited
    | Closed
    | Searched
    | UsageTold
)
"""Everything that does not end the answer."""
Event: TypeAlias = Spoken | Finished | Failed
