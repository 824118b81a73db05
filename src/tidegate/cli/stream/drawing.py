"""Draws what a stream says as styled text, piece by piece."""

import re
from enum import Enum
from typing import TypeAlias, assert_never

from msgspec import Struct

from tidegate.cli.stream.said import (
    Counted,
    Ended,
    Failed,
    Piece,
    Reasoning,
    Refusal,
    Stopped,
    Text,
    ToolArguments,
    ToolOpened,
    Unreadable,
)


class Span(Struct, frozen=True):
    """Some text in one Rich style; "" is plain."""

    text: str
    style: str = ""


class Part(Enum):
    """What the text before the pen belongs to."""

    NOTHING = "nothing"
    ANSWER = "answer"
    REASONING = "reasoning"
    REFUSAL = "refusal"
    TOOL = "tool"


class Column(Enum):
    """Where on its line the pen stands."""

    START = "start"
    INSIDE = "inside"


class Pen(Struct, frozen=True):
    """Where the drawing has come to; `call` is the tool call being written."""

    part: Part = Part.NOTHING
    call: str = ""
    column: Column = Column.START


class _Passage(Struct, frozen=True):
    part: Part
    style: str
    call: str = ""
    heading: Span | None = None


_ANSWER = _Passage(Part.ANSWER, "")
_REASONING = _Passage(Part.REASONING, "dim italic")
_REFUSAL = _Passage(Part.REFUSAL, "yellow")

Drawn: TypeAlias = tuple[Pen, tuple[Span, ...]]

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def printable(text: str) -> str:
    """`text` without what could steer a terminal: control characters become visible signs."""
    return _CONTROLS.sub(_sign, text.replace("\r\n", "\n"))


def _sign(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)  # the Unicode pictures of control characters
    return "\u2421" if code == 0x7F else "\ufffd"


def draw(pen: Pen, piece: Piece) -> Drawn:
    """What to print for `piece`, and where the pen stands then; the closing lines tell counts and end."""
    match piece:
        case Text(text):
            return _write(pen, _ANSWER, text)
        case Reasoning(text):
            return _write(pen, _REASONING, text)
        case Refusal(text):
            return _write(pen, _REFUSAL, text)
        case ToolOpened(call, name):
            return _write(pen, _tool(call, name), "")
        case ToolArguments(call, name, text):
            return _write(pen, _tool(call, name), text)
        case Failed() | Unreadable():
            fresh, before = rule_off(pen)
            return fresh, (*before, _notice(piece))
        case Stopped() | Counted() | Ended():
            return pen, ()
        case _ as never:
            assert_never(never)


def _tool(call: str, name: str) -> _Passage:
    heading = Span(f"tool {printable(name) or '(no name)'} ", "bold cyan")
    return _Passage(Part.TOOL, "cyan", call, heading)


def _notice(piece: Failed | Unreadable) -> Span:
    match piece:
        case Failed(kind, message):
            return Span(f"error event: {printable(kind)}: {printable(message)}\n", "bold red")
        case Unreadable(text):
            return Span(f"event that is not JSON: {printable(text)[:200]}\n", "red")


def rule_off(pen: Pen) -> Drawn:
    """End the line that the pen stands in."""
    match pen.column:
        case Column.START:
            return Pen(), ()
        case Column.INSIDE:
            return Pen(), (Span("\n"),)


def _write(pen: Pen, passage: _Passage, text: str) -> Drawn:
    """Go on with the passage, on a line of its own and under its heading if the pen is elsewhere."""
    before: tuple[Span, ...] = ()
    if (pen.part, pen.call) != (passage.part, passage.call):
        _, before = rule_off(pen)
        before += (passage.heading,) if passage.heading else ()
    shown = printable(text)
    column = Column.START if shown.endswith("\n") else Column.INSIDE
    spans = (Span(shown, passage.style),) if shown else ()
    return Pen(passage.part, passage.call, column), (*before, *spans)
