"""The loop over channels: which is tried next, what is noted of each try, and what all failures come to."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec import Struct

from tidegate.core.failure import Failure, Fault, Kind, fault
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.engine.actions import AppendError, Complete, Failover, Refuse
from tidegate.engine.verdict import merge_failures
from tidegate.exchange.attempt import Ended, Refusal
from tidegate.exchange.ports import AttemptRecord
from tidegate.exchange.prepared import Prepared
from tidegate.exchange.story import Story
from tidegate.exchange.trying import Trying
from tidegate.protocols import warnings
from tidegate.protocols.base import Asked, Repair
from tidegate.protocols.failures import counts_against_channel
from tidegate.protocols.passthrough import REASONING_PLACES
from tidegate.routing.breaker import Health, Turn
from tidegate.routing.catalog import Candidate
from tidegate.routing.plan import Plan

_LOST_TIER = frozenset({"dropped:service_tier", "dropped:speed"})

Once: TypeAlias = Callable[[Prepared, Refusal], Awaitable[Ended]]
"""One call on a channel with a body. May be cancelled."""
NewRefusal: TypeAlias = Callable[[Prepared], Refusal]
Prepare: TypeAlias = Callable[[Candidate], Prepared | Failure]


class Tries(Struct):
    """The attempts of one request."""

    asked: Asked
    story: Story
    health: Health
    clock: Callable[[], float]
    """Monotonic seconds."""
    wall: Callable[[], float]
    """Unix seconds."""
    max_attempts: int
    prepare: Prepare
    once: Once
    used: Callable[[], Usage | None]
    """What the last call's upstream told of usage."""
    new_refusal: NewRefusal
    tell_failed: Callable[[AttemptRecord], None]
    stopped: Callable[[], Failure | None]
    """Why no call may begin any more; None: it may."""

    async def run(self, plan: Plan) -> Ended:
        """Try channels until one serves, the request is refused, or none is left (Failover)."""
        failures: list[Failure] = []
        unsayable: list[Failure] = []
        for skip in plan.skipped:
            self._skip(skip.candidate, skip.why)
        for planned in plan.attempts:
            if self.stopped() is not None:
                break
            if len(failures) == self.max_attempts:
                self._skip(planned.candidate, f"{len(failures)} attempts had failed before its turn came")
                continue
            ready = self._ready(planned.candidate, unsayable)
            if ready is None:
                continue
            ended = await self._on_channel(*ready, planned.why)
            match ended:
                case Complete() | AppendError() | Refuse():
                    return ended
                case Failover(failure):
                    failures.append(failure)
        return Failover(self.stopped() or self._verdict(plan, failures, unsayable))

    def _ready(self, candidate: Candidate, unsayable: list[Failure]) -> tuple[Prepared, Turn] | None:
        """The request for a channel and the right to send it; None: it is left out."""
        prepared = self.prepare(candidate)
        if isinstance(prepared, Failure):
            unsayable.append(prepared)  # no call was made: another channel may need no conversion
            self._skip(candidate, f"the request cannot be said there: {prepared.message}")
            return None
        turn = self.health.begin(candidate.channel.name, candidate.upstream_model, self.clock())
        if turn is None:
            self._skip(candidate, "it came to rest, or another request began to probe it, meanwhile")
            return None
        return prepared, turn

    def _skip(self, candidate: Candidate, why: str) -> None:
        self.story.skip(candidate.channel.name, candidate.upstream_model, why)

    def _verdict(self, plan: Plan, failures: list[Failure], unsayable: list[Failure]) -> Failure:
        """What all failures come to. What could not be said on a channel counts only if it was so on all."""
        if failures:
            return merge_failures(failures)
        return unsayable[0] if unsayable and not plan.skipped else self._none_left(plan)

    async def _on_channel(self, prepared: Prepared, turn: Turn, reason: str) -> Ended:
        """One channel; its turn is handed back whatever happens."""
        try:
            ended, status = await self._asked_of(prepared, reason)
        except BaseException:
            self.health.released(turn, self.clock())
            raise
        self._weigh(ended, turn, status)
        return ended

    async def _asked_of(self, prepared: Prepared, reason: str) -> tuple[Ended, int | None]:
        """A call, and one more if it needs a repair; how it ended, with what status.

        Each channel has its own repair: the caller never asked for what the next one may refuse as well.
        """
        self.story.channel = prepared.candidate.channel.name
        self.story.losses = warnings.row(prepared.losses)
        if self.story.tab is not None:
            self.story.tab.tier_was_lost = not _LOST_TIER.isdisjoint(self.story.losses)
        ended, status, repaired = await self._noted(prepared, reason, may_repair=True)
        if repaired is not None and self.stopped() is None:
            mended, repair = repaired
            lost = _dropped_by(repair, self.asked.protocol)
            self.story.losses = tuple(dict.fromkeys((*self.story.losses, lost)))
            again = f"the same channel again, without what it refused ({lost})"
            ended, status, _ = await self._noted(mended, again, may_repair=False)
        return ended, status

    async def _noted(
        self, prepared: Prepared, reason: str, *, may_repair: bool
    ) -> tuple[Ended, int | None, tuple[Prepared, Repair] | None]:
        """One call and its note in the story; a repair if it needs one."""
        refusal = self.new_refusal(prepared)
        self.story.trying = trying = Trying(
            candidate=prepared.candidate,
            reason=reason,
            started=self.clock(),
            started_at=self.wall(),
            marks=refusal.marks,
        )
        ended: Ended | None = None
        repaired: tuple[Prepared, Repair] | None = None
        try:
            ended = await self.once(prepared, refusal)
            repaired = _repaired(prepared, ended) if may_repair else None
        finally:
            self.story.trying = None
            self.story.add_attempt(
                trying,
                self.clock(),
                outcome=outcome_of(ended, repaired=repaired is not None),
                status=refusal.status,
                failure=None if ended is None or isinstance(ended, Complete) else ended.failure,
                usage=self.used() if refusal.accepted else None,
            )
            if ended is not None and not isinstance(ended, Complete):
                self.tell_failed(self.story.attempts[-1])
        return ended, refusal.status, repaired

    def _weigh(self, ended: Ended, turn: Turn, status: int | None) -> None:
        now = self.clock()
        match ended:
            case Complete():
                self.health.succeeded(turn)
            case AppendError(failure) | Failover(failure) if _is_the_channel_s(failure, status):
                self.health.failed(turn, now, failure.message, failure.retry_after)
            case AppendError() | Failover() | Refuse():
                self.health.released(turn, now)

    def _none_left(self, plan: Plan) -> Failure:
        available_at = plan.available_at
        return Failure(
            kind=Kind.NO_CHANNEL,
            message=f"No channel is available for model {self.asked.model}.",
            retry_after=None if available_at is None else max(1.0, available_at - self.clock()),
        )


def _is_the_channel_s(failure: Failure, status: int | None) -> bool:
    return fault(failure.kind) is Fault.UPSTREAM and counts_against_channel(status, failure)


def _repaired(prepared: Prepared, ended: Ended) -> tuple[Prepared, Repair] | None:
    match ended:
        case Failover(failure) | Refuse(failure):
            return prepared.repair(failure)
        case Complete() | AppendError():
            return None


def _dropped_by(repair: Repair, protocol: Protocol) -> str:
    """What a repair took out, for the row and in the caller's terms."""
    match repair:
        case Repair.STREAM_OPTIONS:
            return "dropped:stream_options"
        case Repair.THINKING | Repair.REASONING:
            return f"dropped:{REASONING_PLACES[protocol]}"


def outcome_of(ended: Ended | None, *, repaired: bool) -> str:
    """The word for the row; None: the attempt was cancelled."""
    match ended:
        case None:
            return "abandoned"
        case Complete():
            return "served"
        case AppendError() | Failover() | Refuse():
            return "repaired" if repaired else "failed"
