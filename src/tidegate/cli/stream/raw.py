"""Shows the lines of a stream as they came, each with the time of its arrival."""

from tidegate.cli.stream.drawing import Span, printable


class RawLines:
    """Cuts bytes into lines at CR, LF or both; a line is stamped when its end arrives."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._after_cr = False

    def feed(self, chunk: bytes, at: float) -> tuple[Span, ...]:
        """The lines that `chunk` ends; `at` is in seconds since the request."""
        if not chunk:
            return ()
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._after_cr = chunk.endswith(b"\r")
        lines = chunk.splitlines(keepends=True)
        rest = lines.pop() if lines and not lines[-1].endswith((b"\r", b"\n")) else b""
        if lines:
            lines[0] = bytes(self._held) + lines[0]
            self._held.clear()
        self._held += rest
        return tuple(span for line in lines for span in _line(line.rstrip(b"\r\n"), at))

    def end(self, at: float) -> tuple[Span, ...]:
        """A last line without an end, marked as such."""
        if not self._held:
            return ()
        return (*_line(bytes(self._held), at)[:-1], Span(" (no line end)\n", "red"))


def _line(line: bytes, at: float) -> tuple[Span, ...]:
    if not line:
        return (Span("\n"),)
    style = "dim" if line.startswith(b":") else ""
    text = printable(line.decode(errors="replace"))
    return Span(f"{at:8.3f}  ", "blue"), Span(text, style), Span("\n")
