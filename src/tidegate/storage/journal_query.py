"""Reads the journal: newest first by pages, one row by its id, and what has come since."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from http import HTTPStatus
from typing import Any, TypeVar

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, literal_column, select

from tidegate.exchange.ports import RequestRecord
from tidegate.storage import rows
from tidegate.storage.database import Database, DatabaseUnusable, off_index
from tidegate.storage.pages import (
    EQUAL,
    REQUEST_ID_PREFIX,
    Filters,
    Page,
    Position,
    UnknownPosition,
    read_cursor,
    storable,
    write_cursor,
)
from tidegate.storage.reading import no_journal, read
from tidegate.storage.schema import requests
from tidegate.storage.whereabouts import guided_rows, in_time, needs_guide, newest_first

_COLUMNS = [requests.c[name] for name in rows.COLUMNS]
_LAST_LETTERS = "z" * 64
_TELLING = len(REQUEST_ID_PREFIX) + 7
"""Letters of an id that few others begin with: those of about a minute."""

_Answer = TypeVar("_Answer")


def select_page(connection: Connection, filters: Filters, limit: int, before: str | None) -> Page:
    """The newest `limit` rows before a cursor or a request id; UnknownPosition if `before` is neither."""
    if not all(storable(wanted) for wanted in msgspec.structs.astuple(filters) if isinstance(wanted, str)):
        return Page((), None)
    query = _filtered(select(*_COLUMNS), filters)
    place = None if before is None else _position(connection, before)
    # One more than wanted tells whether another page follows.
    guided = guided_rows(connection, query, filters, place, limit + 1) if needs_guide(filters) else None
    whole = newest_first(in_time(query, filters, place)).limit(limit + 1)
    found = connection.execute(whole).all() if guided is None else guided
    shown = found[:limit]
    more = len(found) > limit > 0
    return Page(tuple(rows.decode(row) for row in shown), _cursor(shown[-1]) if more else None)


def select_one(connection: Connection, identifier: str) -> RequestRecord | None:
    """The row of a request, if there is one."""
    if not storable(identifier):
        return None
    row = connection.execute(select(*_COLUMNS).where(requests.c.id == identifier)).first()
    return None if row is None else rows.decode(row)


def newest_numbers(connection: Connection, limit: int) -> list[int]:
    """The numbers of the rows written last, the highest first."""
    query = select(requests.c.seq).order_by(requests.c.seq.desc()).limit(limit)
    return list(connection.execute(query).scalars())


def numbers_since(connection: Connection, number: int, missing: Collection[int], limit: int) -> list[int]:
    """The numbers that rows have now: the lowest beyond `number`, at most `limit`, and those of `missing`."""
    beyond = select(requests.c.seq).where(requests.c.seq > number).order_by(requests.c.seq).limit(limit)
    found = list(connection.execute(beyond).scalars())
    if missing:
        late = select(requests.c.seq).where(requests.c.seq.in_(missing))
        found += connection.execute(late).scalars()
    return sorted(found)


def select_numbers(connection: Connection, numbers: Sequence[int], filters: Filters) -> list[RequestRecord]:
    """The rows of these numbers that pass the filters, in the order of the numbers."""
    query = in_time(_filtered(select(*_COLUMNS), filters), filters, None).where(requests.c.seq.in_(numbers))
    return [rows.decode(row) for row in connection.execute(query.order_by(requests.c.seq))]


def _filtered(query: Select[Any], filters: Filters) -> Select[Any]:
    """Only rows that fit all filters but those of time."""
    equal = [(name, getattr(filters, name)) for name in EQUAL]
    query = query.where(*(requests.c[name] == wanted for name, wanted in equal if wanted is not None))
    if filters.id is not None:
        query = query.where(*_begins(filters.id))
    if filters.outcome not in (None, "completed"):
        # Says what the filter implies: without it the partial index would not be used.
        query = query.where(requests.c.outcome != "completed")
    if filters.status not in (None, HTTPStatus.OK):
        query = query.where(requests.c.status != literal_column("200"))
    return query


def _begins(text: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    identifier: ColumnElement[str] = requests.c.id
    if len(text) < _TELLING:
        # So many begin so that they are found sooner among the newest rows than by sorting all of them.
        identifier = off_index(identifier)
    return identifier >= text, identifier < text + _LAST_LETTERS


def _position(connection: Connection, before: str) -> Position:
    if not before.startswith(REQUEST_ID_PREFIX):
        return read_cursor(before)
    if not storable(before):
        raise UnknownPosition(before)
    created_at = connection.execute(select(requests.c.created_at).where(requests.c.id == before)).scalar()
    if created_at is None:
        raise UnknownPosition(before)
    return Position(created_at, before)


def _cursor(row: Sequence[object]) -> str:
    identifier, created_at, *_ = row
    return write_cursor(Position(int(str(created_at)), str(identifier)))


class JournalReader:
    """Reads off the event loop. What this process has finished is always seen: its batch is written first."""

    def __init__(
        self,
        database: Database,
        threads: Executor,
        settle: Callable[[], Awaitable[None]],
        patience: float = 1.0,
    ) -> None:
        """`settle` returns when this process's rows are written; it is awaited for `patience` seconds."""
        self._database = database
        self._threads = threads
        self._settle = settle
        self._patience = patience

    async def page(self, filters: Filters, *, limit: int, before: str | None) -> Page:
        """As `select_page`."""
        return await self._read(lambda connection: select_page(connection, filters, limit, before))

    async def one(self, identifier: str) -> RequestRecord | None:
        """As `select_one`."""
        return await self._read(lambda connection: select_one(connection, identifier))

    async def _read(self, query: Callable[[Connection], _Answer]) -> _Answer:
        with suppress(TimeoutError, DatabaseUnusable):  # a database that cannot be written may still be read
            await asyncio.wait_for(self._settle(), self._patience)
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, read, self._database, query, no_journal
        )
