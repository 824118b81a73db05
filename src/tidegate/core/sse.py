"""Bytes of an event stream to whole events and back; an event keeps its raw bytes."""

import re
from enum import Enum

from msgspec import Struct

_BOM = b"\xef\xbb\xbf"
_LF, _CR, _COLON = 10, 13, 58
_BLANK = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_SILENCE = re.compile(rb"(?:(?::[^\n]*+\n)*\n)+")
"""Whole events of nothing but comments, and blank lines."""
_SMALL = 4_096
"""Bytes of an unfinished event that may be copied to be read with what comes next."""
MAX_LINES = 10_000
"""Of one event, without the blank line that closes it."""


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

    def __init__(self, frames: "tuple[Frame, ...]" = ()) -> None:
        super().__init__()
        self.frames = frames
        """The events that the same chunk completed before it."""


class Framer:
    """Cuts a byte stream into events, whatever the chunks: WHATWG parsing, with raw bytes kept.

    Events without a data line are dropped here. A closing CR ends its event at once; the LF that belongs to
    it is swallowed when it comes. Work is linear in the bytes fed, memory bounded by the limit and one chunk.
    """

    __slots__ = ("_begun", "_limit", "_lines", "_pending", "_skip_lf")

    def __init__(self, limit: int) -> None:
        """`limit` is in bytes for one event, line ends included."""
        self._limit = limit
        self._pending = bytearray()
        self._lines = 0
        self._skip_lf = False
        self._begun = False

    def feed(self, chunk: bytes) -> list[Frame]:
        """The events that `chunk` completes, in order. Raises Overflow."""
        if not self._begun:
            chunk = self._begin(chunk)
        if self._skip_lf and chunk:
            self._skip_lf = False
            if chunk[0] == _LF:
                chunk = chunk[1:]
        elif not self._pending and _is_one_data_line(chunk) and len(chunk) <= self._limit:
            return [Frame(chunk, chunk[6:-2], None, None, Form.PLAIN)]
        frames: list[Frame] = []
        if len(self._pending) <= _SMALL and b"\r" not in chunk and b"\r" not in self._pending:
            chunk = bytes(self._pending) + chunk
            self._pending.clear()
        try:
            if not self._pending and b"\r" not in chunk:
                self._feed_lf(chunk, frames)
            else:
                self._feed_any(chunk, frames)
        except Overflow:
            raise Overflow(tuple(frames)) from None
        return frames

    def end(self) -> Frame | None:
        """The body ended: the last event if only its blank line is missing, in IRREGULAR form."""
        rest = bytes(self._pending).strip(b"\r\n")
        self._pending.clear()
        return _read(rest + b"\n\n", Form.IRREGULAR) if rest else None

    def _begin(self, chunk: bytes) -> bytes:
        """Drop one byte order mark at byte 0, also when it comes in pieces."""
        chunk = bytes(self._pending) + chunk
        self._pending.clear()
        if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
            self._pending += chunk
            return b""
        self._begun = True
        return chunk.removeprefix(_BOM)

    def _feed_lf(self, chunk: bytes, frames: list[Frame]) -> None:
        """Nothing is pending and every line end is a LF: the common case, and the quick one."""
        start = _after_silence(chunk, 0)
        while (end := chunk.find(b"\n\n", start) + 2) >= 2:
            if end - start > self._limit:
                raise Overflow
            frame = _read_lf(chunk[start:end])
            if frame is not None:
                frames.append(frame)
            start = _after_silence(chunk, end)
        if start < len(chunk):
            self._pending += chunk[start:] if start else chunk
            self._bound(chunk[start:], lines=0)

    def _feed_any(self, chunk: bytes, frames: list[Frame]) -> None:
        pending = self._pending
        scan = max(0, len(pending) - 3)
        pending += chunk
        start = 0
        while (match := _BLANK.search(pending, scan)) is not None:
            end = match.end()
            if end - start > self._limit:
                raise Overflow
            frame = _read(bytes(pending[start:end]), Form.PLAIN)
            if frame is not None:
                frames.append(frame)
            start = scan = end
        if start:
            self._skip_lf = start == len(pending) and pending[-1] == _CR
            del pending[:start]
            self._bound(bytes(pending), lines=0)
        else:
            self._bound(chunk, lines=self._lines)

    def _bound(self, part: bytes, lines: int) -> None:
        """`part` was added after `lines` lines: neither bytes nor lines of an event may grow without end."""
        self._lines = lines + max(part.count(b"\n"), part.count(b"\r"))
        if len(self._pending) > self._limit or self._lines > MAX_LINES:
            raise Overflow


def reframed(frame: Frame, event: bytes | None) -> bytes:
    """The event written anew with its data kept: name, id and data lines, LF ends, one blank line."""
    name = b"" if event is None else b"event: " + event + b"\n"
    identifier = b"" if frame.id is None else b"id: " + frame.id + b"\n"
    return name + identifier + b"data: " + frame.data.replace(b"\n", b"\ndata: ") + b"\n\n"


def _is_one_data_line(chunk: bytes) -> bool:
    """The read that nearly every event is: `data: …` LF LF in ASCII, by itself."""
    return (
        chunk.startswith(b"data: ")
        and chunk.endswith(b"\n\n")
        and chunk.find(b"\n") == len(chunk) - 2
        and chunk.isascii()
        and b"\r" not in chunk
    )


def _after_silence(chunk: bytes, start: int) -> int:
    """Where the next event that may say something begins: a flood of comments must cost little."""
    if start >= len(chunk) or chunk[start] not in (_COLON, _LF):
        return start
    silence = _SILENCE.match(chunk, start)
    return start if silence is None else silence.end()


def _read_lf(raw: bytes) -> Frame | None:
    """The two shapes that nearly every event has; all else is read line by line. `raw` has no CR."""
    name_end = -1
    if raw.startswith(b"event: "):
        name_end = raw.find(b"\n")
    one_line = raw.startswith(b"data: ", name_end + 1) and raw.find(b"\n", name_end + 7) == len(raw) - 2
    if one_line and (raw.isascii() or _is_utf8(raw)):
        name = None if name_end < 0 else raw[7:name_end]
        return Frame(raw, raw[name_end + 7 : -2], name, None, Form.PLAIN)
    return _read(raw, Form.PLAIN)


def _read(raw: bytes, form: Form) -> Frame | None:
    """One event, line by line (WHATWG HTML, "Interpreting an event stream")."""
    raw = raw.lstrip(b"\r\n")
    if not _is_utf8(raw):
        raw = raw.decode("utf-8", "replace").encode()
        form = Form.IRREGULAR
    lines = _LINE_END.split(raw, MAX_LINES + 2)  # two empty ones come from the blank line at the end
    if len(lines) > MAX_LINES + 2:
        raise Overflow
    fields = [line.partition(b":") for line in lines]
    data = [_value(field) for field in fields if field[0] == b"data"]
    if not data:
        return None
    # A line without a name before its colon is a comment; the blank line at the end has no colon.
    if any(name == b"retry" or (colon and not name) for name, colon, _ in fields):
        form = Form.IRREGULAR
    events = [_value(field) for field in fields if field[0] == b"event"]
    ids = [value for field in fields if field[0] == b"id" and b"\0" not in (value := _value(field))]
    return Frame(raw, b"\n".join(data), _last(events), _last(ids), form)


def _value(field: tuple[bytes, bytes, bytes]) -> bytes:
    return field[2].removeprefix(b" ")


def _last(values: list[bytes]) -> bytes | None:
    return values[-1] if values else None


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
