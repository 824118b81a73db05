"""Whoever looks sees each row once, in whatever order they are committed and whoever is slow."""

import asyncio
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
import pytest_asyncio
from sqlalchemy import event
from tests.unit.storage.records import record

from tidegate.exchange.ports import RequestRecord
from tidegate.storage import live_tail, rows
from tidegate.storage.database import Database
from tidegate.storage.following import Place
from tidegate.storage.live_tail import Away, Back, LiveTail, News, Seen, Watch
from tidegate.storage.statements import Statements


@pytest_asyncio.fixture
async def live(database: Database, url: str) -> AsyncIterator[LiveTail]:
    threads, own = ThreadPoolExecutor(2), Database(url)
    running = LiveTail(own, threads)
    yield running
    await running.close()
    threads.shutdown(wait=True)
    own.close()


def put(database: Database, *numbers: int) -> None:
    insert(database, [record(number) for number in numbers])


def insert(database: Database, records: list[RequestRecord]) -> None:
    with database.connect_writer() as connection, connection.begin():
        Statements(connection).insert("requests", rows.COLUMNS, [rows.encode(one) for one in records])


async def take(watch: Watch, count: int, within: float = 20.0) -> tuple[int, list[News]]:
    """The next news, and how many were missed before them."""
    missed, found = 0, list[News]()
    async with asyncio.timeout(within):
        while len(found) < count:
            lost, news = await watch.take(0.5)
            missed += lost
            found += news
    return missed, found


def ids(news: list[News]) -> list[int]:
    return [int(one.record.id.removeprefix("req_")) for one in news if isinstance(one, Seen)]


async def test_all_who_look_share_one_reader(database: Database, live: LiveTail) -> None:
    asked, began = list[str](), time.monotonic()
    event.listen(live._database.engine, "before_cursor_execute", lambda *said: asked.append(said[2]))
    put(database, 1)
    watches = [live.watch() for _ in range(20)]
    for watch in watches:
        await watch.begin()
    put(database, 2, 3)
    found = [(await take(watch, 2))[1] for watch in watches]
    assert [ids(news) for news in found] == [[2, 3]] * 20
    assert len({id(news[0]) for news in found}) == 1
    looks = (time.monotonic() - began) / live_tail.POLL + 2
    assert len(asked) < 5 * looks  # as one reader asks, not twenty
    for watch in watches:
        watch.close()
    before = len(asked)
    await asyncio.sleep(2.5 * live_tail.POLL)
    assert len(asked) <= before + 1  # nobody looks any more


async def test_who_is_slow_misses_the_oldest_and_is_told(
    database: Database, live: LiveTail, monkeypatch: pytest.MonkeyPatch
) -> None:
    live._news = type(live._news)(maxlen=5)
    slow = live.watch()
    await slow.begin()
    await slow.take(0.01)
    put(database, *range(1, 13))
    quick = live.watch(Place(0))
    while live.since(0)[0] < 7:
        await asyncio.sleep(0.02)
    missed, found = await take(slow, 5)
    assert (missed, ids(found)) == (7, [8, 9, 10, 11, 12])
    slow.close()
    quick.close()


async def test_who_comes_back_goes_on_where_it_was(
    database: Database, live: LiveTail, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(database, *range(1, 10))
    watch = live.watch(Place(4, {2: 0.0}))
    missed, found = await take(watch, 6)
    assert (missed, ids(found)) == (0, [2, 5, 6, 7, 8, 9])
    places = [one.place for one in found if isinstance(one, Seen)]
    assert [(place.number, set(place.missing)) for place in places][:2] == [(4, set()), (5, set())]
    put(database, 10)
    assert ids((await take(watch, 1))[1]) == [10]
    monkeypatch.setattr(live_tail, "MOST_MISSED", 3)
    again = live.watch(Place(1))
    missed, found = await take(again, 3)
    assert (missed, ids(found)) == (6, [8, 9, 10])
    watch.close()
    again.close()


async def test_a_place_of_another_database_is_no_place(database: Database, live: LiveTail) -> None:
    put(database, 1)
    watch = live.watch(Place(10**9))
    await watch.take(0.01)
    put(database, 2)
    assert ids((await take(watch, 1))[1]) == [2]
    watch.close()


async def test_trouble_is_told_and_nothing_is_missed(database: Database, live: LiveTail) -> None:
    watch = live.watch()
    await watch.begin()
    put(database, 1)
    assert ids((await take(watch, 1))[1]) == [1]
    rename(database, "requests", "hidden")
    assert [type(one) for one in (await take(watch, 1))[1]] == [Away]
    late = live.watch()
    assert [type(one) for one in (await take(late, 1))[1]] == [Away]
    rename(database, "hidden", "requests")
    put(database, 2)
    back, *rest = (await take(watch, 2))[1]
    assert (type(back), ids(rest)) == (Back, [2])
    watch.close()
    late.close()


def rename(database: Database, old: str, new: str) -> None:
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql(f"ALTER TABLE {old} RENAME TO {new}")


class TestLateCommits:
    """Only PostgreSQL shows a lower number after a higher one."""

    @pytest.fixture
    def kind(self) -> str:
        return "postgresql"

    async def test_a_row_that_is_committed_late_comes_late(
        self, database: Database, url: str, live: LiveTail
    ) -> None:
        watch = live.watch()
        await watch.begin()
        names = ",".join(f'"{name}"' for name in rows.COLUMNS)
        marks = ",".join(["%s"] * len(rows.COLUMNS))
        with psycopg.connect(url) as late:
            late.execute(f"INSERT INTO requests ({names}) VALUES ({marks})", rows.encode(record(1)))
            put(database, 2)
            [seen] = (await take(watch, 1))[1]
            assert isinstance(seen, Seen)
            assert (ids([seen]), set(seen.place.missing)) == ([2], {1})
            late.commit()
        assert ids((await take(watch, 1))[1]) == [1]
        again = live.watch(Place(2, {1: 0.0}))
        assert ids((await take(again, 1))[1]) == [1]
        watch.close()
        again.close()
