"""Turns the input of a tool call into the form in which the client declared the tool (conversion.md §5)."""

import msgspec
from msgspec import Struct

from tidegate.core.events import CallKind
from tidegate.protocols.custom_tools import wrapped_input
from tidegate.protocols.reading import load
from tidegate.protocols.transcript import Transcript

_INPUT = "input"
_MENDS = ('"}', "}")
"""What a cut wrapper may lack at its end."""
_LONGEST_ESCAPE = 12
"""A surrogate pair, `\\ud83c\\udf42`: no more than this of a cut text is unreadable."""
_EMPTY = "{}"
_BLANK = " \t\r\n"
"""White space of JSON."""


class _Wrapper(Struct):
    """The arguments of a function that stands for a custom tool."""

    input: str


_WRAPPER = msgspec.json.Decoder(_Wrapper)


def unwrapped(arguments: str) -> str:
    """The free text in such arguments; of cut ones what can be read; of other JSON the text as it is."""
    value = load(arguments.encode())
    if value is not None:
        found = value.get(_INPUT) if isinstance(value, dict) else None
        return found if isinstance(found, str) else arguments
    for lost in range(min(_LONGEST_ESCAPE, len(arguments))):
        kept = arguments[: len(arguments) - lost]
        found = next((text for mend in _MENDS if (text := _read(kept + mend)) is not None), None)
        if found is not None:
            return found
    return arguments


class CallInput:
    """The input of one call as the client is told it: piece by piece, or once at the end if it is rewritten.

    `arrives` is the form of the pieces, `wanted` the form in which they are told.
    """

    __slots__ = ("_arrives", "_held", "_said", "_wanted")

    def __init__(self, arrives: CallKind, wanted: CallKind) -> None:
        self._arrives = arrives
        self._wanted = wanted
        self._held = Transcript()
        self._said = Transcript()

    def add(self, piece: str) -> str:
        """What of the next piece may be said now: all of it or nothing.

        Arguments begin with their first mark: clients parse what they have so far, and blanks alone are no
        JSON.
        """
        if self._arrives is self._wanted:
            if not self._said and self._wanted is CallKind.FUNCTION:
                piece = piece.lstrip(_BLANK)
            if piece:
                self._said.add(piece)
            return piece
        self._held.add(piece)
        return ""

    def rest(self, *, cut: bool) -> str:
        """What is still to be said when the call has ended; `cut`: by a limit, in the middle.

        No arguments at all are an empty object, but never of a call that was cut: a tool would run without
        them.
        """
        rest = self._rest(cut=cut)
        self._said.add(rest)
        return rest

    def text(self) -> str:
        """All that has been said."""
        return self._said.text()

    def _rest(self, *, cut: bool) -> str:
        held = self._held.text()
        match self._wanted:
            case CallKind.CUSTOM:
                return held if self._arrives is self._wanted else unwrapped(held)
            case CallKind.FUNCTION if self._arrives is CallKind.CUSTOM:
                return wrapped_input(held).removesuffix('"}') if cut else wrapped_input(held)
            case CallKind.FUNCTION:
                return "" if cut or self._said else _EMPTY


def _read(text: str) -> str | None:
    try:
        return _WRAPPER.decode(text).input
    except (msgspec.DecodeError, RecursionError):
        return None
