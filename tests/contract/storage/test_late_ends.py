"""A node that was cut off for long comes back: others have settled its requests as interrupted."""

import asyncio
from functools import partial
from pathlib import Path

import pytest
from tests.unit.storage.stores import done, intent, moved, request, rows

from tidegate.ledger.entries import Balance, Budget, Granted
from tidegate.storage.assembly import Storage
from tidegate.storage.checkpoints import note
from tidegate.storage.recovery import Recovery

BUDGET = Budget("key:laptop", "day", 10_000)


async def cut_off(storage: Storage, tmp_path: Path, *costs: int) -> None:
    """Requests 1, 2, … hold 100 each, and another machine settles them with `costs`."""
    for number in range(1, len(costs) + 1):
        assert await storage.books.hold(intent(number, 100, budgets=(BUDGET,))) == Granted(100)
    noted = [request(number, cost=cost) for number, cost in enumerate(costs, 1)]
    await asyncio.wrap_future(storage._writer.do(partial(note, records=noted)))
    Recovery(storage._database, tmp_path / "elsewhere", "other", ())._recover(storage._owner.id)
    found = rows(storage._database, "SELECT outcome, cost FROM requests ORDER BY id")
    assert found == [("interrupted", cost) for cost in costs]


async def test_what_it_knows_better_is_booked(
    storage: Storage, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await cut_off(storage, tmp_path, 10, 20, 30)
    storage.journal.write(done(1, 70, output_tokens=99, items=()))  # more than had been noted
    storage.journal.write(done(2, 5))  # less
    storage.journal.write(request(3, cost=30))  # as it was noted
    await storage.journal.flush()
    found = rows(storage._database, "SELECT outcome, cost, output_tokens FROM requests ORDER BY id")
    assert found == [("completed", 70, 99), ("completed", 20, 12), ("interrupted", 30, 12)]
    assert moved(storage, request(1).id)[1:] == [
        ("settle", "held", "income", 10),
        ("release", "held", "available", 90),
        ("settle", "available", "income", 60),
    ]
    assert moved(storage, f"late:{request(2).id}") == [("refund", "income", "available", 15)]
    assert await storage.desk.balance("acme") == Balance("acme", 1_000 - 70 - 5 - 30, 0)
    assert rows(storage._database, "SELECT DISTINCT spent, held FROM spending") == [(120, 0)]
    assert caplog.text.count("had settled it as interrupted") == 2


async def test_it_is_booked_once(storage: Storage, tmp_path: Path) -> None:
    await cut_off(storage, tmp_path, 10, 20)
    for _ in range(2):
        storage.journal.write(done(1, 70))
        storage.journal.write(done(2, 5))
        await storage.journal.flush()
    assert await storage.desk.balance("acme") == Balance("acme", 925, 0)


async def test_what_cannot_be_booked_any_more_is_told(
    storage: Storage, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await cut_off(storage, tmp_path, 150)
    storage.journal.write(done(1, 170))
    await storage.journal.flush()
    assert rows(storage._database, "SELECT outcome, cost FROM requests") == [("interrupted", 150)]
    assert await storage.desk.balance("acme") == Balance("acme", 850, 0)
    assert "0.000000020 USD are not charged" in caplog.text


async def test_a_row_that_went_well_stays_as_it_is(storage: Storage) -> None:
    storage.journal.write(done(1, 10))
    await storage.journal.flush()
    storage.journal.write(request(1, cost=50))
    storage.journal.write(done(1, 60))
    await storage.journal.flush()
    assert rows(storage._database, "SELECT outcome, cost FROM requests") == [("completed", 10)]
