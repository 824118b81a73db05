"""One attempt of a stream as the client sees it: what to write, and what became of it."""

from collections.abc import Callable, Sequence
from math import frexp

from msgspec import Struct, field

from tidegate.core.failure import Failure, Kind
from tidegate.core.sse import Frame, Framer, Overflow
from tidegate.engine.actions import Action, AppendError, Complete, Failover, Keepalive, Open, Refuse, Wait
from tidegate.engine.body import Body, judge
from tidegate.engine.decide import decide
from tidegate.engine.gaps import NONE, Gaps
from tidegate.engine.signals import Broke, Limits, Phase, Progress, Quiet
from tidegate.protocols.base import Said, Watcher

MAX_PREAMBLE = 1 << 20
"""Bytes of opening events that are held; beyond it the attempt commits."""

_SPOKEN = Phase.SPOKEN

Replay = Callable[[bytes], bytes | Failure]
"""A whole JSON answer as the stream that says the same, or why it is no answer."""


class Wording(Struct, frozen=True):
    """The operator's messages for an answer that breaks off."""

    timeout: str
    failure: str


class Terms(Struct, frozen=True):
    """What holds for every attempt of one request."""

    limits: Limits
    wording: Wording
    max_event_bytes: int
    gaps: Gaps = field(default_factory=Gaps)
    """Where the silences between events are counted."""


