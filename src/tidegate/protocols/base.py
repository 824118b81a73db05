"""What a dialect must offer, and the values it speaks in."""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Protocol as Interface

from msgspec import Struct

from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.core.sse import Frame
from tidegate.core.usage import Usage

Clean = Callable[[str], str]
"""Takes a channel's secret and hosts, and anything like them, out of a message."""


class Said(Enum):
    """What one event of an upstream stream means for the request (CONTRACT.md, "useful event")."""

    DROPPED = "dropped"
    """Never forwarded: another protocol's end mark, a keepalive event, a usage chunk nobody asked for."""
    NOISE = "noise"
    """Forwarded, but no progress: ping, an empty delta, an event of unknown type."""
    OPENING = "opening"
    """The model took the request or arranges its answer; held back until something useful comes."""
    REASONING = "reasoning"
    """As OPENING, and a reasoning block or item was opened: some models now think silently."""
    PROGRESS = "progress"
    """Useful, but the caller's protocol has no form for it: the model is at work, and nothing commits."""
    OUTPUT = "output"
    """Useful: commits the channel."""
    FINISH = "finish"
    """Chat only: the last awaited finish reason came. Useful; only usage and the end mark may still come."""
    END = "end"
    """The protocol's end mark: the answer is whole. Useful."""
    ERROR = "error"
    """The upstream reports a failure; `Watcher.failure` says which. `outgoing` gives the event, cleaned."""
    BROKEN = "broken"
    """The upstream sent what the protocol cannot mean (no JSON, `[DONE]` too early). Not forwarded."""
    SPOILT = "spoilt"
    """As BROKEN, and what was said before cannot be made whole either, whatever finish has come."""


class Seed(Struct, frozen=True):
    """What an encoder must write but a pure module cannot make: a random id part, the Unix time."""

    id: str
    now: int


class Imprint(Struct, frozen=True):
    """What an upstream's answer says of itself: its id, and the model that made it."""

    id: str | None = None
    model: str | None = None


NO_IMPRINT = Imprint()


class Watcher(Interface):
    """Reads the events of one upstream stream on the diagonal; one per attempt.

    The attributes say what has been learnt so far.
    """

    failure: Failure | None
    ids: list[str]
    """Ids that the upstream may have stored (response and item ids); empty for other dialects."""

    @property
    def imprint(self) -> Imprint:
        """What the upstream's answer says of itself, as far as it has."""

    @property
    def usage(self) -> Usage | None:
        """What has been told of usage."""

    @property
    def finish_reason(self) -> str | None:
        """In the caller's protocol's words."""

    @property
    def incomplete(self) -> bool:
        """Ended well, but cut by a token limit."""

    def read(self, frame: Frame) -> Said:
        """What the event means. Reads every event exactly once, in order."""

    def outgoing(self, frame: Frame) -> bytes:
        """The bytes for the caller of the event read last: its own, or re-framed (CONTRACT.md's list)."""

    def text(self, start: int = 0) -> str:
        """The output text, reasoning and tool arguments included: for an estimate.

        All of it so far, or what came after `start` bytes, which `spoken` told before.
        """

    @property
    def spoken(self) -> int:
        """The length of that text so far, in bytes of UTF-8."""

    def error_event(self, failure: Failure) -> bytes:
        """The error event that ends the caller's stream after what has been forwarded so far."""

    def closing(self, estimate: Usage | None) -> bytes:
        """What is still missing after the end: for Chat an estimated usage chunk if owed, and `[DONE]`."""

    @property
    def may_end(self) -> bool:
        """Whether the answer is whole although its end mark is missing.

        Asked at an orderly end of the upstream's stream, and at any end after Said.FINISH.
        """

    @property
    def owes_usage(self) -> bool:
        """Whether the caller asked for a usage chunk that the upstream has not sent."""


class Asked(Struct, frozen=True, kw_only=True):
    """What the gateway itself reads from a request; everything else stays in `body`, byte for byte.

    `members` are the spans (start, end) of the top-level values in `body`.
    """

    protocol: Protocol
    body: bytes
    members: Mapping[str, tuple[int, int]]
    model: str
    stream: bool = False
    choices: int = 1
    """How many choices must finish (`n` of Chat)."""
    wants_usage: bool = False
    """Chat: the caller set `stream_options.include_usage`. True for the other dialects."""
    stores: bool = False
    """Responses: the upstream will keep the answer (`store` absent or true)."""
    response_ids: tuple[str, ...] = ()
    """`previous_response_id`: a stored response that this request builds on."""
    item_ids: tuple[str, ...] = ()
    """Ids of `item_reference` items in the input."""


class Repair(Enum):
    """The one change that may be tried on the same channel after a 400 or 404 (CONTRACT.md, "One repair")."""

    STREAM_OPTIONS = "stream_options"
    THINKING = "thinking"
    """Thinking blocks whose signature the upstream does not know."""
    REASONING = "reasoning"
    """Reasoning items that the upstream does not find or cannot decrypt."""


class Whole(Struct, frozen=True, kw_only=True):
    """What was read from a whole answer (not streamed). `body` is the JSON text for the caller."""

    body: bytes
    usage: Usage | None
    finish_reason: str | None
    incomplete: bool
    text: str
    ids: tuple[str, ...] = ()
    imprint: Imprint = NO_IMPRINT
    failure: Failure | None = None
    """The answer is well-formed and tells a failure of its own (Responses `status: failed`)."""


class Dialect(Struct, frozen=True, kw_only=True):
    """One wire protocol, as pure functions."""

    protocol: Protocol
    path: str
    """Appended to a channel's base URL, e.g. `/chat/completions`."""
    read_request: Callable[[bytes], Asked | Failure]
    """Check a caller's body (JSON, members, types) and read what the gateway needs."""
    write_request: Callable[[Asked, str], bytes]
    """The body for a channel of the same protocol, with its model name: CONTRACT.md's members change."""
    repair: Callable[[Asked, Failure], Repair | None]
    """Which repair a 400 or 404 of the upstream calls for, if this request has what it takes out."""
    write_repaired: Callable[[Asked, str, Repair], bytes]
    """As `write_request`, without what the repair removes."""
    prompt_texts: Callable[[Asked], Iterable[str]]
    """The texts of the prompt, tools and schemas included, for an estimate of its tokens."""
    image_count: Callable[[Asked], int]
    """How many images the prompt holds."""
    watcher: Callable[[Asked, Clean, Seed], Watcher]
    """A fresh reader of one upstream stream; the Clean takes secrets and hosts out of error messages."""
    read_whole: Callable[[Asked, bytes], Whole | Failure]
    """Check that a body is a whole answer of this protocol; the result's body has the caller's model.

    A JSON error object is a Failure, and so is anything that is no answer of the protocol.
    """
    replay: Callable[[Asked, bytes], bytes]
    """The stream (upstream bytes, end mark included) that says what a whole answer says."""
    assemble: Callable[[Asked, bytes], bytes | Failure]
    """The whole answer that a complete stream says: the reverse of `replay`."""
    read_refusal: Callable[[int, Mapping[str, str], bytes, float], Failure]
    """What an upstream's answer with a status other than 2xx means: status, headers, body, Unix time now."""
    error_answer: Callable[[Failure, str], tuple[int, bytes]]
    """Status and JSON body that tell a failure before the stream, with the request id."""
