"""Bytes of an event stream to whole events and back; an event keeps its raw bytes."""

import re
from enum import Enum

from msgspec import Struct

_BOM = b"\xef\xbb\xbf"
_BLANK = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_LEADING_ENDS = re.compile(rb"(?:\r\n|\n|\r)*")
MAX_LINES = 10_000


class Form(Enum):
    """Whether an event's raw bytes may be forwarded as they came."""

    PLAIN = "plain"
    """Only data, event and id lines that every SDK reads the same."""
    IRREGULAR = "irregular"
    """Holds comments, retry lines, malformed UTF-8, or lacks its closing blank line."""


class Frame(Struct, frozen=True):
    """One event. `raw` ends with its blank line as it came; `data` joins the data lines with LF.

    `event` is the last `event:` value, None where there is none; `id` the raw value of an id line, else None.
    """

    raw: bytes
    data: bytes
    event: bytes | None
    id: bytes | None
    form: Form


class Overflow(Exception):
    """An event is larger than the limit, or has more than MAX_LINES lines."""


class Framer:
    """Cuts a byte stream into events, whatever the chunks: WHATWG parsing, with raw bytes kept.

    Events without data are dropped here. A closing CR ends its event at once; the LF that belongs to it is
    swallowed when it comes. Work is linear in the bytes fed.
    """

    __slots__ = ("_limit", "_pending", "_skip_lf", "_started")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pending = bytearray()
        self._skip_lf = False
        self._started = False

    def feed(self, chunk: bytes) -> list[Frame]:
        """The events that `chunk` completes, in order. Raises Overflow."""
        if not self._started:
            chunk = self._start(chunk)
        if self._skip_lf and chunk:
            self._skip_lf = False
            if chunk[0] == 10:
                chunk = chunk[1:]
        if not self._pending and b"\r" not in chunk:
            return self._feed_lf(chunk)
        return self._feed_any(chunk)

    def end(self) -> Frame | None:
        """The body ended: the last event if it lacks only its blank line, re-framed with one."""
        rest = bytes(self._pending)
        self._pending.clear()
        if not rest.strip(b"\r\n"):
            return None
        return _frame(rest.rstrip(b"\r\n") + b"\n\n", Form.IRREGULAR)

    @property
    def holds_part(self) -> bool:
        """Whether bytes of an unfinished event are held."""
        return bool(self._pending)

    def _start(self, chunk: bytes) -> bytes:
        """Drop one byte order mark at byte 0, also when it comes in pieces."""
        if self._pending:
            chunk = bytes(self._pending) + chunk
            self._pending.clear()
        if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
            self._pending += chunk
            return b""
        self._started = True
        return chunk[len(_BOM) :] if chunk.startswith(_BOM) else chunk

    def _feed_lf(self, chunk: bytes) -> list[Frame]:
        """Fast path: nothing pending and only LF line ends."""
        frames = []
        start = 0
        while (end := chunk.find(b"\n\n", start)) >= 0:
            frame = _parse(chunk[start : end + 2])
            if frame is not None:
                if len(frame.raw) > self._limit:
                    raise Overflow
                frames.append(frame)
            start = end + 2
        if start < len(chunk):
            self._hold(chunk[start:])
        return frames

    def _feed_any(self, chunk: bytes) -> list[Frame]:
        pending = self._pending
        scan = max(0, len(pending) - 3)
        self._hold(chunk)
        frames = []
        start = 0
        while (match := _BLANK.search(pending, scan)) is not None:
            end = match.end()
            frame = _parse(bytes(pending[start:end]))
            if frame is not None:
                frames.append(frame)
            start = scan = end
        if start:
            self._skip_lf = start == len(pending) and pending[-1] == 13
            del pending[:start]
        return frames

    def _hold(self, part: bytes) -> None:
        self._pending += part
        if len(self._pending) > self._limit and _BLANK.search(self._pending) is None:
            raise Overflow


def _parse(raw: bytes) -> Frame | None:
    """Fast reading of the two shapes that nearly every event has; everything else line by line."""
    if raw.startswith(b"data: "):
        end = raw.find(b"\n")
        if end == len(raw) - 2 and b"\r" not in raw:
            data = raw[6:end]
            return Frame(raw, data, None, None, Form.PLAIN) if _is_utf8(data) else _frame(raw, Form.PLAIN)
    elif raw.startswith(b"event: "):
        name_end = raw.find(b"\n")
        if raw.startswith(b"data: ", name_end + 1) and b"\r" not in raw:
            end = raw.find(b"\n", name_end + 1)
            if end == len(raw) - 2:
                data = raw[name_end + 7 : end]
                if _is_utf8(raw):
                    return Frame(raw, data, raw[7:name_end], None, Form.PLAIN)
    return _frame(raw, Form.PLAIN)
