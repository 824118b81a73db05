"""The database fails, and comes back."""

import asyncio
import errno
import os
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import event
from tests.unit.storage.stores import done, intent, request, rows, until

from tidegate.ledger.entries import Answer, Balance, Budget, Granted, Unavailable
from tidegate.storage import assembly, books, spool, watch
from tidegate.storage.assembly import Storage, open_storage
from tidegate.storage.database import Database
from tidegate.storage.items import REQUESTS
from tidegate.storage.news import AT_ONCE
from tidegate.storage.scribe import Scribe
from tidegate.storage.verify import verify
from tidegate.storage.writer import Writer


@pytest_asyncio.fixture
async def quick(url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Storage]:
    """A storage whose database gives up a lock after 20 ms instead of two seconds."""
    monkeypatch.setattr(assembly, "Database", lambda url: Database(url, busy_seconds=0.02))
    running = await open_storage(url, 0)
    await running.books.open_accounts([("acme", 1_000)])
    yield running
    await running.close(1.0)
    assert verify(Database(url)) is None
    assert spooled_files(url) == []


def spooled_files(url: str) -> list[str]:
    return sorted(path.name for path in Path(url.removeprefix("sqlite:///") + ".spool").iterdir())


@contextmanager
def locked(url: str) -> Iterator[None]:
    """Another process holds the write lock."""
    other = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


async def away(storage: Storage) -> None:
    """Let the writer find out."""
    storage.journal.write(request(99_999, outcome="completed"))
    await until(lambda: storage.away)


async def asked(storage: Storage, number: int, **changes: object) -> tuple[Answer, float]:
    began = time.monotonic()
    answer = await storage.books.hold(intent(number, **changes))  # type: ignore[arg-type]
    return answer, time.monotonic() - began


async def test_while_it_is_away_only_those_who_pay_later_go_on(url: str, quick: Storage) -> None:
    assert await quick.books.hold(intent(1, 100)) == Granted(100)
    with locked(url):
        await away(quick)
        for number, changes in (
            (2, {}),
            (3, {"prepaid": False, "budgets": (Budget("key:laptop", "day", 500),)}),
        ):
            answer, seconds = await asked(quick, number, **changes)
            assert isinstance(answer, Unavailable)
            assert answer.retry_after > 0
            assert seconds < 2
        answer, seconds = await asked(quick, 4, prepaid=False, account="late")
        assert answer == Granted(100)
        assert seconds < 2
        assert not await quick.ready()
        quick.journal.write(done(1, 30))
        quick.journal.write(done(4, 40, account="late"))
        await until(lambda: quick.spooled == 4 and quick.waiting == 0)  # the hold and three rows
    await quick.journal.flush()
    assert await quick.desk.balances() == [Balance("acme", 970, 0), Balance("late", -40, 0)]
    assert (quick.spooled, quick.waiting, quick.lost, quick.away) == (0, 0, 0, False)
    assert await quick.ready()
    assert await quick.books.hold(intent(5, 100)) == Granted(100)
    quick.journal.write(done(5, 0))


async def test_a_hold_that_was_in_the_failing_batch_is_answered(url: str, quick: Storage) -> None:
    with locked(url):
        refused, granted = await asyncio.gather(
            asked(quick, 1), asked(quick, 2, prepaid=False, account="late")
        )
    assert isinstance(refused[0], Unavailable)
    assert granted[0] == Granted(100)
    await quick.journal.flush()
    assert await quick.desk.balances() == [Balance("acme", 1_000, 0), Balance("late", 0, 100)]
    quick.journal.write(done(2, 10, account="late"))


