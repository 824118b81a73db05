"""What is noted about one request while it runs, and the row it becomes."""

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct, field, structs

from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.exchange.ports import AttemptRecord, RequestRecord
from tidegate.exchange.tab import Tab, with_cost
from tidegate.ledger.entries import NO_CHARGE
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
KILLED = ("api_error", "stream_interrupted", "the gateway was killed while the request ran")
"""Type, code and message in the row that a killed process leaves."""


def nothing_produced() -> int:
    """No byte of output."""
    return 0


class Trying(Struct, frozen=True):
    """An attempt under way: times are monotonic and Unix seconds."""

    candidate: Candidate
    started: float
    started_at: float


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
    trying: "Trying | None" = None
    """The attempt that is under way."""
    tab: Tab | None = None
    """What it costs; None until it is admitted."""

    def add_attempt(
        self,
        candidate: Candidate,
        *,
        outcome: str,
        status: int | None,
        failure: Failure | None,
        started_at: float,
        duration: float,
        usage: Usage | None = None,
    ) -> None:
        """Note one try: `started_at` in Unix seconds, `duration` in seconds, `usage` as far as told."""
        self.attempts.append(
            AttemptRecord(
                channel=candidate.channel.name,
                upstream_model=candidate.upstream_model,
                status=status,
                outcome=outcome,
                error=None if failure is None else _in_words(failure),
                started_at=started_at,
                duration_ms=duration * 1000,
                upstream_cost=None
                if self.tab is None
                else self.tab.upstream_cost(candidate.channel.name, usage),
            )
        )

    def interrupted(
        self, now: float, told: Told, produced: Callable[[], int] = nothing_produced
    ) -> RequestRecord:
        """The row that stands if the process is killed now; nothing of the story changes."""
        kind, code, message = KILLED
        record = self.record(now, told, produced)
        return structs.replace(
            record,
            attempts=(*record.attempts, *self._under_way(now, told.usage)),
            status=500 if told is NOTHING else 200,
            outcome="interrupted",
            error_type=kind,
            error_code=code,
            error_message=message,
        )

    def record(self, now: float, told: Told, produced: Callable[[], int] = nothing_produced) -> RequestRecord:
        """The row; `now` is the monotonic time at the end of the answer.

        `produced` counts the bytes of output, for a judgement of what the upstream told.
        """
        incoming, usage = self.incoming, told.usage
        charge = NO_CHARGE
        flags: tuple[str, ...] = ()
        attempts = self.attempts
        if self.tab is not None and told is not NOTHING:
            charge, flags = self.tab.charge(usage, produced)
            attempts = self._with_final_cost(self.tab, usage)
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
            warnings=(*self.losses, *flags) if flags else self.losses,
            attempts=tuple(attempts),
            cost=charge.amount,
            items=charge.items,
        )

    def _under_way(self, now: float, usage: Usage) -> Iterable[AttemptRecord]:
        if self.trying is not None:
            channel = self.trying.candidate.channel.name
            yield AttemptRecord(
                channel=channel,
                upstream_model=self.trying.candidate.upstream_model,
                status=None,
                outcome="abandoned",
                error=KILLED[-1],
                started_at=self.trying.started_at,
                duration_ms=(now - self.trying.started) * 1000,
                upstream_cost=None if self.tab is None else self.tab.upstream_cost(channel, usage),
            )

    def _with_final_cost(self, tab: Tab, usage: Usage) -> list[AttemptRecord]:
        """The last attempt is the one that `usage` came of, unless it is still under way."""
        if not self.attempts or self.trying is not None:
            return self.attempts
        *before, last = self.attempts
        return [*before, with_cost(last, tab.upstream_cost(last.channel, usage))]


def _in_words(failure: Failure) -> str:
    words = f"{failure.kind.value}: {failure.message}"
    return words if failure.detail is None else f"{words} ({failure.detail})"
