"""Reads new rows of the journal once for everybody in this process who wants to see them come."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import Connection, func, or_, select
from sqlalchemy.exc import SQLAlchemyError

from tidegate.exchange.ports import RequestRecord
from tidegate.storage import rows
from tidegate.storage.database import Database, DatabaseUnusable
from tidegate.storage.following import Place, advance, begin
from tidegate.storage.journal_query import newest_numbers
from tidegate.storage.schema import requests
from tidegate.storage.statements import Statements

POLL = 0.5
"""Seconds between two looks at the journal, while anybody looks."""

KEPT = 2_000
"""Rows kept for those who fall behind; who falls behind further misses the oldest."""

MOST_MISSED = 5_000
"""Rows that are read again for one who comes back, the newest of them."""

_BEGIN = 1_000
_STEP = 500
_AGAIN = 1.0
_COLUMNS = [requests.c.seq, *(requests.c[name] for name in rows.COLUMNS)]
_NAMES = ", ".join(f'"{column.name}"' for column in _COLUMNS)

_Answer = TypeVar("_Answer")


class Seen:
    """A row that has come, and the place after it. It is decoded once, if anybody wants it."""

    def __init__(self, place: Place, row: Sequence[Any]) -> None:
        self.place = place
        self.number: int = row[0]
        self.row = row[1:]
        self.shown: bytes | None = None
        """What the first who showed it made of it, for all others."""

    @cached_property
    def record(self) -> RequestRecord:
        """The row."""
        return rows.decode(self.row)


class Away:
    """The journal cannot be read; more follows when it can."""


class Back:
    """The journal can be read again; nothing is missing."""


News: TypeAlias = Seen | Away | Back


class LiveTail:
    """The one reader. It looks at the journal only while somebody does."""

    def __init__(self, database: Database, threads: Executor, clock: Callable[[], float] = time.monotonic):
        self._database = database
        self._threads = threads
        self._clock = clock
        self._news: deque[News] = deque(maxlen=KEPT)
        self._count = 0
        self._place: Place | None = None
        self._begun = asyncio.Event()
        self._come = asyncio.Event()
        self._away = False
        self._watchers = 0
        self._reading: asyncio.Task[None] | None = None

    @property
    def away(self) -> bool:
        """Whether the journal cannot be read now."""
        return self._away

    @property
    def watchers(self) -> int:
        """How many look."""
        return self._watchers

    def watch(self, since: Place | None = None) -> "Watch":
        """Begin to look: from now on, or from the place that an earlier look had come to."""
        self._watchers += 1
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_on())
        return Watch(self, since)

    def leave(self) -> None:
        """One looks no more."""
        self._watchers -= 1
        if self._watchers == 0 and self._reading is not None:
            self._reading.cancel()
            self._reading = None
            self._place, self._away = None, False
            self._begun.clear()
            self._news.clear()

    async def close(self) -> None:
        """Read no more; those who look see nothing new."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])

    async def begun(self) -> tuple[Place | None, int]:
        """The place reached and the number of its news; None: the journal cannot be read yet."""
        await self._begun.wait()
        return self._place, self._count

    def since(self, number: int) -> tuple[int, list[News]]:
        """How many news after that number are gone, and the rest of them."""
        behind = self._count - number
        kept = min(behind, len(self._news))
        return behind - kept, [self._news[place] for place in range(len(self._news) - kept, len(self._news))]

    async def wait(self) -> None:
        """Until there are news."""
        await self._come.wait()

    async def _read_on(self) -> None:
        while True:
            try:
                found = await self._run(self._step)
            except (SQLAlchemyError, DatabaseUnusable):
                self._tell([] if self._away else [Away()])
                self._away = True
                self._begun.set()
                await asyncio.sleep(_AGAIN)
                continue
            place, seen = found
            self._place = place
            self._tell([Back(), *seen] if self._away else seen)
            self._away = False
            self._begun.set()
            await asyncio.sleep(0 if len(seen) >= _STEP else POLL)

    def _tell(self, news: Sequence[News]) -> None:
        if news:
            self._news.extend(news)
            self._count += len(news)
            self._come.set()
            self._come = asyncio.Event()

    def _step(self, connection: Connection) -> tuple[Place, list[Seen]]:
        place = self._place
        if place is None:
            return begin(newest_numbers(connection, _BEGIN), self._clock()), []
        seen = []
        now = self._clock()
        for row in _new_rows(connection, place):
            follows = row[0] == place.number + 1 and not place.missing
            place = Place(row[0]) if follows else advance(place, [row[0]], now)
            seen.append(Seen(place, row))
        return (seen[-1].place if seen else advance(place, [], now)), seen

    async def _run(self, query: Callable[[Connection], _Answer]) -> _Answer:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._ask, query)

    def _ask(self, query: Callable[[Connection], _Answer]) -> _Answer:
        with self._database.connect_reader() as connection:
            return query(connection)

    async def missed(self, since: Place, reached: Place) -> tuple[int, list[Seen]]:
        """What came after `since` and not after `reached`: how many rows are too many, and the newest."""
        return await self._run(lambda connection: _missed(connection, since, reached))


