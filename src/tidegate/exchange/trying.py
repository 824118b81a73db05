"""One attempt while it is under way: where it goes, why there, and when it got how far."""

from msgspec import Struct, field

from tidegate.core.failure import Failure
from tidegate.exchange.ports import AttemptRecord
from tidegate.routing.catalog import Candidate


class Marks(Struct):
    """When an attempt got how far (monotonic seconds); None: it did not, or nobody saw it."""

    connected_at: float | None = None
    """A fresh connection stood; None too where a pooled one was used."""
    first_byte_at: float | None = None
    """The head of the answer was read."""
    first_event_at: float | None = None
    """The first useful event of a stream was read."""


class Trying(Struct, frozen=True, kw_only=True):
    """An attempt under way: times are monotonic and Unix seconds."""

    candidate: Candidate
    reason: str
    """Why this channel, for the operator."""
    started: float
    started_at: float
    marks: Marks = field(default_factory=Marks)

    def record(
        self,
        now: float,
        *,
        outcome: str,
        status: int | None = None,
        failure: Failure | None = None,
        error: str | None = None,
        upstream_cost: int | None = None,
    ) -> AttemptRecord:
        """What the row tells of it if it ends now; `error` says what no Failure does."""
        return AttemptRecord(
            channel=self.candidate.channel.name,
            upstream_model=self.candidate.upstream_model,
            status=status,
            outcome=outcome,
            error=error if failure is None else _in_words(failure),
            started_at=self.started_at,
            duration_ms=(now - self.started) * 1000,
            upstream_cost=upstream_cost,
            reason=self.reason,
            failure_kind=None if failure is None else failure.kind.value,
            connected_ms=self._after(self.marks.connected_at),
            first_byte_ms=self._after(self.marks.first_byte_at),
            first_event_ms=self._after(self.marks.first_event_at),
        )

    def _after(self, at: float | None) -> float | None:
        """Milliseconds from the attempt's start."""
        return None if at is None else (at - self.started) * 1000


def _in_words(failure: Failure) -> str:
    words = f"{failure.kind.value}: {failure.message}"
    return words if failure.detail is None else f"{words} ({failure.detail})"
