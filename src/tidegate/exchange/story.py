"""What is noted about one request while it runs, and the row it becomes."""

from collections.abc import Mapping

from msgspec import Struct, field

from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.exchange.ports import AttemptRecord, RequestRecord
from tidegate.routing.catalog import Candidate, Key


class Incoming(Struct, frozen=True, kw_only=True):
    """A request as it arrived; times are monotonic and Unix seconds."""

    id: str
    protocol: Protocol
    accepted_at: float
    created_at: float
    headers: Mapping[str, str]
    """The caller's headers, names in lower case, lines of one name joined by a comma."""


class Told(Struct, frozen=True, kw_only=True):
    """The counts that go into the row, and where they come from (`upstream`, `estimated`, `none`)."""

    usage: Usage
    source: str


NOTHING = Told(usage=Usage(), source="none")


class Story(Struct, kw_only=True):
    """Grows as the request proceeds; becomes one row."""

    incoming: Incoming
    key: Key | None = None
    stream: bool = False
    model: str | None = None
    channel: str | None = None
    status: int = 0
    outcome: str = "rejected"
    finish_reason: str | None = None
    first_useful_at: float | None = None
    error_type: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    losses: tuple[str, ...] = ()
    """What the last channel was not told: lost in a conversion, or taken out by a repair."""
    attempts: list[AttemptRecord] = field(default_factory=list)

    def add_attempt(
        self,
        candidate: Candidate,
        *,
        outcome: str,
        status: int | None,
        failure: Failure | None,
        started_at: float,
        duration: float,
    ) -> None:
        """Note one try: `started_at` in Unix seconds, `duration` in seconds."""
        self.attempts.append(
            AttemptRecord(
                channel=candidate.channel.name,
                upstream_model=candidate.upstream_model,
                status=status,
                outcome=outcome,
                error=None if failure is None else _in_words(failure),
                started_at=started_at,
                duration_ms=duration * 1000,
            )
        )

    def record(self, now: float, told: Told) -> RequestRecord:
        """The row; `now` is the monotonic time at the end of the answer."""
        incoming, usage = self.incoming, told.usage
        first = self.first_useful_at
        return RequestRecord(
            id=incoming.id,
            created_at=incoming.created_at,
            key=None if self.key is None else self.key.name,
            account=None if self.key is None else self.key.account,
            protocol=incoming.protocol.value,
            stream=self.stream,
            model=self.model,
            channel=self.channel,
            status=self.status,
            outcome=self.outcome,
            finish_reason=self.finish_reason,
            first_token_ms=None if first is None else (first - incoming.accepted_at) * 1000,
            duration_ms=(now - incoming.accepted_at) * 1000,
            input_tokens=usage.input or 0,
            cache_read_tokens=usage.cache_read or 0,
            cache_write_tokens=usage.cache_write or 0,
            output_tokens=usage.output or 0,
            usage_source=told.source,
            error_type=self.error_type,
            error_code=self.error_code,
            error_message=self.error_message,
            warnings=self.losses,
            attempts=tuple(self.attempts),
        )


def _in_words(failure: Failure) -> str:
    words = f"{failure.kind.value}: {failure.message}"
    return words if failure.detail is None else f"{words} ({failure.detail})"
