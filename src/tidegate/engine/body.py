"""What the body of an answer is, told by how it begins and not by its label."""

from enum import Enum

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"
MAX_BLANK = 65_536


class Body(Enum):
    """How an upstream's body is read."""

    EVENTS = "events"
    """An event stream."""
    JSON = "json"
    """One JSON text."""
    FOREIGN = "foreign"
    """Markup, or nothing but blanks: no answer of any protocol."""


def judge(start: bytes) -> Body | None:
    """The kind of a body that begins with `start`; None as long as only blanks (or part of a BOM) came."""
    if _BOM.startswith(start):
        return None
    text = start.removeprefix(_BOM).lstrip(_BLANK)
    if not text:
        return Body.FOREIGN if len(start) > MAX_BLANK else None
    match text[:1]:
        case b"{" | b"[":
            return Body.JSON
        case b"<":
            return Body.FOREIGN
        case _:  # a field name or a comment: the framer will see
            return Body.EVENTS
