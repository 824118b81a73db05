"""Counts a prompt's tokens: by an upstream that can, else by the tokenizer, never by nobody."""

from msgspec import Struct, json

from tidegate.core.failure import Failure
from tidegate.core.usage import count
from tidegate.engine.actions import Complete, Failover, Refuse
from tidegate.engine.decide import refuses
from tidegate.exchange.attempt import Ended, Received, Refusal
from tidegate.exchange.estimates import estimate_prompt
from tidegate.exchange.ports import ClientPipe
from tidegate.exchange.prepared import Prepared
from tidegate.exchange.request import Request
from tidegate.exchange.tries import outcome_of
from tidegate.exchange.trying import Trying
from tidegate.exchange.whole import attempt_of, fetch
from tidegate.protocols.loose import decoded, mapping
from tidegate.routing.plan import Plan

ESTIMATED = ("x-tidegate-usage", "estimated")
"""Marks a count that is not the upstream's own."""


class Counting(Struct, kw_only=True):
    """One request for a count."""

    request: Request
    counted: bytes | None = None
    """The upstream's own answer."""

    async def run(self, plan: Plan, pipe: ClientPipe) -> None:
        """Answer with the upstream's count, its refusal of the request, or an estimate.

        A channel that fails here is not in trouble: its health is left as it is, since many upstreams that
        serve messages have no such route.
        """
        story = self.request.story
        refusal: Failure | None = None
        for planned in () if self.request.heartbeat.stopped else plan.attempts[:1]:
            story.channel = planned.candidate.channel.name
            prepared = self.request.preparer.prepare(planned.candidate)
            if isinstance(prepared, Failure):
                continue
            match await self._once(prepared, self.request.refusal(prepared), planned.why):
                case Refuse(failure) if failure.status in (400, 413, 422):
                    refusal = failure
                case _:  # any other end leaves it to the tokenizer
                    pass
        story.status, story.outcome = 200, "completed"
        if refusal is not None:
            story.status, story.outcome = self.request.refuse(pipe, refusal), "failed"
        elif self.counted is not None:
            pipe.answer(200, [], self.counted)
        else:
            tokens = await estimate_prompt(
                self.request.dialect, self.request.asked, self.request.world.tokenizer
            )
            pipe.answer(200, [ESTIMATED], json.encode({"input_tokens": tokens}))

    async def _once(self, prepared: Prepared, refusal: Refusal, reason: str) -> Ended:
        world, story = self.request.world, self.request.story
        trying = Trying(
            candidate=prepared.candidate,
            reason=reason,
            started=world.clock(),
            started_at=world.wall(),
            marks=refusal.marks,
        )
        ended: Ended | None = None
        try:
            received = await fetch(self.request, prepared, attempt_of(self.request, refusal))
            if isinstance(received, Failure):
                ends = Refuse(received) if refuses(received) else Failover(received)
                ended = self.request.cleaned(ends, prepared.candidate)
            else:
                self.counted = _count_in(received)
                ended = Complete()
        finally:
            story.add_attempt(
                trying,
                world.clock(),
                outcome=outcome_of(ended, repaired=False),
                status=refusal.status,
                failure=None if ended is None or isinstance(ended, Complete) else ended.failure,
            )
        return ended


def _count_in(received: Received) -> bytes | None:
    """The answer if it tells a count above zero."""
    tokens = count(mapping(decoded(received.body)).get("input_tokens"))
    return received.body if tokens else None
