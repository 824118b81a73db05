"""One request that is not streamed: channels in turn until one gives a whole answer."""

from msgspec import Struct, structs

from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.core.sse import Overflow
from tidegate.core.usage import Usage
from tidegate.engine.actions import Complete, Failover, Refuse
from tidegate.engine.body import Body, judge
from tidegate.engine.decide import refuses
from tidegate.exchange.attempt import Ended, Received, Refusal, WholeAttempt
from tidegate.exchange.estimates import estimate
from tidegate.exchange.prepared import Prepared
from tidegate.exchange.request import Request
from tidegate.protocols import warnings
from tidegate.protocols.base import Said, Watcher, Whole
from tidegate.protocols.whole_answers import broken_stream
from tidegate.protocols.whole_streams import events_of

_NO_ANSWER = Failure(kind=Kind.UPSTREAM, message="the upstream's answer could not be converted")
ANSWER_EVENTS = 4
"""A whole answer may be this many times as large as the largest event."""


class WholeExchange(Struct, kw_only=True):
    """The state of one request over its attempts."""

    request: Request
    whole: Whole | None = None
    """The answer, once an attempt is Complete."""
    attempt: WholeAttempt | None = None
    """The last one."""
    prepared: Prepared | None = None
    warnings: str | None = None
    """The value of `x-tidegate-warnings` for the answer."""

    @property
    def answer(self) -> Whole:
        """The answer of a Complete exchange."""
        if self.whole is None:
            raise TidegateError(Failure(kind=Kind.INTERNAL, message="there is no answer"))
        return self.whole

    @property
    def accepted(self) -> bool:
        """Whether the last upstream took the request."""
        return self.attempt is not None and self.attempt.refusal.accepted

    def heard(self) -> tuple[Usage | None, str]:
        """What the last upstream had told of usage and said when the client left. May take long.

        A JSON text that is not whole says nothing that could be read.
        """
        if self.attempt is None or self.prepared is None:
            return None, ""
        body = self.attempt.heard
        if judge(body) is Body.EVENTS:
            return _overheard(self.request.watcher(self.prepared), body)
        whole = self.prepared.dialect.read_whole(self.prepared.asked, body)
        return (None, "") if isinstance(whole, Failure) else (whole.usage, whole.text)

    async def once(self, prepared: Prepared, refusal: Refusal) -> Ended:
        """One call on a channel."""
        request = self.request
        self.warnings = warnings.header(prepared.losses)
        self.attempt, self.prepared = attempt_of(request, refusal), prepared
        received = await fetch(request, prepared, self.attempt)
        whole = received if isinstance(received, Failure) else await self._answer(received, prepared)
        if isinstance(whole, Failure):
            ends = Refuse(whole) if refuses(whole) else Failover(whole)
            return request.cleaned(ends, prepared.candidate)
        self.whole = whole
        return Complete()

    async def _answer(self, received: Received, prepared: Prepared) -> Whole | Failure:
        """What the body says, in the caller's protocol."""
        if prepared.crossing is None:
            return _read(received, prepared)
        if received.kind is Body.EVENTS:
            return await self._convert(received.body, prepared, None)
        told = _read(received, prepared)
        if isinstance(told, Failure):
            return told
        return await self._convert(prepared.dialect.replay(prepared.asked, told.body), prepared, told)

    async def _convert(self, stream: bytes, prepared: Prepared, told: Whole | None) -> Whole | Failure:
        """The upstream's stream in the caller's protocol, gathered; `told` is the answer it was made of."""
        request = self.request
        watcher = request.watcher(prepared)
        out = _said(watcher, stream)
        if isinstance(out, Failure):
            return out
        usage, text = (watcher.usage, watcher.text()) if told is None else (told.usage, told.text)
        imprint = watcher.imprint if told is None else told.imprint
        closing = usage
        if watcher.owes_usage:
            tokenizer = request.world.tokenizer
            closing = (await estimate(request.dialect, request.asked, usage, text, tokenizer)).usage
        body = request.dialect.assemble(request.asked, out + watcher.closing(closing))
        converted = body if isinstance(body, Failure) else request.dialect.read_whole(request.asked, body)
        if isinstance(converted, Failure):
            return converted
        return structs.replace(
            converted, usage=usage, text=text, ids=(), imprint=imprint, incomplete=watcher.incomplete
        )


def _said(watcher: Watcher, stream: bytes) -> bytes | Failure:
    """What a complete stream says in the caller's protocol, up to its end; a Failure if it has none."""
    out = bytearray()
    finished = False
    try:
        for frame in events_of(stream):
            said = watcher.read(frame)
            if said in (Said.ERROR, Said.BROKEN, Said.SPOILT):
                if finished and said is not Said.SPOILT:
                    break  # after the finish an error takes nothing back
                return watcher.failure or _NO_ANSWER
            if said is not Said.DROPPED:
                out += watcher.outgoing(frame)
            finished = finished or said is Said.FINISH
            if said is Said.END:
                return bytes(out)
    except Overflow:
        return broken_stream("an event of the upstream has too many lines")
    if not watcher.may_end:
        return broken_stream("the upstream closed the stream before its end")
    return bytes(out)


def _read(received: Received, prepared: Prepared) -> Whole | Failure:
    body: bytes | Failure = received.body
    match received.kind:
        case Body.JSON:
            pass
        case Body.EVENTS:
            # An upstream that streams although it was not asked to: its events make one answer.
            body = prepared.dialect.assemble(prepared.asked, received.body)
        case Body.FOREIGN:
            body = Failure(kind=Kind.UPSTREAM, message="the upstream sent something other than JSON")
    if isinstance(body, Failure):
        return body
    whole = prepared.dialect.read_whole(prepared.asked, body)
    if isinstance(whole, Whole) and whole.failure is not None:
        return whole.failure
    return whole


def _overheard(watcher: Watcher, stream: bytes) -> tuple[Usage | None, str]:
    """What a stream tells that has come in part."""
    try:
        for frame in events_of(stream):
            watcher.read(frame)
    except Overflow:
        pass  # what came before it counts
    return watcher.usage, watcher.text()


def attempt_of(request: Request, refusal: Refusal) -> WholeAttempt:
    """One try, with the limits of the model."""
    return WholeAttempt(
        refusal,
        idle=request.snapshot.catalog.model(request.asked.model).idle_timeout,
        limit=ANSWER_EVENTS * request.snapshot.settings.max_event_bytes,
        clock=request.world.clock,
        request_id=request.story.incoming.id,
    )


async def fetch(request: Request, prepared: Prepared, attempt: WholeAttempt) -> Received | Failure:
    """Call a channel and wait for its whole answer."""
    call = request.open(prepared, attempt)
    request.heartbeat.add(attempt)
    try:
        return await attempt.run(call)
    finally:
        request.heartbeat.remove(attempt)
