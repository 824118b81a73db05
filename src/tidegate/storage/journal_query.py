"""Reads the journal: newest first by pages, one row by its id, and what has come since."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, func, select, tuple_
from sqlalchemy.exc import SQLAlchemyError

from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.exchange.ports import RequestRecord
from tidegate.storage import rows
from tidegate.storage.database import Database, DatabaseUnusable, reason
from tidegate.storage.pages import (
    REQUEST_ID_PREFIX,
    Filters,
    Page,
    Position,
    UnknownPosition,
    read_cursor,
    write_cursor,
)
from tidegate.storage.schema import requests

_COLUMNS = [requests.c[name] for name in rows.COLUMNS]

_Answer = TypeVar("_Answer")


def select_page(connection: Connection, filters: Filters, limit: int, before: str | None) -> Page:
    """The newest `limit` rows before a cursor or a request id; UnknownPosition if `before` is neither."""
    query = _filtered(select(*_COLUMNS), filters)
    if before is not None:
        place = _position(connection, before)
        query = query.where(tuple_(requests.c.created_at, requests.c.id) < tuple_(place.created_at, place.id))
    # One more than wanted tells whether another page follows.
    query = query.order_by(requests.c.created_at.desc(), requests.c.id.desc()).limit(limit + 1)
    found = connection.execute(query).all()
    shown = found[:limit]
    more = len(found) > limit > 0
    return Page(tuple(rows.decode(row) for row in shown), _cursor(shown[-1]) if more else None)


def select_one(connection: Connection, identifier: str) -> RequestRecord | None:
    """The row of a request, if there is one."""
    row = connection.execute(select(*_COLUMNS).where(requests.c.id == identifier)).first()
    return None if row is None else rows.decode(row)


def newest_number(connection: Connection) -> int:
    """The number of the row written last; 0 in an empty journal."""
    return connection.execute(select(func.max(requests.c.seq))).scalar() or 0


def select_since(
    connection: Connection, number: int, filters: Filters, limit: int
) -> tuple[int, list[RequestRecord]]:
    """The next rows in the order they were written, at most `limit`, and the number to go on from."""
    last = newest_number(connection)
    query = _filtered(select(requests.c.seq, *_COLUMNS).where(requests.c.seq > number), filters)
    found = connection.execute(query.order_by(requests.c.seq).limit(limit)).all()
    reached = found[-1][0] if len(found) == limit else max(last, number)
    return reached, [rows.decode(row[1:]) for row in found]


def _filtered(query: Select[Any], filters: Filters) -> Select[Any]:
    for name in filters.__struct_fields__:
        wanted = getattr(filters, name)
        if wanted is not None:
            query = query.where(requests.c[name] == wanted)
    if filters.outcome not in (None, "completed"):
        # Says what the filter implies: without it the partial index would not be used.
        query = query.where(requests.c.outcome != "completed")
    return query


def _position(connection: Connection, before: str) -> Position:
    if not before.startswith(REQUEST_ID_PREFIX):
        return read_cursor(before)
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
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, query)

    def _run(self, query: Callable[[Connection], _Answer]) -> _Answer:
        try:
            with self._database.engine.connect() as connection:
                return query(connection)
        except SQLAlchemyError as error:
            unread = Failure(kind=Kind.INTERNAL, message="the journal cannot be read", detail=reason(error))
            raise TidegateError(unread) from error
