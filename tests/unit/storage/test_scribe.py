"""What the database does not take of a batch costs nobody else anything, and no hold stays open for it."""

import pytest
from tests.unit.storage.records import record
from tests.unit.storage.stores import done, intent, rows

from tidegate.ledger.entries import Balance, Granted
from tidegate.ledger.money import MOST
from tidegate.storage import rows as row_values
from tidegate.storage.assembly import Storage


async def test_a_balance_that_would_overflow_is_not_charged_but_its_row_is_there(
    storage: Storage, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(1, 12):
        asked = intent(number, 100, prepaid=False, account="late")
        assert await storage.books.hold(asked) == Granted(100)
        storage.journal.write(done(number, MOST, account="late"))
        await storage.journal.flush()
    assert await storage.desk.balance("late") == Balance("late", -9 * MOST, 0)
    found = rows(storage._database, "SELECT cost, warnings FROM requests ORDER BY id")
    assert found == [(MOST, '["dropped:top_k"]')] * 9 + [(0, '["dropped:top_k","clamped:cost"]')] * 2
    assert storage.lost == 0
    assert "1000000000.000000000 USD are not charged" in caplog.text


async def test_a_row_that_cannot_be_written_at_all_frees_its_hold(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await storage.books.hold(intent(1, 100)) == Granted(100)
    encode = row_values.encode

    def broken(one: object) -> list[object]:
        values = encode(one)  # type: ignore[arg-type]
        if values[0] == record(1).id:
            raise ValueError("no column takes this")
        return values

    monkeypatch.setattr(row_values, "encode", broken)
    storage.journal.write(done(1, 10))
    storage.journal.write(done(2, 5))
    await storage.journal.flush()
    assert storage.lost == 1
    assert await storage.desk.balance("acme") == Balance("acme", 995, 0)
