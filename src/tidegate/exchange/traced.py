"""What is told of a finished request to whoever makes spans of it."""

from typing import Protocol

from msgspec import Struct

from tidegate.core.trace_context import Trace
from tidegate.exchange.ports import RequestRecord
from tidegate.protocols.base import NO_IMPRINT, Imprint


class TraceRules(Struct, frozen=True, kw_only=True):
    """How requests are traced."""

    share: float
    """Of the traces that begin here, so many are recorded, from 0 to 1."""
    propagates: bool
    """Whether upstreams are told the trace."""


class Traced(Struct, frozen=True, kw_only=True):
    """A finished request of a trace that is recorded. Milliseconds count from the request's start."""

    trace: Trace
    record: RequestRecord
    path: str
    """The route that was called."""
    opened_ms: float | None = None
    """Status 200 and a comment went out before anything useful had come."""
    committed_ms: float | None = None
    """The channel was settled."""
    imprint: Imprint = NO_IMPRINT
    """What the answer of the last attempt says of itself."""


class Spans(Protocol):
    """Makes spans of finished requests."""

    @property
    def dropped(self) -> int:
        """Requests whose spans did not reach anybody."""

    def take(self, traced: Traced) -> None:
        """Return at once; they are made and sent at some time, or dropped where too many wait."""
