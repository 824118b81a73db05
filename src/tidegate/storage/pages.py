"""What may be asked of the journal, and the page that answers."""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from msgspec import Struct

from tidegate.core.protocol import Protocol
from tidegate.exchange.ports import RequestRecord

REQUEST_ID_PREFIX = "req_"

OUTCOMES = ("completed", "incomplete", "failed", "interrupted", "client_closed", "rejected")
PROTOCOLS = tuple(protocol.value for protocol in Protocol)


class Filters(Struct, frozen=True, kw_only=True):
    """Rows must fit every value that is not None."""

    key: str | None = None
    account: str | None = None
    model: str | None = None
    channel: str | None = None
    outcome: str | None = None
    protocol: str | None = None
    status: int | None = None
    stream: bool | None = None
    since: int | None = None
    """Rows that began then or later; microseconds since 1970."""
    until: int | None = None
    """Rows that began earlier; microseconds since 1970."""
    id: str | None = None
    """Rows whose id begins so."""


EQUAL = ("key", "account", "model", "channel", "outcome", "protocol", "status", "stream")
"""The filters that a column must equal."""


class Page(Struct, frozen=True):
    """Some rows, newest first; `next` is the `before` of the page that follows, None at the end."""

    requests: tuple[RequestRecord, ...]
    next: str | None


class Position(Struct, frozen=True):
    """A place in the order of the rows. `created_at` is in microseconds since 1970."""

    created_at: int
    id: str


class UnknownPosition(Exception):
    """A `before` that is neither a cursor nor the id of a row."""


def storable(text: str) -> bool:
    """Whether a column can hold the text, so that a row may have it: no NUL and no lone surrogate."""
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def write_cursor(position: Position) -> str:
    """A position as the caller keeps it: safe in a URL, without a meaning of its own."""
    return urlsafe_b64encode(f"{position.created_at}.{position.id}".encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> Position:
    """The position of a cursor that `write_cursor` made; anything else raises UnknownPosition."""
    try:
        text = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode()
    except ValueError as error:
        raise UnknownPosition(cursor) from error
    created_at, dot, identifier = text.partition(".")
    if (
        not dot
        or not identifier
        or not storable(identifier)
        or not created_at.isascii()
        or not created_at.isdigit()
        or len(created_at) > 18
    ):
        raise UnknownPosition(cursor)
    return Position(int(created_at), identifier)
