"""What was heard of one answer, byte by byte and with times."""

from enum import Enum

from msgspec import Struct


class Close(Enum):
    """How the hearing of an answer came to its end."""

    WHOLE = "whole"
    """The body ended as HTTP wants it."""
    UNREACHED = "unreached"
    """No connection came about."""
    BROKEN = "broken"
    """The connection broke, or what came was no HTTP."""
    TOO_LATE = "too late"
    """The patience was over."""
    TOO_LARGE = "too large"
    """More came than is looked at."""


class Head(Struct, frozen=True):
    """Status and headers (names in lower case), `at` so many seconds after the request."""

    at: float
    status: int
    headers: tuple[tuple[str, str], ...]

    def header(self, name: str) -> str | None:
        """The last value of a header."""
        return next((value for known, value in reversed(self.headers) if known == name), None)


class Piece(Struct, frozen=True):
    """Bytes of the body that came together, `at` so many seconds after the request."""

    at: float
    data: bytes


class Recording(Struct, frozen=True, kw_only=True):
    """One answer. `head` is None where there was none; `trouble` says in words why it broke."""

    head: Head | None
    pieces: tuple[Piece, ...] = ()
    close: Close = Close.WHOLE
    trouble: str | None = None
    ended_at: float = 0.0
    """Seconds after the request."""

    @property
    def body(self) -> bytes:
        """All bytes."""
        return b"".join(piece.data for piece in self.pieces)
