"""The bytes of an event, with every liberty that event streams allow and some that they do not."""

from tidegate.simulator.parameters import Parameters

_BOM = b"\xef\xbb\xbf"
_STAND_IN, _NO_UTF8 = "\ue000".encode(), b"\xff"


class Framing:
    """Writes events the way the parameters wish; counts them for their ids."""

    def __init__(self, parameters: Parameters) -> None:
        self._wish = parameters
        self._count = 0
        self._end = b"\r\n" if parameters.crlf else b"\r" if parameters.cr else b"\n"
        self._colon = b":" if parameters.no_space else b": "

    def opening(self) -> bytes:
        """What stands before the first event; often nothing."""
        opening = _BOM if self._wish.bom else b""
        if self._wish.retry:
            opening += self._field(b"retry", b"3000") + self._end
        if self._wish.no_data:
            opening += self._field(b"event", b"keepalive") + self._end
        return opening

    def event(self, name: str | None, data: bytes, *, closed: bool = True) -> bytes:
        """One event; without its closing blank line if not `closed`."""
        wish, lines = self._wish, []
        if wish.comments:
            lines += [self.comment("between events"), self._colon + b"inside the event" + self._end]
        if wish.ids:
            lines.append(self._field(b"id", b"%d" % self._count))
        if wish.event_names and name is None:
            name = "message"
        if name is not None and not wish.no_event_names:
            lines.append(self._field(b"event", name.encode()))
        if wish.bad_utf8:
            data = data.replace(_STAND_IN, _NO_UTF8)
        lines += [self._field(b"data", line) for line in self._data_lines(data)]
        self._count += 1
        return b"".join(lines) + (self._end if closed else b"")

    def comment(self, text: str) -> bytes:
        """A comment with a blank line after it."""
        return b": " + text.encode() + self._end + self._end

    def garbled(self) -> bytes:
        """An event whose JSON breaks off."""
        return self._field(b"data", b'{"id":"c1","choices":[{"del') + self._end

    def _field(self, name: bytes, value: bytes) -> bytes:
        return name + self._colon + value + self._end

    def _data_lines(self, data: bytes) -> tuple[bytes, ...]:
        """One line, or two that meet at the first comma between members, where JSON allows a line end."""
        head, comma, tail = data.partition(b',"')
        return (head + b",", b'"' + tail) if self._wish.multiline and comma else (data,)
