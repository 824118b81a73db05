"""Watches an upstream stream and says it in the caller's protocol: the cross pairs' side of `Watcher`."""

from tidegate.core.events import Event, Failed, Finished, Started, UsageTold
from tidegate.core.failure import Failure, Kind
from tidegate.core.sse import Frame
from tidegate.core.usage import Usage
from tidegate.protocols.base import Clean, Imprint, Said, Watcher
from tidegate.protocols.cleaning import cleaned_failure
from tidegate.protocols.conversion import Decoder, Encoder
from tidegate.protocols.stop_cutter import StopCutter


class ConvertingWatcher:
    """The channel's own watcher judges each event; decoder and encoder say it anew.

    What the caller's protocol has no form for is progress all the same, but commits nothing.
    """

    def __init__(
        self,
        native: Watcher,
        decoder: Decoder,
        encoder: Encoder,
        stops: tuple[str, ...],
        clean: Clean,
        *,
        wants_usage: bool,
    ) -> None:
        self._native = native
        self._decoder = decoder
        self._encoder = encoder
        self._cutter = StopCutter(stops) if stops else None
        self._clean = clean
        self._wants_usage = wants_usage
        self._finished: Finished | None = None
        self._out = b""
        self.failure: Failure | None = None
        self.ids: list[str] = []

    @property
    def imprint(self) -> Imprint:
        """The upstream's own."""
        return self._native.imprint

    @property
    def usage(self) -> Usage | None:
        """What the upstream told."""
        return self._native.usage

    @property
    def finish_reason(self) -> str | None:
        """In the caller's protocol's words, once the answer has been closed."""
        return self._encoder.finish_reason

    @property
    def incomplete(self) -> bool:
        """Ended well, but cut by a token limit: of what comes after a stop string, nobody knows."""
        cut = self._cutter is not None and self._cutter.matched is not None
        return self._native.incomplete and not cut

    @property
    def may_end(self) -> bool:
        """Whether the answer is whole although its end mark is missing."""
        return self._finished is None and self._decoder.finished

    @property
    def owes_usage(self) -> bool:
        """The caller is told usage, and the upstream did not tell all of it."""
        told = self.usage
        return self._wants_usage and (told is None or told.input is None or told.output is None)

    def read(self, frame: Frame) -> Said:
        """What the event means; see `Watcher.read`."""
        said = self._native.read(frame)
        self._out = b""
        if said is Said.DROPPED:
            return said
        if said in (Said.ERROR, Said.BROKEN):
            self.failure = self._native.failure
            return said
        events = self._decoder.decode(frame)
        opening = b""
        if events and type(events[0]) is Started:
            opening, events = self._encoded(events[0]), events[1:]
        spoken = self._say(events)
        self._out = opening + spoken
        if self.failure is not None:
            return Said.SPOILT
        if self._finished is not None:
            return Said.END
        if said is Said.OUTPUT and not spoken:
            return Said.PROGRESS
        return said

    def outgoing(self, frame: Frame) -> bytes:
        """What the event last read says in the caller's protocol; an error with the upstream's own words."""
        del frame
        if self.failure is None:
            return self._out
        return self._encoder.error_event(cleaned_failure(self.failure, self._clean))

    def text(self, start: int = 0) -> str:
        """See `Watcher`."""
        return self._native.text(start)

    @property
    def spoken(self) -> int:
        """See `Watcher`."""
        return self._native.spoken

    def error_event(self, failure: Failure) -> bytes:
        """The error event that ends the caller's stream."""
        return self._encoder.error_event(failure)

    def closing(self, estimate: Usage | None) -> bytes:
        """The end of the answer, its usage and end mark included."""
        out = b""
        broken = self.failure
        if self._finished is None:
            # After the finish of every choice an error in the end mark's place takes nothing back.
            self.failure = None
            out = self._say(self._decoder.finish())
        if self._finished is None:
            failure = self.failure or broken or Failure(kind=Kind.UPSTREAM, message="the answer has no end")
            return out + self._encoder.error_event(failure)
        return out + self._encoder.finish(self._finished, estimate or self.usage)

    def _say(self, events: tuple[Event, ...]) -> bytes:
        if self._cutter is not None:
            events = tuple(said for event in events for said in self._cutter.cut(event))
        if events and type(events[-1]) is Failed:
            events = events[-1:]  # the frame is not forwarded, so nothing of it may count as said
        if len(events) == 1:
            return self._encoded(events[0])
        return b"".join([self._encoded(event) for event in events])

    def _encoded(self, event: Event) -> bytes:
        if self._finished is not None or self.failure is not None:
            return b""
        match event:
            case Finished():
                self._finished = event
                return b""
            case Failed(failure):
                self.failure = failure
                return b""
            case UsageTold():
                return b""  # the native watcher keeps the counts
            case _:  # everything that is said
                return self._encoder.encode(event)
