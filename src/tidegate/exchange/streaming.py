"""One streaming request: channels in turn until one speaks, and an end that the client can read."""

from functools import partial

from msgspec import Struct

from tidegate.core.failure import Failure
from tidegate.core.usage import Usage
from tidegate.engine.actions import AppendError, Complete, Failover, Refuse
from tidegate.engine.relay import Relay, Terms
from tidegate.engine.signals import Phase, Progress
from tidegate.exchange.attempt import Ended, Refusal, StreamAttempt
from tidegate.exchange.ports import ClientPipe
from tidegate.exchange.prepared import Prepared
from tidegate.exchange.request import Request
from tidegate.exchange.story import Told
from tidegate.protocols import warnings
from tidegate.protocols.base import NO_IMPRINT, Imprint, Watcher, Whole
from tidegate.routing.plan import Plan


class Stream(Struct, kw_only=True):
    """The state of one streaming request over its attempts."""

    request: Request
    pipe: ClientPipe
    progress: Progress
    terms: Terms
    comment: bytes
    attempt: StreamAttempt | None = None
    """The last one."""
    whole: Whole | None = None
    """The JSON answer that the last attempt got in place of a stream."""
    estimated: Told | None = None
    """The counts that a caller was told who asked for usage where the upstream told none."""

    @classmethod
    def of(cls, request: Request, pipe: ClientPipe) -> "Stream":
        """A request of which nothing has been tried. What has passed since it was read counts in silence."""
        settings = request.snapshot.settings
        start = request.accepted_at
        limits = settings.limits(request.snapshot.catalog.model(request.asked.model))
        return cls(
            request=request,
            pipe=pipe,
            progress=Progress(accepted_at=start, attempt_at=start, heard_at=start, wrote_at=start),
            terms=Terms(
                limits,
                settings.wording,
                settings.max_event_bytes,
                request.world.tally.gaps[request.dialect.protocol],
            ),
            comment=f": {settings.keepalive_comment}\n".encode(),
        )

    @property
    def watcher(self) -> Watcher | None:
        """What has been read of the last attempt's stream."""
        return None if self.attempt is None else self.attempt.relay.watcher

    @property
    def usage(self) -> Usage | None:
        """What the last attempt's upstream told of usage."""
        if self.whole is not None:
            return self.whole.usage  # a replayed stream must write counts even where none were told
        return None if self.watcher is None else self.watcher.usage

    @property
    def imprint(self) -> Imprint:
        """What the last attempt's answer says of itself."""
        if self.whole is not None:
            return self.whole.imprint
        return NO_IMPRINT if self.watcher is None else self.watcher.imprint

    def text(self) -> str:
        """All output of the last attempt."""
        return "" if self.watcher is None else self.watcher.text()

    @property
    def owes_usage(self) -> bool:
        """Whether a complete stream still lacks a usage chunk that the caller asked for."""
        return self.watcher is not None and self.watcher.owes_usage

    def closing(self, estimate: Usage) -> bytes:
        """What ends a stream that owes usage."""
        return b"" if self.watcher is None else self.watcher.closing(estimate)

    @property
    def produced(self) -> int:
        """Bytes of output of the last attempt."""
        return 0 if self.watcher is None else self.watcher.spoken

    @property
    def accepted(self) -> bool:
        """Whether the last upstream took the request."""
        return self.attempt is not None and self.attempt.refusal.accepted

    async def run(self, plan: Plan) -> Ended:
        """Serve the stream to its end; the client has its end mark or error when this returns.

        Complete with a usage chunk owed is the one exception: `closing` ends it.
        """
        ended = await self.request.tries(self._once, lambda: self.usage).run(plan)
        match ended:
            case Complete() | AppendError():
                pass
            case Failover(failure) | Refuse(failure):
                self._tell(failure)
        return ended

    async def _once(self, prepared: Prepared, refusal: Refusal) -> Ended:
        request, clock = self.request, self.request.world.clock
        self.progress.begin_attempt(clock())
        self.pipe.warn(warnings.header(prepared.losses))
        watcher = request.watcher(prepared)
        relay = Relay(watcher, self.progress, self.terms, partial(self._replay, prepared))
        attempt = StreamAttempt(
            relay,
            self.pipe,
            self.progress,
            refusal,
            self.comment,
            clock,
            request.world.tally,
            request.story.incoming.id,
        )
        self.attempt, self.whole = attempt, None
        call = request.open(prepared, attempt)
        request.heartbeat.add(attempt)
        try:
            return request.cleaned(await attempt.run(call), prepared.candidate)
        finally:
            refusal.marks.first_event_at = self.progress.useful_at
            request.heartbeat.remove(attempt)

    def _replay(self, prepared: Prepared, body: bytes) -> bytes | Failure:
        """A whole JSON answer where a stream was asked for is sent as the stream that says the same."""
        dialect, asked = prepared.dialect, prepared.asked
        whole = dialect.read_whole(asked, body)
        if isinstance(whole, Failure):
            return whole
        self.whole = whole
        return whole.failure or dialect.replay(asked, body)

    def give_up(self, failure: Failure) -> Ended:
        """A fault of the gateway itself: end the answer in the way that is still open."""
        if self.progress.phase is Phase.SPOKEN and self.watcher is not None:
            self.pipe.finish(self.watcher.error_event(failure))
            return AppendError(failure)
        self._tell(failure)
        return Failover(failure)

    def _tell(self, failure: Failure) -> None:
        """Nothing useful was sent: a plain HTTP error, or an event where status 200 has gone out."""
        match self.progress.phase:
            case Phase.SILENT:
                self.request.refuse(self.pipe, failure)
            case Phase.OPENED | Phase.SPOKEN:
                self.pipe.finish(self.request.watcher(None).error_event(failure))
