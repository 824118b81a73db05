"""What waits for a batch that hangs is on the disk in less than a second."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.unit.storage.stores import done, intent, request, rows, until
from tests.unit.storage.test_away import locked, spooled_files

from tidegate.ledger.entries import Balance, Granted
from tidegate.storage import assembly
from tidegate.storage.assembly import Storage, open_storage
from tidegate.storage.checkpoints import newest
from tidegate.storage.database import Database
from tidegate.storage.items import Row, Ticket
from tidegate.storage.refuge import batches, by_table
from tidegate.storage.verify import verify


@pytest_asyncio.fixture
async def patient(url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Storage]:
    """A storage that waits for a lock for a minute: nobody breaks its batches off in this file."""
    monkeypatch.setattr(assembly, "Database", lambda url: Database(url, busy_seconds=60))
    monkeypatch.setattr("tidegate.storage.watch.HANGS", 60)
    running = await open_storage(url, 0)
    running.books._patience = 60.0, 60.0
    await running.books.open_accounts([("acme", 1_000)])
    yield running
    await running.close()
    assert verify(Database(url)) is None
    assert spooled_files(url) == []


def on_disk(url: str) -> set[str]:
    (path,) = Path(url.removeprefix("sqlite:///") + ".spool").glob("*.spool")
    entries = [one for some in batches(path, by_table(())) for one in some]
    return {one.record.id for one in entries if isinstance(one, Row)}


async def hang(storage: Storage) -> None:
    """A batch hangs when this returns."""
    storage.journal.write(request(99_999, outcome="completed"))
    await until(lambda: storage._writer._batches.busy_since is not None)


async def test_a_row_in_the_hanging_batch_and_one_behind_it_are_on_the_disk(
    url: str, patient: Storage
) -> None:
    with locked(url):
        await hang(patient)
        patient.journal.write(done(1, 5))
        await until(lambda: patient.spooled == 2)
        assert on_disk(url) == {request(99_999).id, request(1).id}
        patient.journal.write(done(2, 6))
        await until(lambda: patient.spooled == 3)
        assert not patient._writer._batches.away, "it hangs still"
    await patient.journal.flush()
    assert rows(patient._database, "SELECT cost FROM requests WHERE cost > 0 ORDER BY cost") == [(5,), (6,)]
    assert await patient.desk.balances() == [Balance("acme", 989, 0)]


async def test_what_open_requests_have_used_is_on_the_disk(url: str, patient: Storage) -> None:
    assert await patient.books.hold(intent(1, 100)) == Granted(100)
    assert await patient.books.hold(intent(2, 100)) == Granted(100)
    with locked(url):
        await hang(patient)
        patient.books.checkpoint([request(1, cost=5), request(2, cost=6)])
        patient.books.checkpoint([request(2, cost=7)])
        folder = Path(url.removeprefix("sqlite:///") + ".spool")
        await until(lambda: any(folder.glob("*.checkpoint")))
        (path,) = folder.glob("*.checkpoint")
        assert {one.cost for one in newest(path).values()} == {5, 7}
    for number in (1, 2):
        patient.journal.write(done(number, number))
    await patient.journal.flush()
    assert await patient.desk.balances() == [Balance("acme", 997, 0)]


async def test_a_job_behind_rows_that_are_on_the_disk_waits_for_them(url: str, patient: Storage) -> None:
    with locked(url):
        await hang(patient)
        patient.journal.write(done(1, 5))
        flushed = asyncio.ensure_future(patient.journal.flush())
        await until(lambda: patient.spooled == 2)
        assert not flushed.done()
    await flushed
    assert rows(patient._database, "SELECT count(*) FROM requests") == [(2,)]


async def test_a_job_that_was_in_its_hands_is_not_forgotten(
    url: str, patient: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch ends while the watch looks through the queue: the writer sees nothing to do, and sleeps."""
    waiting = patient._writer._waiting
    taken = waiting.take_holds_on_credit

    def after_the_batch() -> list[Ticket]:
        job = waiting.queue.popleft()
        free.set()
        while patient._writer._batches.busy_since is not None:
            time.sleep(0.01)
        time.sleep(0.1)
        waiting.queue.appendleft(job)
        return taken()

    free = threading.Event()
    busy = patient._writer.do(lambda _: free.wait(60))
    await until(lambda: patient._writer._batches.busy_since is not None)
    monkeypatch.setattr(waiting, "take_holds_on_credit", after_the_batch)
    job = patient._writer.do(None)
    await asyncio.wait_for(asyncio.wrap_future(job), 20.0)
    monkeypatch.undo()
    assert busy.result()


async def test_checkpoints_are_written_also_while_there_is_always_other_work(patient: Storage) -> None:
    assert await patient.books.hold(intent(1, 1)) == Granted(1)
    enough = threading.Event()

    def again(_connection: object) -> None:
        if not enough.is_set():
            patient._writer.do(again)

    patient._writer.do(again)
    patient.books.checkpoint([request(1, cost=1, output_tokens=77)])
    try:
        await until(lambda: "77" in str(rows(patient._database, "SELECT record FROM intents")))
    finally:
        enough.set()
    patient.journal.write(done(1, 1))
    await patient.journal.flush()


async def test_a_hold_on_credit_is_granted_as_soon_as_it_is_on_the_disk(url: str, patient: Storage) -> None:
    with locked(url):
        first, second = (
            asyncio.ensure_future(patient.books.hold(intent(number, 100, prepaid=False, account="late")))
            for number in (1, 2)
        )
        assert await asyncio.wait_for(first, 20.0) == Granted(100)
        third = await asyncio.wait_for(
            patient.books.hold(intent(3, 100, prepaid=False, account="late")), 20.0
        )
        assert (await second, third) == (Granted(100), Granted(100))
        assert patient.spooled >= 3
        assert not patient._writer._batches.away, "it hangs still"
        refused = asyncio.ensure_future(patient.books.hold(intent(4, 100)))
        await asyncio.sleep(0.3)
        assert not refused.done(), "what must be covered waits"
    assert await refused == Granted(100)
    for number, account in ((1, "late"), (2, "late"), (3, "late"), (4, "acme")):
        patient.journal.write(done(number, number, account=account))
    await patient.journal.flush()
    assert await patient.desk.balances() == [Balance("acme", 996, 0), Balance("late", -6, 0)]
