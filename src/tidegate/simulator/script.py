"""What is done on the wire, step by step: say, wait, stall, cut, garble."""

from collections.abc import Generator, Iterator
from enum import Enum
from typing import Protocol as Interface
from typing import TypeAlias

from msgspec import Struct

from tidegate.simulator.framing import Framing
from tidegate.simulator.parameters import Ending, Parameters
from tidegate.simulator.trouble import ErrorForm, Trouble


class Part(Enum):
    """The place of an event in an answer."""

    PREAMBLE = "preamble"
    """Says that the answer begins."""
    FRAME = "frame"
    """Opens or closes something."""
    OUTPUT = "output"
    """Carries output, and is counted by `..._after`."""
    FINISH = "finish"
    """Tells why the answer ended."""
    USAGE = "usage"
    """Tells the usage alone."""
    END = "end"
    """The protocol's end mark."""


class Beat(Struct, frozen=True):
    """One event of a stream. `name` is its event name; chat events have none."""

    part: Part
    data: bytes
    name: str | None = None


class Transcript(Interface):
    """One answer in one protocol, told event by event; it keeps count of what was told."""

    def beats(self) -> Iterator[Beat]:
        """The whole answer."""
        ...

    def said(self, beat: Beat) -> bytes:
        """The data of an event that is being said now; the transcript takes note of it."""
        ...

    def failure(self, trouble: Trouble, form: ErrorForm) -> Beat:
        """The error event at the place reached."""
        ...

    def ping(self) -> Beat | None:
        """The protocol's own sign of life; None where only a comment will do."""
        ...


class Body(Enum):
    """How the end of a body is marked."""

    CHUNKED = "chunked"
    LENGTH = "length"
    CLOSE = "close"


