"""Cuts the bytes of an event stream into events, and keeps all that is odd about them."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate, islice

from msgspec import Struct

from tidegate.doctor.recording import Recording

_BOM = b"\xef\xbb\xbf"
_LINE = re.compile(rb"([^\r\n]*)(\r\n|\n|\r|\Z)")
_SHOWN = 500
MOST_EVENTS = 20_000
MOST_LINES = 200_000


class Line(Struct, frozen=True):
    """One line without its end. `end` is how it ended: empty for a last line that nothing ends."""

    text: bytes
    end: bytes
    stop: int
    """Where in the body the line, with its end, is over."""


class Event(Struct, frozen=True, kw_only=True):
    """What stood between two blank lines; `at` is when its blank line had come, in seconds.

    `data` is None where there was no data line at all. `closed` is False where the body ended before the
    blank line. `lines` are those of the block, comments too.
    """

    number: int
    at: float
    lines: tuple[bytes, ...]
    name: str | None
    data: str | None
    closed: bool

    @property
    def shown(self) -> str:
        """Its text for people, shortened."""
        return shortened(b"\n".join(self.lines))


class EventStream(Struct, frozen=True, kw_only=True):
    """A body as events: blocks with a field in them. Comments alone, and blank lines, are no event."""

    events: tuple[Event, ...]
    line_ends: frozenset[bytes]
    has_mark: bool
    """Whether the body began with a byte order mark."""
    bad_bytes: bytes | None
    """Some bytes around the first that are no UTF-8."""
    cut: bool = False
    """Whether there is more than is looked at."""


def shortened(raw: bytes) -> str:
    """Text for people: at most 500 characters, whatever the bytes are."""
    text = raw[: _SHOWN * 4].decode("utf-8", "replace")
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def framed(recording: Recording) -> EventStream:
    """The events of a recorded body, the same for every way it may have come in pieces."""
    body = recording.body
    ends = tuple(accumulate(len(piece.data) for piece in recording.pieces))
    plain = body.removeprefix(_BOM)
    lines = tuple(islice(_lines(plain, len(body) - len(plain)), MOST_LINES + 1))

    def came_at(stop: int) -> float:
        place = bisect_left(ends, stop)
        return recording.pieces[min(place, len(ends) - 1)].at if ends else 0.0

    told = (block for block in _blocks(lines[:MOST_LINES]) if _has_field(block))
    events = tuple(
        _event(number, block, came_at(block[-1].stop))
        for number, block in enumerate(islice(told, MOST_EVENTS + 1))
    )
    return EventStream(
        events=events[:MOST_EVENTS],
        line_ends=frozenset(line.end for line in lines if line.end),
        has_mark=body.startswith(_BOM),
        bad_bytes=_bad_bytes(body),
        cut=len(lines) > MOST_LINES or len(events) > MOST_EVENTS,
    )


def _lines(body: bytes, start: int) -> Iterator[Line]:
    for found in _LINE.finditer(body):
        if found.start() == len(body):
            return
        yield Line(found[1], found[2], start + found.end())


def _blocks(lines: tuple[Line, ...]) -> Iterator[tuple[Line, ...]]:
    """Lines up to and with their blank line; the last may lack it."""
    block: list[Line] = []
    for line in lines:
        block.append(line)
        if not line.text and line.end:
            yield tuple(block)
            block = []
    if block:
        yield tuple(block)


def _has_field(block: tuple[Line, ...]) -> bool:
    return any(line.text and not line.text.startswith(b":") for line in block)


def _event(number: int, block: tuple[Line, ...], at: float) -> Event:
    closed = not block[-1].text and bool(block[-1].end)
    lines = tuple(line.text for line in block if line.text)
    name: str | None = None
    data: list[str] = []
    for line in lines:
        field, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        if field == b"event":
            name = text
        elif field == b"data":
            data.append(text)
    return Event(
        number=number,
        at=at,
        lines=lines,
        name=name or None,
        data="\n".join(data) if data else None,
        closed=closed,
    )


def _bad_bytes(body: bytes) -> bytes | None:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        return body[max(0, error.start - 20) : error.end + 20]
    return None
