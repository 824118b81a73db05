"""The table of what requests and answers said: how a content becomes a row, is found and is deleted."""

import zlib
from collections.abc import Callable, Collection, Sequence

from msgspec import Struct
from sqlalchemy import Connection, delete, insert, select

from tidegate.exchange.capture import OVERHANG, Content, Part
from tidegate.storage.pages import storable
from tidegate.storage.rows import MICROSECONDS, to_microseconds
from tidegate.storage.schema import contents

Redact = Callable[[str], str | None]
"""Takes out of a text what must not be kept; None: it cannot be told in time what that is."""


class KeptPart(Struct, frozen=True):
    """One direction as it is kept; `length` is in bytes and of the whole, `text` perhaps only its start."""

    text: str
    length: int
    truncated: bool


class KeptContent(Struct, frozen=True, kw_only=True):
    """What is kept of a request; `captured_at` in Unix seconds."""

    id: str
    captured_at: float
    request: KeptPart
    answer: KeptPart


def row_of(content: Content, limit: int, redact: Redact) -> dict[str, object] | None:
    """The row of a content with at most `limit` bytes in each direction; None: it cannot be redacted."""
    row: dict[str, object] = {"id": content.id, "captured_at": to_microseconds(content.captured_at)}
    for name, part in (("request", content.request), ("answer", content.answer)):
        kept = _kept(part, limit, redact)
        if kept is None:
            return None
        row |= {
            name: zlib.compress(kept.text.encode()),
            f"{name}_bytes": kept.length,
            f"{name}_truncated": kept.truncated,
        }
    return row


def _kept(part: Part, limit: int, redact: Redact) -> KeptPart | None:
    """Redacted first and cut then: a credential that the cut goes through would not be recognised.

    Where what was noted is itself cut, its end is never kept, however much the redacting has shortened it.
    """
    redacted = redact(part.start.decode("utf-8", "replace"))
    if redacted is None:
        return None
    raw = redacted.encode("utf-8", "replace")
    safe = len(raw) if len(part.start) == part.length else max(0, len(raw) - OVERHANG)
    text = raw[: min(limit, safe)].decode("utf-8", "ignore")
    return KeptPart(text, part.length, len(part.start) < part.length or len(text) < len(redacted))


def insert_rows(connection: Connection, rows: Sequence[dict[str, object]]) -> None:
    """Add them; one that is there already, after a failure that was unclear, is replaced."""
    connection.execute(delete(contents).where(contents.c.id.in_([row["id"] for row in rows])))
    connection.execute(insert(contents), rows)


def select_content(connection: Connection, identifier: str) -> KeptContent | None:
    """What is kept of a request, if anything."""
    if not storable(identifier):
        return None
    found = connection.execute(select(contents).where(contents.c.id == identifier)).mappings().first()
    if found is None:
        return None
    request, answer = (
        KeptPart(_text(found[name]), found[f"{name}_bytes"], bool(found[f"{name}_truncated"]))
        for name in ("request", "answer")
    )
    at = found["captured_at"] / MICROSECONDS
    return KeptContent(id=identifier, captured_at=at, request=request, answer=answer)


def select_present(connection: Connection, identifiers: Collection[str]) -> frozenset[str]:
    """Those of the requests of which something is kept."""
    wanted = [identifier for identifier in identifiers if storable(identifier)]
    if not wanted:
        return frozenset()
    found = connection.execute(select(contents.c.id).where(contents.c.id.in_(wanted)))
    return frozenset(found.scalars())


def delete_content(connection: Connection, identifier: str) -> bool:
    """Keep nothing of a request any more; False: nothing was kept."""
    if not storable(identifier):
        return False
    return connection.execute(delete(contents).where(contents.c.id == identifier)).rowcount > 0


def _text(compressed: bytes) -> str:
    return zlib.decompress(compressed).decode("utf-8", "replace")
