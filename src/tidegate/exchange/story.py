"""What is noted about one request while it runs, and the row it becomes."""

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct, field, structs

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.core.trace_context import Trace
from tidegate.core.usage import Usage
from tidegate.engine.signals import Progress
from tidegate.exchange.ports import AttemptRecord, RequestRecord, SkippedRecord
from tidegate.exchange.tab import Tab, with_cost
from tidegate.exchange.traced import Traced
from tidegate.exchange.trying import Trying
from tidegate.ledger.entries import NO_CHARGE, Charge
from tidegate.protocols.base import NO_IMPRINT, Imprint
from tidegate.routing.catalog import Key


class Incoming(Struct, frozen=True, kw_only=True):
    """A request as it arrived; times are monotonic and Unix seconds."""

    id: str
    protocol: Protocol
    accepted_at: float
    created_at: float
    headers: Mapping[str, str]
    """The caller's headers, names in lower case, lines of one name joined by a comma."""
    path: str = ""
    """The route that was called."""
    trace: Trace | None = None
    """Where it stands in a trace; None where nobody asked for traces."""


class Told(Struct, frozen=True, kw_only=True):
    """The counts that go into the row, and where they come from (`upstream`, `estimated`, `none`)."""

    usage: Usage
    source: str


MOST_SKIPPED = 16
_LONGEST_AGENT = 200
_LONGEST_WHY = 300
NOTHING = Told(usage=Usage(), source="none")
KILLED = ("api_error", "stream_interrupted", "the gateway was killed while the request ran")
"""Type, code and message in the row that a killed process leaves."""


def nothing_produced() -> int:
    """No byte of output."""
    return 0


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
    opened_at: float | None = None
    """A comment went out before anything useful had come (monotonic, as the other times)."""
    committed_at: float | None = None
    imprint: Imprint = NO_IMPRINT
    """What the last answer said of itself."""
    error_type: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    failure_kind: Kind | None = None
    losses: tuple[str, ...] = ()
    """What the last channel was not told: lost in a conversion, or taken out by a repair."""
    attempts: list[AttemptRecord] = field(default_factory=list)
    trying: Trying | None = None
    """The attempt that is under way."""
    skipped: list[SkippedRecord] = field(default_factory=list)
    """Channels that were left out."""
    tab: Tab | None = None
    """What it costs; None until it is admitted."""

    def note_progress(self, progress: Progress, imprint: Imprint) -> None:
        """A stream is over; how far it had come."""
        self.first_useful_at = progress.first_useful_at
        self.opened_at, self.committed_at = progress.opened_at, progress.committed_at
        self.imprint = imprint

    def traced(self, trace: Trace, record: RequestRecord) -> Traced:
        """What the row does not tell of a request of `trace`."""
        return Traced(
            trace=trace,
            record=record,
            path=self.incoming.path,
            opened_ms=self._after(self.opened_at),
            committed_ms=self._after(self.committed_at),
            imprint=self.imprint,
        )

    def _after(self, at: float | None) -> float | None:
        """Milliseconds from the request's start."""
        return None if at is None else (at - self.incoming.accepted_at) * 1000

    def add_attempt(
        self,
        tried: Trying,
        now: float,
        *,
        outcome: str,
        status: int | None,
        failure: Failure | None,
        usage: Usage | None = None,
    ) -> None:
        """Note one try that has ended `now` (monotonic); `usage` as far as told."""
        cost = self._upstream_cost(tried, usage)
        self.attempts.append(
            tried.record(now, outcome=outcome, status=status, failure=failure, upstream_cost=cost)
        )

    def skip(self, channel: str, upstream_model: str, why: str) -> None:
        """Note a channel that is left out."""
        if len(self.skipped) < MOST_SKIPPED:
            why = why[:_LONGEST_WHY]
            self.skipped.append(SkippedRecord(channel=channel, upstream_model=upstream_model, why=why))

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
        charge, flags, attempts = self._charged(told, produced)
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
            first_token_ms=self._after(self.first_useful_at),
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
            skipped=tuple(self.skipped),
            user_agent=_agent(incoming.headers.get("user-agent")),
            trace_id=None if incoming.trace is None else incoming.trace.trace_id,
        )

    def _charged(
        self, told: Told, produced: Callable[[], int]
    ) -> tuple[Charge, tuple[str, ...], list[AttemptRecord]]:
        """What it costs, what of the counts was not believed, and the attempts with their costs."""
        if self.tab is None or told is NOTHING:
            return NO_CHARGE, (), self.attempts
        return *self.tab.charge(told.usage, produced), self._with_final_cost(self.tab, told.usage)

    def _under_way(self, now: float, usage: Usage) -> Iterable[AttemptRecord]:
        if self.trying is not None:
            cost = self._upstream_cost(self.trying, usage)
            yield self.trying.record(now, outcome="abandoned", error=KILLED[-1], upstream_cost=cost)

    def _upstream_cost(self, tried: Trying, usage: Usage | None) -> int | None:
        return None if self.tab is None else self.tab.upstream_cost(tried.candidate.channel.name, usage)

    def _with_final_cost(self, tab: Tab, usage: Usage) -> list[AttemptRecord]:
        """The last attempt is the one that `usage` came of, unless it is still under way."""
        if not self.attempts or self.trying is not None:
            return self.attempts
        *before, last = self.attempts
        return [*before, with_cost(last, tab.upstream_cost(last.channel, usage))]


def _agent(text: str | None) -> str | None:
    """What a program calls itself, so that it cannot steer what shows it."""
    if not text:
        return None
    short = text[:_LONGEST_AGENT]
    return short if short.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in short)
