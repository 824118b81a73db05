"""Puts a stream on the terminal as it comes."""

from collections.abc import Iterable

from rich.console import Console

from tidegate.cli.exit_codes import Exit
from tidegate.cli.stream.drawing import Pen, Span, draw, rule_off
from tidegate.cli.stream.raw import RawLines
from tidegate.cli.stream.reading import reader
from tidegate.cli.stream.said import Reasoning
from tidegate.cli.stream.tally import Close, Tally, figures, verdict
from tidegate.core.protocol import Protocol
from tidegate.core.sse import Frame, Framer

MAX_EVENT_BYTES = 64 << 20


class PipedConsole(Console):
    """A console that leaves it to its caller what a reader that went away means."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class Screen:
    """Shows one stream. `raw` shows its lines instead of its text."""

    def __init__(self, protocol: Protocol, console: Console, *, raw: bool, show_reasoning: bool) -> None:
        self._protocol = protocol
        self._console = console
        self._raw = RawLines() if raw else None
        self._show_reasoning = show_reasoning
        self._framer = Framer(MAX_EVENT_BYTES)
        self._reader = reader(protocol)
        self._pen = Pen()
        self.tally = Tally()

    def receive(self, data: bytes, at: float) -> None:
        """Show what `data` completes; `at` is in seconds since the request. Raises sse.Overflow."""
        if self._raw is not None:
            self._print(self._raw.feed(data, at))
        for frame in self._framer.feed(data):
            self._take(frame, at)

    def close(self, close: Close, at: float) -> Exit:
        """Show what is left and the closing lines; the result is the command's exit code."""
        last = self._framer.end()
        if last is not None:
            self._take(last, at)
        if self._raw is not None:
            self._print(self._raw.end(at))
        self._pen, spans = rule_off(self._pen)
        self._print((*spans, verdict(self.tally, close, self._protocol), figures(self.tally, at)))
        return self.tally.exit_code(close)

    def _take(self, frame: Frame, at: float) -> None:
        for piece in self._reader.read(frame):
            self.tally = self.tally.with_piece(piece, at)
            if self._raw is None and (self._show_reasoning or not isinstance(piece, Reasoning)):
                self._pen, spans = draw(self._pen, piece)
                self._print(spans)

    def _print(self, spans: Iterable[Span]) -> None:
        for span in spans:
            self._console.out(span.text, style=span.style or None, end="", highlight=False)
