import pytest
from sqlalchemy import insert
from tests.contract.storage.conftest import Locked
from tests.unit.storage.records import RECORD, record

from tidegate.storage.database import Database
from tidegate.storage.items import REQUESTS
from tidegate.storage.purge import Purge
from tidegate.storage.schema import owned_ids, spending
from tidegate.storage.writer import Writer

START = RECORD.created_at


@pytest.fixture
def database(impatient: Database) -> Database:
    """Some tests wait for a lock in vain."""
    return impatient


def count(database: Database, table: str) -> int:
    with database.engine.connect() as connection:
        found: int = connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one()
        return found


async def fill(writer: Writer, rows: int) -> None:
    for number in range(rows):
        writer.put(REQUESTS, record(number))
    await writer.flush()


async def test_rows_older_than_the_retention_go_in_small_steps(database: Database, writer: Writer) -> None:
    await fill(writer, 100)
    purge = Purge(writer, 50.0, lambda: START + 100.0, step=7, pause=0.0)
    assert await purge.sweep() == 50
    with database.engine.connect() as connection:
        oldest = connection.exec_driver_sql("SELECT id FROM requests ORDER BY created_at LIMIT 1").scalar()
    assert oldest == "req_00050"
    assert await purge.sweep() == 0


async def test_a_retention_of_zero_keeps_all(database: Database, writer: Writer) -> None:
    await fill(writer, 10)
    assert await Purge(writer, 0.0, lambda: START + 1e9).sweep() == 0
    assert count(database, "requests") == 10


async def test_expired_ids_go_whatever_the_retention(database: Database, writer: Writer) -> None:
    with database.connect_writer() as connection, connection.begin():
        owned = [
            {"id": f"resp_{number}", "account": account, "channel_group": "g", "expires_at": 1_000 + number}
            for number in range(20)
            for account in ("a", "b")
        ]
        connection.execute(insert(owned_ids), owned)
    assert await Purge(writer, 0.0, lambda: 1_009.5, step=3, pause=0.0).sweep() == 20
    assert count(database, "owned_ids") == 20


async def test_a_database_that_is_away_is_left_for_the_next_sweep(
    writer: Writer, locked: Locked, told_when_locked: str, caplog: pytest.LogCaptureFixture
) -> None:
    await fill(writer, 10)
    purge = Purge(writer, 1.0, lambda: START + 100.0)
    with locked():
        assert await purge.sweep() == 0
    assert "old rows could not be deleted" in caplog.text
    assert told_when_locked in caplog.text
    assert await purge.sweep() == 10


async def test_what_was_spent_long_ago_is_forgotten(database: Database, writer: Writer) -> None:
    """START is in November 2023."""
    periods = ["2023-08-31", "2023-08", "2023-09", "2023-09-01", "2023-11", "2023-11-14"]
    with database.connect_writer() as connection, connection.begin():
        lines = [
            {"account": "acme", "scope": "key:a", "period": period, "spent": 1, "held": 0}
            for period in periods
        ]
        connection.execute(insert(spending), lines)
    assert await Purge(writer, 0.0, lambda: START, step=1, pause=0.0).sweep() == 2
    with database.engine.connect() as connection:
        left = connection.exec_driver_sql("SELECT period FROM spending ORDER BY period").scalars().all()
    assert left == sorted(periods[2:])