def _new_rows(connection: Connection, place: Place) -> Sequence[Sequence[Any]]:
    """The lowest of the rows that have come since, each after its number."""
    connection.execute(select(1))  # begins the transaction
    # Not through SQLAlchemy, which takes twice as long for a row.
    statements = Statements(connection)
    mark, missing = statements.wording.mark, list(place.missing)
    late = f" OR seq IN ({','.join([mark] * len(missing))})" if missing else ""
    text = f"SELECT {_NAMES} FROM requests WHERE seq > {mark}{late} ORDER BY seq LIMIT {_STEP}"  # noqa: S608 (our own names)
    return statements.rows(text, [place.number, *missing])


def read_numbers(connection: Connection, numbers: Sequence[int]) -> Sequence[Sequence[Any]]:
    """The rows of these numbers, each after its number, in the order of the numbers."""
    if not numbers:
        return []
    query = select(*_COLUMNS).where(requests.c.seq.in_(numbers)).order_by(requests.c.seq)
    return connection.execute(query).all()


def _missed(connection: Connection, since: Place, reached: Place) -> tuple[int, list[Seen]]:
    """Numbers that `reached` still waits for come to everybody."""
    wanted = or_(
        (requests.c.seq > since.number) & (requests.c.seq <= reached.number),
        requests.c.seq.in_(since.missing),
    ) & requests.c.seq.not_in(reached.missing)
    count = connection.execute(select(func.count()).where(wanted)).scalar_one()
    newest = select(requests.c.seq).where(wanted).order_by(requests.c.seq.desc()).limit(MOST_MISSED)
    late = set(since.missing)
    waited = {number: until for number, until in reached.missing.items() if number > since.number}
    seen = []
    for row in read_numbers(connection, list(connection.execute(newest).scalars())):
        late.discard(row[0])
        number = max(since.number, row[0])
        missing = dict.fromkeys(late, 0.0) | {one: until for one, until in waited.items() if one < number}
        seen.append(Seen(Place(number, missing), row))
    return count - len(seen), seen


class Watch:
    """One who looks. What it has not taken waits with the reader, so that it costs no memory of its own."""

    def __init__(self, live: LiveTail, since: Place | None) -> None:
        self._live = live
        self._since = since
        self._number: int | None = None
        self._first: list[News] = []

    async def take(self, patience: float) -> tuple[int, list[News]]:
        """How many news were missed, and the next, which are waited for.

        They are empty when nothing came in `patience` seconds.
        """
        if self._number is None:
            return await self._start()
        try:
            async with asyncio.timeout(patience):
                while self._live.since(self._number) == (0, []):
                    await self._live.wait()
        except TimeoutError:
            return 0, []
        lost, news = self._live.since(self._number)
        self._number += lost + len(news)
        return lost, [one for one in news if not self._knows(one)]

    async def begin(self) -> Place | None:
        """The place after which nothing is missed; None: the journal cannot be read yet."""
        reached, number = await self._live.begun()
        if self._since is None and reached is not None and not self._live.away:
            self._number = number
        return self._since or reached

    async def _start(self) -> tuple[int, list[News]]:
        """What came between the place to go on from and now."""
        reached, number = await self._live.begun()
        if reached is not None:
            try:
                lost, missed = await self._catch_up(reached)
            except (SQLAlchemyError, DatabaseUnusable):
                reached = None
            else:
                self._number = number
                return lost, [*([Back()] if self._first else []), *missed, *self._trouble()]
        if not self._first:
            self._first = [Away()]
            return 0, self._first
        await asyncio.sleep(_AGAIN)
        return 0, []

    def _trouble(self) -> list[News]:
        return [Away()] if self._live.away else []

    async def _catch_up(self, reached: Place) -> tuple[int, list[Seen]]:
        if self._since is not None and self._since.number > reached.number + KEPT:
            self._since = None  # of another database
        return (0, []) if self._since is None else await self._live.missed(self._since, reached)

    def _knows(self, one: News) -> bool:
        if not isinstance(one, Seen) or self._since is None:
            return False
        return one.number <= self._since.number and one.number not in self._since.missing

    def close(self) -> None:
        """Look no more."""
        self._live.leave()
