"""Keeps the trail of who changed what."""

import json
import time
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct
from sqlalchemy import Connection, Row, insert, select

from tidegate.storage.rows import to_microseconds
from tidegate.storage.schema import audit as table

T = TypeVar("T")

_LONGEST = 4_000
"""Characters of one value that are kept."""

SET = "(set)"
"""What is shown in place of a secret."""

Changes = Mapping[str, tuple[object, object]]
"""Field -> what it was and what it is; None: not there. Holds what JSON can hold, and never a secret."""


class Via(Enum):
    """How an operator came in."""

    TOKEN = "token"  # noqa: S105  # a word, no secret
    CONSOLE = "console"
    COMMAND_LINE = "command_line"


class Author(Struct, frozen=True, kw_only=True):
    """Who does something. `operator` None: nobody who is known; `address` is where the call came from."""

    operator: str | None
    via: Via
    address: str | None = None


NOBODY = Author(operator=None, via=Via.COMMAND_LINE)
"""Who is behind what the gateway does of its own."""


class Deed(Struct, frozen=True, kw_only=True):
    """What was done to what: `kind` is a word like "channels", `name` which of them."""

    action: str
    kind: str
    name: str | None = None
    changes: Changes = {}


class Noted(Struct, frozen=True, kw_only=True):
    """A row of the trail; `at` is Unix seconds."""

    number: int
    at: float
    author: Author
    deed: Deed


class Wanted(Struct, frozen=True, kw_only=True):
    """Rows must equal every value that is not None."""

    kind: str | None = None
    name: str | None = None
    operator: str | None = None


Task: TypeAlias = Callable[[Connection], T]
"""What is done in one transaction."""


def noted(task: Task[T], author: Author, deed_of: Callable[[T], Deed | None]) -> Task[T]:
    """The task with a row of the audit log, in the same transaction; None: nothing was done."""

    def both(connection: Connection) -> T:
        done = task(connection)
        deed = deed_of(done)
        if deed is not None:
            note(connection, author, deed)
        return done

    return both


def note(connection: Connection, author: Author, deed: Deed, clock: Callable[[], float] = time.time) -> None:
    """Add a row, in the transaction of what it tells of."""
    connection.execute(
        insert(table).values(
            at=to_microseconds(clock()),
            operator=author.operator,
            via=author.via.value,
            address=author.address,
            action=deed.action,
            kind=deed.kind,
            name=deed.name,
            changes=json.dumps({field: [*map(_short, pair)] for field, pair in deed.changes.items()}),
        )
    )


def read(
    connection: Connection, wanted: Wanted, *, limit: int, before: int | None = None
) -> tuple[Noted, ...]:
    """The newest rows before a number, the newest first."""
    query = select(table).order_by(table.c.number.desc()).limit(limit)
    for field in Wanted.__struct_fields__:
        value = getattr(wanted, field)
        if value is not None:
            query = query.where(table.c[field] == value)
    if before is not None:
        query = query.where(table.c.number < before)
    return tuple(_noted(row) for row in connection.execute(query))


def _short(value: object) -> object:
    """What JSON can hold; of what is very long only its beginning."""
    text = json.dumps(value, default=str, ensure_ascii=False)
    return json.loads(text) if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _noted(row: Row[Any]) -> Noted:
    changes = {field: (pair[0], pair[1]) for field, pair in json.loads(row.changes).items()}
    return Noted(
        number=row.number,
        at=row.at / 1_000_000,
        author=Author(operator=row.operator, via=Via(row.via), address=row.address),
        deed=Deed(action=row.action, kind=row.kind, name=row.name, changes=changes),
    )
