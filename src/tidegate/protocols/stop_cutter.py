"""Ends an answer at a stop string for an upstream that cannot (conversion.md §2, note b)."""

from collections.abc import Iterable
from enum import Enum
from typing import Any

from tidegate.core.events import (
    Closed,
    Event,
    Failed,
    Finished,
    Stop,
    TextDelta,
    TextOpened,
)


class _Place(Enum):
    """Where the answer is."""

    OUTSIDE = "outside"
    """Between blocks, or in one that is not text."""
    IN_TEXT = "in_text"
    CUT = "cut"
    """A stop string was found: nothing more is said."""


class StopCutter:
    """Reads the events of one answer; text that may be the beginning of a stop string is held back.

    At most the longest stop string less one character is held. Where several stop strings occur, the one
    that is complete first counts, so that the cut does not depend on how the text was divided.
    """

    __slots__ = ("_held", "_logprobs", "_place", "_stops", "matched")

    def __init__(self, stops: Iterable[str]) -> None:
        self._stops = tuple(dict.fromkeys(stop for stop in stops if stop))
        self._held = ""
        self._logprobs: list[Any] = []
        self._place = _Place.OUTSIDE
        self.matched: str | None = None
        """The stop string that ended the answer; from then on the upstream need not go on."""

    def cut(self, event: Event) -> tuple[Event, ...]:
        """What of the event, and of what was held back, may be said now."""
        if self._place is _Place.CUT:
            return ()
        match event:
            case TextDelta() if self._place is _Place.IN_TEXT:
                return self._grown(event)
            case TextOpened():
                self._place = _Place.IN_TEXT
                return (event,)
            case Closed() | Finished() | Failed():
                self._place = _Place.OUTSIDE
                return (*self._released(len(self._held)), event)
            case _:  # every other event says nothing that a stop string could stand in
                return (event,)

    def _grown(self, delta: TextDelta) -> tuple[Event, ...]:
        self._held += delta.text
        if delta.logprobs:
            self._logprobs.extend(delta.logprobs)
        found = self._first_match()
        if found is None:
            return self._released(self._safe_length())
        start, stop = found
        self._place = _Place.CUT
        self.matched = stop
        said = self._released(start)
        self._held = ""
        return (*said, Closed(), Finished(Stop.STOP_SEQUENCE, stop_sequence=stop))

    def _first_match(self) -> tuple[int, str] | None:
        """The stop string that is complete first, and where it begins; of two, the longer."""
        found = [(at + len(stop), at, stop) for stop in self._stops if (at := self._held.find(stop)) >= 0]
        if not found:
            return None
        _, start, stop = min(found)
        return start, stop

    def _safe_length(self) -> int:
        """How much of the held text can be no beginning of a stop string."""
        held = self._held
        safe = len(held)
        for stop in self._stops:
            at = held.find(stop[0], max(len(held) - len(stop) + 1, 0))
            while 0 <= at < safe:
                if stop.startswith(held[at:]):
                    safe = at
                    break
                at = held.find(stop[0], at + 1)
        return safe

    def _released(self, length: int) -> tuple[Event, ...]:
        """Say the first `length` characters of what is held, with the log probabilities of their tokens."""
        if not length:
            return ()
        text, self._held = self._held[:length], self._held[length:]
        if not self._logprobs:
            return (TextDelta(text),)
        count = len(self._logprobs) if not self._held else _tokens_within(self._logprobs, length)
        told, self._logprobs = self._logprobs[:count], self._logprobs[count:]
        return (TextDelta(text, tuple(told)),)


def _tokens_within(logprobs: list[Any], length: int) -> int:
    """How many of the tokens lie wholly within the first `length` characters."""
    end = 0
    for number, entry in enumerate(logprobs):
        token = entry.get("token") if isinstance(entry, dict) else None
        end += len(token) if isinstance(token, str) else 1
        if end > length:
            return number
    return len(logprobs)
