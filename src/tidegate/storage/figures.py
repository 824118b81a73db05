"""Answers questions about the whole of the journal off the event loop."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import NoReturn, TypeVar

from msgspec import Struct
from sqlalchemy import Connection, func, literal, select, union_all

from tidegate.ledger.periods import DAY, Period, period_of
from tidegate.storage.database import Database
from tidegate.storage.figure_keeper import FigureKeeper
from tidegate.storage.overview import Overview, Question, read_overview
from tidegate.storage.reading import no_journal, read
from tidegate.storage.rows import MICROSECONDS
from tidegate.storage.schema import figure_buckets, figure_combinations, requests
from tidegate.storage.sums import SUMS
from tidegate.storage.tally import DIMENSIONS
from tidegate.storage.uncounted import uncounted

SHARED = 1.0
"""Seconds for which an overview answers the same question again."""

_AT_ONCE = 100
_KEY = DIMENSIONS.index("key")
_COST = SUMS.index("cost")
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
        self._keeper = FigureKeeper(database, clock)
        self._keeping: asyncio.Task[NoReturn] | None = None
        self._asked: dict[Question, tuple[float, asyncio.Future[Overview]]] = {}

    def now(self) -> float:
        """Unix seconds, as the buckets know them."""
        return self._clock()

    def keep(self) -> None:
        """Add up requests in the background from now on; what is not counted is read with each answer."""
        if self._keeping is None:
            self._keeping = asyncio.create_task(self._keeper.run())

    async def close(self) -> None:
        """Add up no more."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait([self._keeping])
        self._keeper.close()

    async def overview(self, question: Question) -> tuple[float, Overview]:
        """As `read_overview`, and when it was read (Unix seconds): a second ago at most.

        Many consoles that ask the same are answered by one reading.
        """
        now = self._clock()
        asked = self._asked.get(question)
        if asked is None or not asked[0] <= now < asked[0] + SHARED or _failed(asked[1]):
            reading = asyncio.ensure_future(
                self._read(lambda connection: read_overview(connection, question))
            )
            self._asked = {one: other for one, other in self._asked.items() if now < other[0] + SHARED}
            self._asked[question] = asked = (now, reading)
        return asked[0], await asyncio.shield(asked[1])

    async def keys(self, names: Sequence[str]) -> Mapping[str, KeyUse]:
        """What each of these keys did; UTC days and months."""
        now = self._clock()
        return await self._read(lambda connection: read_keys(connection, names, now))

    async def _read(self, query: Callable[[Connection], _Answer]) -> _Answer:
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, read, self._database, query, no_journal
        )


def _failed(reading: "asyncio.Future[Overview]") -> bool:
    return reading.done() and (reading.cancelled() or reading.exception() is not None)


def read_keys(connection: Connection, names: Sequence[str], now: float) -> dict[str, KeyUse]:
    """What each of these keys did until `now` (Unix seconds)."""
    used: dict[str, float] = {}
    for start in range(0, len(names), _AT_ONCE):
        newest = [
            select(literal(name), func.max(requests.c.created_at)).where(requests.c.key == name)
            for name in names[start : start + _AT_ONCE]
        ]
        used |= {name: at / MICROSECONDS for name, at in connection.execute(union_all(*newest)) if at}
    today, month = (period_of(now, period) for period in ("day", "month"))
    spent = _spent(connection, month)
    return {
        name: KeyUse(
            used.get(name),
            sum(cost for at, cost in spent.get(name, ()) if today.start <= at < today.end),
            sum(cost for _, cost in spent.get(name, ())),
        )
        for name in names
    }


def _spent(connection: Connection, period: Period) -> dict[str, list[tuple[int, int]]]:
    """What each key spent on the days of a period, some days in several parts."""
    recent = uncounted(connection, DAY)
    buckets, names = figure_buckets.c, figure_combinations.c
    query = (
        select(names.key, buckets.at, func.sum(buckets.cost))
        .join_from(figure_buckets, figure_combinations, buckets.combination == names.number)
        .where(buckets.seconds == DAY, buckets.at >= period.start, buckets.at < period.end)
        .group_by(names.key, buckets.at)
    )
    found: dict[str, list[tuple[int, int]]] = {}
    for key, at, cost in connection.execute(query):
        found.setdefault(key, []).append((at, int(cost)))
    for (at, combination), sums in recent.sums.items():
        key = combination[_KEY]
        if key is not None and period.start <= at < period.end:
            found.setdefault(str(key), []).append((at, sums[_COST]))
    return found