class Relay:
    """Feeds on upstream bytes and yields client bytes; `ended` says when and how the attempt is over.

    The opening events are held until the first useful one. After an end nothing more is yielded.
    """

    __slots__ = (
        "_begun",
        "_body",
        "_framer",
        "_gaps",
        "_held",
        "_held_size",
        "_progress",
        "_replay",
        "_terms",
        "ended",
        "watcher",
    )

    def __init__(self, watcher: Watcher, progress: Progress, terms: Terms, replay: Replay) -> None:
        self.watcher = watcher
        self.ended: Complete | AppendError | Failover | Refuse | None = None
        self._progress = progress
        self._terms = terms
        self._gaps = terms.gaps
        self._replay = replay
        self._framer = Framer(terms.max_event_bytes)
        self._body: Body | None = None
        self._begun = bytearray()
        self._held: list[bytes] = []
        self._held_size = 0

    def feed(self, chunk: bytes, now: float) -> bytes:
        """Bytes of the upstream's body came; the bytes to write to the client."""
        if self.ended is not None:
            return b""
        if self._body is not Body.EVENTS:
            return self._feed_unknown(chunk, now)
        try:
            frames = self._framer.feed(chunk)
        except Overflow as overflow:
            out = self._take_all(overflow.frames, now)
            return out + self.broke(_upstream("an event of the upstream is too large"), now)
        return self._take_all(frames, now)

    def end(self, now: float) -> bytes:
        """The upstream's body ended in order."""
        if self.ended is not None:
            return b""
        out = b""
        match self._body:
            case Body.JSON:
                out = self._replay_whole(now)
            case Body.EVENTS:
                last = self._framer.end()
                out = b"" if last is None else self._take_last(last, now)
            case Body.FOREIGN | None:
                return self.broke(_upstream("the upstream sent an empty answer"), now)
        return out + self._closed(now)

    def _closed(self, now: float) -> bytes:
        """No event is left. Some answers lack only their mark."""
        if self.ended is None and self._progress.phase is Phase.SPOKEN and self.watcher.may_end:
            self.ended = Complete()
        return self.broke(_upstream("the upstream closed the stream before its end"), now)

    def broke(self, failure: Failure, now: float) -> bytes:
        """The attempt cannot go on; the error event if one is due."""
        if self.ended is not None:
            return b""
        return self._end_by(decide(self._progress, Broke(failure), now, self._terms.limits))

    def quiet(self, now: float) -> tuple[Action, bytes]:
        """Time has passed; what is due, and the bytes of an error event if that is it."""
        if self.ended is not None:
            return self.ended, b""
        action = decide(self._progress, Quiet(), now, self._terms.limits)
        return action, self._end_by(action)

    @property
    def shortest_limit(self) -> float:
        """Seconds within which no new deadline can arise: each lies one of the limits ahead of an event."""
        limits = self._terms.limits
        times = (limits.commit_after, limits.keepalive, limits.first_event, limits.idle, limits.usage_wait)
        return min(time for time in times if time > 0)

    def release(self) -> None:
        """Nothing more will be fed: let go of what may hold this relay in turn."""
        self._replay = _never

    def _end_by(self, action: Action) -> bytes:
        match action:
            case AppendError(failure):
                told = self._interrupted(failure)
                self.ended = AppendError(failure, told)
                return self.watcher.error_event(told)
            case Complete() if not self.watcher.may_end:  # something began after the finish
                return self._end_by(AppendError(_upstream("the upstream closed the stream before its end")))
            case Complete() | Failover() | Refuse():
                self.ended = action
                return b""
            case Wait() | Open() | Keepalive():
                return b""

    def _interrupted(self, failure: Failure) -> Failure:
        wording = self._terms.wording
        message = wording.timeout if failure.kind is Kind.TIMEOUT else wording.failure
        return Failure(kind=Kind.INTERRUPTED, message=message)

    def _feed_unknown(self, chunk: bytes, now: float) -> bytes:
        self._begun += chunk
        if self._body is None:
            self._body = judge(bytes(self._begun[:MAX_PREAMBLE]))
        match self._body:
            case Body.EVENTS:
                begun = bytes(self._begun)
                self._begun.clear()
                return self.feed(begun, now)
            case Body.FOREIGN:
                return self.broke(_upstream("the upstream sent something other than an event stream"), now)
            case Body.JSON if len(self._begun) > self._terms.max_event_bytes:
                return self.broke(_upstream("the upstream's answer is too large"), now)
            case Body.JSON | None:
                return b""

    def _replay_whole(self, now: float) -> bytes:
        stream = self._replay(bytes(self._begun))
        if isinstance(stream, Failure):
            return self.broke(stream, now)
        self._body = Body.EVENTS
        return self.feed(stream, now)

    def _take_last(self, frame: Frame, now: float) -> bytes:
        """An event without its blank line counts if it is whole, else it is dropped."""
        if frame.data.startswith(b"[DONE]") or frame.data.rstrip().endswith(b"}"):
            return self._take_all([frame], now)
        return b""

    def _take_all(self, frames: Sequence[Frame], now: float) -> bytes:
        out: list[bytes] = []
        progress, gaps = self._progress, self._gaps
        for frame in frames:
            said = self.watcher.read(frame)
            # Nearly every event, so nothing here is a call that need not be one.
            spoke_at = progress.spoke_at
            if said is Said.OUTPUT and progress.phase is _SPOKEN and spoke_at is not None:
                gap = now - spoke_at
                gaps.powers[frexp(gap + NONE)[1]] += 1
                gaps.seconds += gap
                progress.heard_at = progress.spoke_at = now
                out.append(self.watcher.outgoing(frame))
                continue
            self._take(said, frame, now, out)
            if self.ended is not None:
                break
        return out[0] if len(out) == 1 else b"".join(out)

    def _take(self, said: Said, frame: Frame, now: float, out: list[bytes]) -> None:
        self._note(said, now)
        match said:
            case Said.OUTPUT | Said.FINISH:
                self._speak(frame, now, out)
            case Said.NOISE | Said.OPENING | Said.REASONING | Said.PROGRESS:
                self._pass(frame, now, out)
            case Said.END:
                self._speak(frame, now, out)
                self.ended = Complete()
            case Said.ERROR:
                out.append(self._told_error(frame, now))
            case Said.BROKEN:
                out.append(self.broke(self._reported("the upstream broke its protocol"), now))
            case Said.SPOILT:
                self._progress.finished_at = None
                out.append(self.broke(self._reported("the upstream broke its protocol"), now))
            case Said.DROPPED:
                pass

    def _note(self, said: Said, now: float) -> None:
        """When the model was last heard: noise is not the model."""
        match said:
            case Said.OUTPUT:
                self._progress.heard_at = now
                self._note_useful(now)
            case Said.OPENING:
                self._progress.heard_at = now
            case Said.REASONING:
                self._progress.heard_at = self._progress.reasoning_at = now
            case Said.PROGRESS:
                self._progress.heard_at = self._progress.reasoning_at = now
                self._note_useful(now)
            case Said.FINISH:
                self._progress.heard_at = self._progress.finished_at = now
                self._note_useful(now)
            case Said.END if self._progress.finished_at is None:
                self._note_useful(now)
            case Said.NOISE | Said.END | Said.ERROR | Said.BROKEN | Said.SPOILT | Said.DROPPED:
                pass

    def _note_useful(self, now: float) -> None:
        """Also how long the model had said nothing useful: that it began a block in between is no word."""
        if self._progress.spoke_at is not None:
            self._gaps.add(now - self._progress.spoke_at)
        self._progress.note_useful(now)

    def _reported(self, otherwise: str) -> Failure:
        return self.watcher.failure or _upstream(otherwise)

    def _speak(self, frame: Frame, now: float, out: list[bytes]) -> None:
        if self._progress.phase is not Phase.SPOKEN:
            self._commit(now, out)
        out.append(self.watcher.outgoing(frame))

    def _pass(self, frame: Frame, now: float, out: list[bytes]) -> None:
        data = self.watcher.outgoing(frame)
        if self._progress.phase is Phase.SPOKEN:
            out.append(data)
            return
        if not data:
            return  # nothing of it can be said in the caller's protocol
        self._held.append(data)
        self._held_size += len(data)
        if self._held_size > MAX_PREAMBLE:
            self._progress.heard_at = now
            self._commit(now, out)

    def _commit(self, now: float, out: list[bytes]) -> None:
        self._progress.phase = Phase.SPOKEN
        self._progress.committed_at = now
        out.extend(self._held)
        self._held.clear()

    def _told_error(self, frame: Frame, now: float) -> bytes:
        """The upstream's own error: its event goes through after output, its meaning counts before."""
        failure = self._reported("the upstream reported an error")
        action = decide(self._progress, Broke(failure), now, self._terms.limits)
        if not isinstance(action, AppendError):
            return self._end_by(action)
        self.ended = action
        return self.watcher.outgoing(frame)


def _never(body: bytes) -> bytes | Failure:
    del body
    return _upstream("the attempt is over")


def _upstream(message: str) -> Failure:
    return Failure(kind=Kind.UPSTREAM, message=message)
