from pathlib import Path

import pytest
from tests.unit.storage.stores import done, intent

from tidegate.ledger.entries import Balance, Budget
from tidegate.storage.assembly import open_storage
from tidegate.storage.database import Database, DatabaseUnusable
from tidegate.storage.ledger_desk import LedgerFile, read_balances
from tidegate.storage.verify import Difference, rebuild, verify

BUDGETS = (Budget("key:laptop", "day", 10_000), Budget("account:acme", "month", 10_000))


async def filled(url: str) -> Database:
    """Books with everything in them; one hold is left open, as while a gateway runs."""
    storage = await open_storage(url, 0)
    await storage.books.open_accounts([("acme", 1_000)])
    for number in range(1, 4):
        await storage.books.hold(intent(number, 100, budgets=BUDGETS))
    storage.journal.write(done(1, 30))
    storage.journal.write(done(2, 130))
    storage.journal.write(done(9, 5))
    await storage.journal.flush()
    await storage.desk.refund("req_00002", 10, "r")
    await storage.close()
    return Database(url)


DAMAGE = {
    "UPDATE balances SET balance = balance + 1": "account acme: its balance is 0.000000846",
    "UPDATE balances SET held = 0": "its postings come to 0.000000845 with 0.000000100 held",
    "DELETE FROM balances": "account acme: its balance is 0.000000000",
    "INSERT INTO balances VALUES ('ghost', 5, 0, false)": "account ghost: .* has no postings",
    "DELETE FROM intents": "req_00003: its postings leave 0.000000100 held, its open hold is 0.000000000",
    "UPDATE intents SET amount = 99": "req_00003: its postings leave 0.000000100 held",
    "INSERT INTO intents VALUES ('req_x', 'acme', NULL, 7, 'o', 1, '{}')": "req_x: its open hold",
    "UPDATE requests SET cost = 31 WHERE id = 'req_00001'": "req_00001: its row says .* cost 0.000000031",
    "UPDATE requests SET cost = 0 WHERE id = 'req_00009'": "req_00009: .* postings charge 0.000000005",
    "UPDATE requests SET id = 'req_00003' WHERE id = 'req_00009'": "req_00003: its row is written",
    "UPDATE spending SET spent = spent + 1": "budget of account:acme .* 0.000000166 spent",
    "UPDATE spending SET held = 0 WHERE scope = 'key:laptop'": "budget of key:laptop",
    "DELETE FROM postings WHERE kind = 'credit'": "account acme",
    "DELETE FROM postings WHERE reference = 'req_00001' AND kind = 'release'": "account acme",
    "DELETE FROM requests WHERE id = 'req_00001'": "req_00001: it was charged 0.000000030, but has no row",
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_every_damage_is_found(url: str, damage: str) -> None:
    database = await filled(url)
    assert verify(database) is None
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql(damage)
        if damage.startswith("DELETE FROM requests"):
            # An older row is still there, so it is not retention that took this one.
            connection.exec_driver_sql("UPDATE requests SET created_at = 1 WHERE id = 'req_00009'")
    found = verify(database)
    assert isinstance(found, Difference)
    with pytest.raises(AssertionError, match=DAMAGE[damage]):
        raise AssertionError(found.what)
    database.close()


async def test_a_posting_that_is_there_twice_is_found(url: str) -> None:
    database = await filled(url)
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql("DROP INDEX postings_reference")
        columns = 'reference, kind, account, "key", source, target, amount, at, note'
        connection.exec_driver_sql(
            f"INSERT INTO postings ({columns}) SELECT {columns} FROM postings WHERE kind = 'refund'"
        )
    assert verify(database) == Difference("r: refund from income is booked 2 times")
    database.close()


async def test_rows_that_retention_took_are_no_difference(url: str) -> None:
    database = await filled(url)
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql("DELETE FROM requests")
    assert verify(database) is None
    database.close()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE balances SET balance = 7, held = 0, budgeted = false",
        "DELETE FROM balances",
        "UPDATE spending SET spent = 9, held = 9",
    ],
)
async def test_what_is_derived_can_be_rebuilt(url: str, damage: str) -> None:
    database = await filled(url)
    file = LedgerFile(database)
    before = file.read(read_balances)
    assert before == [Balance("acme", 845, 100)]
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql(damage)
    rebuild(database)
    assert verify(database) is None
    assert file.read(read_balances) == before
    with database.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT budgeted FROM balances").scalars().all() == [True]
    database.close()


def test_books_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/empty.db")
    with pytest.raises(DatabaseUnusable, match="cannot be read"):
        verify(database)
    with pytest.raises(DatabaseUnusable, match="cannot be written"):
        rebuild(database)