class Open(Struct, frozen=True):
    """Status line and headers."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: Body
    version: str = "1.1"


class Say(Struct, frozen=True):
    """Body bytes, in a write of their own."""

    data: bytes


class Raw(Struct, frozen=True):
    """Bytes outside of any body."""

    data: bytes


class Wait(Struct, frozen=True):
    """Goes on `seconds` after the last wait was due: the pace does not drift."""

    seconds: float


class Breathe(Struct, frozen=True):
    """Goes on when everything written has left the process."""


class Stall(Struct, frozen=True):
    """Never goes on."""


class Cut(Struct, frozen=True):
    """Ends the connection in the middle of the answer."""

    how: Ending


class Close(Struct, frozen=True):
    """Ends the body; the connection stays usable unless `connection` says that it closes, told or not."""

    connection: bool = False
    trailers: tuple[tuple[str, str], ...] = ()


Step: TypeAlias = Open | Say | Raw | Wait | Breathe | Stall | Cut | Close
Steps: TypeAlias = Iterator[Step]


def perform(transcript: Transcript, parameters: Parameters, trouble: Trouble | None) -> Steps:
    """The body of a stream: the transcript at its pace, with the faults at their places.

    `trouble` is the error that is told inside the stream. Ends with a Cut or a Close, or never.
    """
    return _Performance(transcript, parameters, trouble).steps()


class _Incident(Enum):
    """What can happen at a place of the stream, in the order it happens in at the same place."""

    GARBLE = "garble"
    STALL = "stall"
    ERROR = "error"
    CUT = "cut"


class _Performance:
    """One stream on its way out: how many outputs and events are said, and which incidents are still due."""

    def __init__(self, transcript: Transcript, parameters: Parameters, trouble: Trouble | None) -> None:
        self._transcript = transcript
        self._wish = parameters
        self._trouble = trouble
        self._framing = Framing(parameters)
        self._outputs = 0
        self._events = 0
        self._due = _incidents(parameters, trouble)
        self._finish_delay = parameters.finish_delay

    def steps(self) -> Steps:
        if opening := self._framing.opening():
            yield Say(opening)
        if self._wish.bare_error and self._trouble is not None:
            yield from self._say(self._transcript.failure(self._trouble, self._wish.error_form))
        else:
            for beat in self._transcript.beats():
                if not (yield from self._play(beat)):
                    return
        yield from self._ending()

    def _play(self, beat: Beat) -> Generator[Step, None, bool]:
        """Plays one beat; False when the stream has ended with it."""
        yield from self._pause(self._waits(beat))
        if (beat.part is not Part.OUTPUT or self._outputs == 0) and not (yield from self._happens(beat.part)):
            return False
        if self._left_out(beat.part):
            return True
        if self._wish.ping and beat.part is Part.OUTPUT:
            yield Say(self._ping())
        yield from self._say(beat)
        if self._wish.cut_event is not None and self._events >= self._wish.cut_event:
            yield Cut(self._wish.cut)
            return False
        if beat.part is Part.OUTPUT:
            self._outputs += 1
            return (yield from self._happens(beat.part))
        return True

    def _waits(self, beat: Beat) -> float:
        match beat.part:
            case Part.OUTPUT if self._outputs:
                return 1 / self._wish.rate if self._wish.rate else 0.0
            case Part.OUTPUT:
                return self._wish.ttft
            case Part.FINISH if not self._outputs:
                return self._wish.ttft
            case Part.USAGE | Part.END:
                delay, self._finish_delay = self._finish_delay, 0.0
                return delay
            case Part.PREAMBLE | Part.FRAME | Part.FINISH:
                return 0.0

    def _happens(self, part: Part) -> Generator[Step, None, bool]:
        """The incidents due here; False when one of them ended the stream. None outlives the answer."""
        if part in (Part.PREAMBLE, Part.FRAME):
            return True
        while self._due and (part is not Part.OUTPUT or self._due[0][0] <= self._outputs):
            if not (yield from self._happen(self._due.pop(0)[1])):
                return False
        return True

    def _happen(self, incident: _Incident) -> Generator[Step, None, bool]:
        match incident:
            case _Incident.GARBLE:
                yield Say(self._framing.garbled())
            case _Incident.STALL:
                yield from self._stall()
            case _Incident.ERROR:
                if self._trouble is not None:
                    yield from self._say(self._transcript.failure(self._trouble, self._wish.error_form))
                    if not self._wish.after_error:
                        yield from self._ending()
                        return False
            case _Incident.CUT:
                yield Cut(self._wish.cut)
                return False
        return True

    def _stall(self) -> Steps:
        if self._wish.stall is not None:
            yield from self._pause(self._wish.stall)
            return
        while every := self._wish.ping_every:
            yield Wait(every)
            yield Say(self._ping())
        yield Stall()

    def _left_out(self, part: Part) -> bool:
        return (part is Part.END and self._wish.no_end) or (part is Part.FINISH and self._wish.no_finish)

    def _say(self, beat: Beat) -> Steps:
        self._events += 1
        last = beat.part is Part.END and self._wish.no_final_blank
        yield Say(self._framing.event(beat.name, self._transcript.said(beat), closed=not last))

    def _ping(self) -> bytes:
        beat = self._transcript.ping()
        if beat is None:
            return self._framing.comment("ping")
        return self._framing.event(beat.name, self._transcript.said(beat))

    def _pause(self, seconds: float) -> Steps:
        every = self._wish.ping_every
        while every and seconds > every:
            yield Wait(every)
            yield Say(self._ping())
            seconds -= every
        if seconds > 0:
            yield Wait(seconds)

    def _ending(self) -> Steps:
        if self._wish.done:
            yield Say(self._framing.event(None, b"[DONE]"))
        yield from self._pause(self._wish.hold)
        if self._wish.cut is not Ending.CLEAN and self._wish.cut_after is None:
            yield Cut(self._wish.cut)
            return
        trailers = (("x-simulated-trailer", "1"),) if self._wish.trailers else ()
        yield Close(
            connection=self._wish.close or self._wish.close_silently or self._wish.http10, trailers=trailers
        )


def _incidents(wish: Parameters, trouble: Trouble | None) -> list[tuple[int, _Incident]]:
    """Each incident with the number of outputs after which it happens, in order."""
    places = {
        _Incident.GARBLE: wish.garble_after,
        _Incident.STALL: wish.stall_after,
        _Incident.ERROR: (wish.error_after or 0) if trouble is not None else None,
        _Incident.CUT: wish.cut_after,
    }
    due = [(place, incident) for incident, place in places.items() if place is not None]
    return sorted(due, key=lambda entry: entry[0])
