"""Answers questions about the whole of the journal off the event loop."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import TypeVar

from msgspec import Struct
from sqlalchemy import Connection, func, literal, select, union_all
from sqlalchemy.exc import SQLAlchemyError

from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.ledger.periods import Period, period_of
from tidegate.storage.database import Database, reason
from tidegate.storage.overview import Overview, Question, read_overview
from tidegate.storage.rows import MICROSECONDS
from tidegate.storage.schema import requests

_AT_ONCE = 100
_Answer = TypeVar("_Answer")


class KeyUse(Struct, frozen=True):
    """When a key was used last (Unix seconds; None: no row tells) and what it spent (nano-USD)."""

    last_used_at: float | None
    spent_today: int
    spent_month: int


class FiguresReader:
    """Reads on threads of its own. What cannot be read raises TidegateError."""

    def __init__(self, database: Database, threads: Executor, clock: Callable[[], float]) -> None:
        self._database = database
        self._threads = threads
        self._clock = clock

    async def overview(self, question: Question) -> Overview:
        """As `read_overview`."""
        return await self._read(lambda connection: read_overview(connection, question))

    async def keys(self, names: Sequence[str]) -> Mapping[str, KeyUse]:
        """What each of these keys did; UTC days and months."""
        now = self._clock()
        return await self._read(lambda connection: read_keys(connection, names, now))

    async def _read(self, query: Callable[[Connection], _Answer]) -> _Answer:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, query)

    def _run(self, query: Callable[[Connection], _Answer]) -> _Answer:
        try:
            with self._database.connect_reader() as connection:
                return query(connection)
        except SQLAlchemyError as error:
            unread = Failure(kind=Kind.INTERNAL, message="the journal cannot be read", detail=reason(error))
            raise TidegateError(unread) from error


def read_keys(connection: Connection, names: Sequence[str], now: float) -> dict[str, KeyUse]:
    """What each of these keys did until `now` (Unix seconds)."""
    used: dict[str, float] = {}
    for start in range(0, len(names), _AT_ONCE):
        newest = [
            select(literal(name), func.max(requests.c.created_at)).where(requests.c.key == name)
            for name in names[start : start + _AT_ONCE]
        ]
        used |= {name: at / MICROSECONDS for name, at in connection.execute(union_all(*newest)) if at}
    today, month = (_spent(connection, period_of(now, period)) for period in ("day", "month"))
    return {name: KeyUse(used.get(name), today.get(name, 0), month.get(name, 0)) for name in names}


def _spent(connection: Connection, period: Period) -> dict[str, int]:
    began = requests.c.created_at
    query = (
        select(requests.c.key, func.sum(requests.c.cost))
        .where(began >= period.start * MICROSECONDS, began < period.end * MICROSECONDS)
        .group_by(requests.c.key)
    )
    return {str(key): int(cost) for key, cost in connection.execute(query) if key is not None}