async def test_a_database_that_comes_and_goes_does_not_flood_the_log(
    url: str, quick: Storage, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(AT_ONCE):
        with locked(url):
            await away(quick)
        await quick.journal.flush()
    told = [line.getMessage() for line in caplog.records if line.name == "tidegate.storage"]
    assert len(told) == AT_ONCE
    assert "cannot be written" in told[0]
    assert "is written again" in told[1]


async def test_an_owned_id_and_a_strange_row_wait_too(url: str, quick: Storage) -> None:
    with locked(url):
        await away(quick)
        quick.ownership.remember(["resp_1"], "acme\ud800", "main")
        quick.journal.write(done(1, 5, model="a\ud800b", output_tokens=2**70))
        await until(lambda: quick.spooled == 3)
    await quick.journal.flush()
    assert rows(quick._database, "SELECT id, account FROM owned_ids") == [("resp_1", "acme?")]
    assert rows(quick._database, "SELECT model, cost FROM requests WHERE cost > 0") == [("a?b", 5)]


async def test_what_waits_on_the_disk_is_written_at_the_next_start(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assembly, "Database", lambda url: Database(url, busy_seconds=0.02))
    first = await open_storage(url, 0)
    await first.books.open_accounts([("acme", 1_000)])
    await first.books.hold(intent(1, 100))
    await first.books.hold(intent(2, 100))
    with locked(url):
        await away(first)
        await first.books.hold(intent(3, 100, prepaid=False, account="late"))
        first.journal.write(done(1, 30))
        first.books.checkpoint([request(2, cost=20), request(3, cost=4, account="late")])
        folder = Path(url.removeprefix("sqlite:///") + ".spool")
        await until(lambda: any(folder.glob("*.checkpoint")))
        first.journal.write(done(4, 1))
        began = time.monotonic()
        await first.close(5.0)
        assert time.monotonic() - began < 3
        assert first.lost == 0
    monkeypatch.undo()  # what the first still does there may hold it for longer than those 20 ms
    second = await open_storage(url, 0)
    assert await second.desk.balances() == [Balance("acme", 949, 0), Balance("late", -4, 0)]
    outcomes = rows(second._database, "SELECT id, outcome, cost FROM requests WHERE cost > 0 ORDER BY id")
    assert outcomes == [
        ("req_00001", "completed", 30),
        ("req_00002", "interrupted", 20),
        ("req_00003", "interrupted", 4),
        ("req_00004", "completed", 1),
    ]
    await second.close()
    assert verify(Database(url)) is None
    assert spooled_files(url) == []


async def test_a_database_that_does_not_answer_is_answered_for(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer hangs in a statement: a lock that is awaited for long."""
    monkeypatch.setattr(assembly, "Database", lambda url: Database(url, busy_seconds=60))
    storage = await open_storage(url, 0)
    storage.books._patience = 0.1, 0.1
    await storage.books.open_accounts([("acme", 1_000)])
    with locked(url):
        (refused, seconds), (granted, _) = await asyncio.gather(
            asked(storage, 1), asked(storage, 2, prepaid=False, account="late")
        )
        assert isinstance(refused, Unavailable)
        assert granted == Granted(100)
        assert seconds < 2
        await until(lambda: storage.away)
        answer, seconds = await asked(storage, 3)
        assert isinstance(answer, Unavailable)
        assert seconds < 2
        answer, seconds = await asked(storage, 4, prepaid=False, account="late")
        assert answer == Granted(100)
        assert seconds < 2
    # Both were committed later than they were answered: the first is given back, the second stands.
    await storage.journal.flush()
    await storage.journal.flush()
    assert await storage.desk.balances() == [Balance("acme", 1_000, 0), Balance("late", 0, 200)]
    await storage.close()
    again = await open_storage(url, 0)
    assert await again.desk.balance("late") == Balance("late", 0, 0)
    await again.close()
    assert verify(Database(url)) is None


async def test_where_the_disk_is_full_too_rows_wait_in_memory(
    url: str, quick: Storage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class FullDisk:
        full = True

        def fsync(self, descriptor: int) -> None:
            if self.full:
                raise OSError(errno.ENOSPC, "No space left on device")

        def __getattr__(self, name: str) -> object:
            return getattr(os, name)

    disk = FullDisk()
    monkeypatch.setattr(spool, "os", disk)
    with locked(url):
        await away(quick)
        assert await quick.books.hold(intent(1, 100, prepaid=False, account="late")) == Granted(100)
        quick.journal.write(done(2, 20))
        await until(lambda: caplog.text.count("spool cannot be written") == 1)
        assert quick.spooled == 0
        disk.full = False  # what was kept in memory goes to the disk as soon as that is possible
        await until(lambda: quick.spooled == 3)
    await quick.journal.flush()
    quick.journal.write(done(1, 10, account="late"))
    await quick.journal.flush()
    assert await quick.desk.balances() == [Balance("acme", 980, 0), Balance("late", -10, 0)]
    assert quick.lost == 0


async def test_a_full_database_loses_nothing(url: str, quick: Storage) -> None:
    """Every connection may grow the file no further, as on a full disk."""
    full = True

    def limit(driver: sqlite3.Connection, _entry: object) -> None:
        if full:
            driver.execute("PRAGMA max_page_count = 1").fetchone()  # the size that it has

    event.listen(quick._database.engine, "connect", limit)
    quick._database.close()
    with pytest.raises(ZeroDivisionError):  # the writer takes a new connection after a failure
        await asyncio.wrap_future(quick._writer.do(lambda _: 1 // 0))
    for number in range(1, 101):
        quick.journal.write(done(number, 1, error_message="x" * 4_000))
    await until(lambda: quick.spooled == 100)
    answer, _ = await asked(quick, 101, prepaid=False, account="late")
    assert answer == Granted(100)
    full = False
    quick._database.close()
    await quick.journal.flush()
    assert rows(quick._database, "SELECT count(*), sum(cost) FROM requests") == [(100, 100)]
    assert await quick.desk.balances() == [Balance("acme", 900, 0), Balance("late", 0, 100)]
    quick.journal.write(done(101, 0, account="late"))


async def test_a_file_that_was_removed_is_made_anew_with_its_opening_balances(
    url: str, quick: Storage, caplog: pytest.LogCaptureFixture
) -> None:
    await quick.books.hold(intent(1, 100))
    path = Path(url.removeprefix("sqlite:///"))
    for file in path.parent.glob(path.name + "*"):
        if file.is_file():
            file.unlink()
    assert await quick.books.hold(intent(2, 100)) == Granted(100)
    quick.journal.write(done(1, 10))
    quick.journal.write(done(2, 20))
    await quick.journal.flush()
    assert await quick.desk.balance("acme") == Balance("acme", 970, 0)
    assert "removed or replaced" in caplog.text


async def test_a_hang_is_broken_off_whatever_hangs(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it is the note that this process lives."""
    monkeypatch.setattr(assembly, "Database", lambda url: Database(url, busy_seconds=60))
    monkeypatch.setattr(assembly, "_TENDING", 0.001)
    monkeypatch.setattr(watch, "HANGS", 0.2)
    broken_off = threading.Event()
    monkeypatch.setattr(Scribe, "interrupt", lambda _: broken_off.set())
    storage = await open_storage(url, 0)
    with locked(url):
        await until(broken_off.is_set)
    await storage.close()
    assert verify(Database(url)) is None


async def test_a_process_goes_on_saying_that_it_lives(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever goes wrong: others would take it for dead and end its requests."""
    monkeypatch.setattr(assembly, "_TENDING", 0.001)
    storage = await open_storage(url, 0)

    def broken() -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(storage._recovery, "sweep", broken)
    await until(lambda: caplog.text.count("ZeroDivisionError") > 1)
    await storage.close()


async def test_a_file_that_is_broken_loses_no_rows(url: str, quick: Storage) -> None:
    """They wait on the disk for an operator who puts a good one in its place."""
    path = Path(url.removeprefix("sqlite:///"))
    await quick.journal.flush()
    quick._writer._batches._scribe.disconnect()
    quick._database.close()
    whole = path.read_bytes()
    path.write_bytes(b"this is no database" * 400)
    quick.journal.write(done(1, 10))
    await until(lambda: quick.spooled == 1)
    assert quick.lost == 0
    path.write_bytes(whole)
    await quick.journal.flush()
    assert await quick.desk.balance("acme") == Balance("acme", 990, 0)


async def test_nobody_is_let_in_whose_row_could_not_be_kept(url: str, database: Database) -> None:
    """Neither the database nor the disk takes anything: memory has a bound."""
    writer = Writer(database, window=0.001, bound=20)
    asking = books.DatabaseBooks(writer)
    with locked(url):
        writer.put(REQUESTS, request(99_999, outcome="completed"))
        await until(lambda: writer.away)
        asked = [await asking.hold(intent(number, 1, prepaid=False, account="late")) for number in range(30)]
        granted = [number for number, answer in enumerate(asked) if answer == Granted(1)]
        assert granted == list(range(9))
        assert all(isinstance(answer, Unavailable) for answer in asked[9:])
        for number in granted:
            writer.put(REQUESTS, done(number, 1, account="late"))
        assert writer.lost == 0
    await writer.flush()
    assert rows(database, "SELECT sum(cost) FROM requests") == [(9,)]
    await writer.close()
