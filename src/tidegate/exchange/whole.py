"""One request that is not streamed: channels in turn until one gives a whole answer."""

from msgspec import Struct

from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.engine.actions import Complete, Failover, Refuse
from tidegate.engine.body import Body
from tidegate.engine.decide import refuses
from tidegate.exchange.attempt import Ended, Received, Refusal, WholeAttempt
from tidegate.exchange.request import Request
from tidegate.protocols.base import Whole
from tidegate.routing.catalog import Candidate

ANSWER_EVENTS = 4
"""A whole answer may be this many times as large as the largest event."""


class WholeExchange(Struct, kw_only=True):
    """The state of one request over its attempts."""

    request: Request
    whole: Whole | None = None
    """The answer, once an attempt is Complete."""
    refusal: Refusal | None = None

    @property
    def answer(self) -> Whole:
        """The answer of a Complete exchange."""
        if self.whole is None:
            raise TidegateError(Failure(kind=Kind.INTERNAL, message="there is no answer"))
        return self.whole

    @property
    def accepted(self) -> bool:
        """Whether the last upstream took the request."""
        return self.refusal is not None and self.refusal.accepted

    async def once(self, candidate: Candidate, body: bytes, refusal: Refusal) -> Ended:
        """One call on a channel."""
        request = self.request
        self.refusal = refusal
        received = await fetch(request, candidate, body, refusal)
        whole = received if isinstance(received, Failure) else self._read(received)
        if isinstance(whole, Failure):
            ends = Refuse(whole) if refuses(whole) else Failover(whole)
            return request.cleaned(ends, candidate)
        self.whole = whole
        return Complete()

    def _read(self, received: Received) -> Whole | Failure:
        body: bytes | Failure = received.body
        match received.kind:
            case Body.JSON:
                pass
            case Body.EVENTS:
                # An upstream that streams although it was not asked to: its events make one answer.
                body = self.request.dialect.assemble(self.request.asked, received.body)
            case Body.FOREIGN:
                body = Failure(kind=Kind.UPSTREAM, message="the upstream sent something other than JSON")
        if isinstance(body, Failure):
            return body
        whole = self.request.dialect.read_whole(self.request.asked, body)
        if isinstance(whole, Whole) and whole.failure is not None:
            return whole.failure
        return whole


async def fetch(request: Request, candidate: Candidate, body: bytes, refusal: Refusal) -> Received | Failure:
    """Call a channel and wait for its whole answer."""
    settings = request.snapshot.settings
    model = request.snapshot.catalog.model(request.asked.model)
    attempt = WholeAttempt(
        refusal,
        idle=model.idle_timeout,
        limit=ANSWER_EVENTS * settings.max_event_bytes,
        clock=request.world.clock,
    )
    call = request.open(candidate, body, attempt)
    request.heartbeat.add(attempt)
    try:
        return await attempt.run(call)
    finally:
        request.heartbeat.remove(attempt)
