"""The loop over channels: which is tried next, what is noted of each try, and what all failures come to."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec import Struct

from tidegate.core.failure import Failure, Fault, Kind, fault
from tidegate.engine.actions import AppendError, Complete, Failover, Refuse
from tidegate.engine.verdict import merge_failures
from tidegate.exchange.attempt import Ended, Refusal
from tidegate.exchange.story import Story
from tidegate.protocols.base import Asked, Dialect, Repair
from tidegate.protocols.failures import counts_against_channel
from tidegate.routing.breaker import Health, Turn
from tidegate.routing.catalog import Candidate
from tidegate.routing.plan import Plan

Once: TypeAlias = Callable[[Candidate, bytes, Refusal], Awaitable[Ended]]
"""One call on a channel with a body. May be cancelled."""
NewRefusal: TypeAlias = Callable[[], Refusal]


_DROPPED = {
    Repair.STREAM_OPTIONS: "dropped:stream_options",
    Repair.THINKING: "dropped:messages[].thinking",
    Repair.REASONING: "dropped:input[].reasoning",
}
"""What a repair took out, for the row."""


class Tries(Struct):
    """The attempts of one request."""

    dialect: Dialect
    asked: Asked
    story: Story
    health: Health
    clock: Callable[[], float]
    """Monotonic seconds."""
    wall: Callable[[], float]
    """Unix seconds."""
    max_attempts: int
    once: Once
    new_refusal: NewRefusal

    async def run(self, plan: Plan) -> Ended:
        """Try channels until one serves, the request is refused, or none is left (Failover)."""
        failures: list[Failure] = []
        for planned in plan.attempts:
            if len(failures) == self.max_attempts:
                break
            candidate = planned.candidate
            turn = self.health.begin(candidate.channel.name, candidate.upstream_model, self.clock())
            if turn is None:
                continue
            ended = await self._on_channel(candidate, turn)
            match ended:
                case Complete() | AppendError() | Refuse():
                    return ended
                case Failover(failure):
                    failures.append(failure)
                    if failure.kind is Kind.DRAINING:
                        return ended
        return Failover(merge_failures(failures) if failures else self._none_left(plan))

    async def _on_channel(self, candidate: Candidate, turn: Turn) -> Ended:
        """One channel; its turn is handed back whatever happens."""
        try:
            ended, status = await self._asked_of(candidate)
        except BaseException:
            self.health.released(turn, self.clock())
            raise
        self._weigh(ended, turn, status)
        return ended

    async def _asked_of(self, candidate: Candidate) -> tuple[Ended, int | None]:
        """A call, and one more if it needs a repair; how it ended, with what status.

        Each channel has its own repair: the caller never asked for what the next one may refuse as well.
        """
        self.story.channel = candidate.channel.name
        body = self.dialect.write_request(self.asked, candidate.upstream_model)
        ended, status, repair = await self._noted(candidate, body, may_repair=True)
        if repair is not None:
            if _DROPPED[repair] not in self.story.warnings:
                self.story.warnings.append(_DROPPED[repair])
            body = self.dialect.write_repaired(self.asked, candidate.upstream_model, repair)
            ended, status, _ = await self._noted(candidate, body, may_repair=False)
        return ended, status

    async def _noted(
        self, candidate: Candidate, body: bytes, *, may_repair: bool
    ) -> tuple[Ended, int | None, Repair | None]:
        """One call and its note in the story; a repair if it needs one."""
        started, started_at = self.clock(), self.wall()
        refusal = self.new_refusal()
        ended: Ended | None = None
        repair: Repair | None = None
        try:
            ended = await self.once(candidate, body, refusal)
            repair = self._repair_for(ended) if may_repair else None
        finally:
            self.story.add_attempt(
                candidate,
                outcome=outcome_of(ended, repair),
                status=refusal.status,
                failure=None if ended is None or isinstance(ended, Complete) else ended.failure,
                started_at=started_at,
                duration=self.clock() - started,
            )
        return ended, refusal.status, repair

    def _repair_for(self, ended: Ended) -> Repair | None:
        match ended:
            case Failover(failure) | Refuse(failure):
                return self.dialect.repair(self.asked, failure)
            case Complete() | AppendError():
                return None

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


def outcome_of(ended: Ended | None, repair: Repair | None) -> str:
    """The word for the row; None: the attempt was cancelled."""
    match ended:
        case None:
            return "abandoned"
        case Complete():
            return "served"
        case AppendError() | Failover() | Refuse():
            return "failed" if repair is None else "repaired"
