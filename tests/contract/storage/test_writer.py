import asyncio
import logging
import time
from collections.abc import Callable

import pytest
from sqlalchemy import Connection
from tests.contract.storage.conftest import Locked
from tests.unit.storage.records import record

from tidegate.exchange.ports import RequestRecord
from tidegate.storage.database import Database, DatabaseUnusable
from tidegate.storage.items import REQUESTS
from tidegate.storage.writer import Writer


@pytest.fixture
def database(impatient: Database) -> Database:
    """Some tests wait for a lock in vain."""
    return impatient


def ids(database: Database) -> list[str]:
    with database.engine.connect() as connection:
        return [row[0] for row in connection.exec_driver_sql("SELECT id FROM requests ORDER BY seq")]


def put(writer: Writer, *records: RequestRecord) -> list[str]:
    for one in records:
        writer.put(REQUESTS, one)
    return [one.id for one in records]


async def until(condition: Callable[[], bool]) -> None:
    """Let the writer's thread go on until `condition` holds."""
    for _ in range(2_000):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("did not come true")


async def test_rows_keep_their_order_over_many_batches(database: Database, writer: Writer) -> None:
    wanted = put(writer, *(record(number) for number in range(1_300)))
    await writer.flush()
    assert ids(database) == wanted
    assert (writer.waiting, writer.lost) == (0, 0)


async def test_a_row_is_written_without_a_flush(database: Database, writer: Writer) -> None:
    put(writer, record(1))
    await until(lambda: ids(database) == ["req_00001"])


async def test_a_flush_does_not_wait_for_the_batch_to_fill(database: Database) -> None:
    slow = Writer(database, window=30.0)
    wanted = put(slow, record(1))
    await asyncio.wait_for(slow.flush(), 5)
    assert ids(database) == wanted
    await slow.close()


async def test_a_row_that_comes_twice_counts_once(database: Database, writer: Writer) -> None:
    put(writer, record(1), record(2), record(1))
    await writer.flush()
    put(writer, record(2, status=500))
    await writer.flush()
    assert ids(database) == ["req_00001", "req_00002"]


async def test_a_row_that_cannot_be_written_takes_no_other_with_it(
    database: Database, writer: Writer, caplog: pytest.LogCaptureFixture
) -> None:
    impossible = record(3, status=None)  # no column takes it, mended or not
    put(writer, record(1), record(2, model="\ud800"), impossible, record(4, output_tokens=2**80), record(5))
    await writer.flush()
    assert ids(database) == ["req_00001", "req_00002", "req_00004", "req_00005"]
    assert writer.lost == 1
    assert "1 rows are lost: " in caplog.text
    assert "acme" not in caplog.text  # no values of the row


async def test_a_locked_database_delays_rows_and_is_told_once(
    database: Database,
    writer: Writer,
    locked: Locked,
    told_when_locked: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with locked():
        first = put(writer, record(1), record(2))
        await until(lambda: "cannot be written" in caplog.text)
        second = put(writer, record(3))
        await asyncio.sleep(0.3)  # some more tries
    await writer.flush()
    assert ids(database) == first + second
    assert [entry.levelno for entry in caplog.records] == [logging.WARNING, logging.WARNING]
    assert told_when_locked in caplog.records[0].getMessage()
    assert "is written again" in caplog.records[1].getMessage()


async def test_beyond_the_bound_rows_are_lost_counted_and_told(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    small = Writer(database, window=30.0, bound=10)
    wanted = put(small, *(record(number) for number in range(25)))[:10]
    assert small.lost == 15
    assert [entry.getMessage() for entry in caplog.records] == [
        "journal: a row is lost because 10 rows wait already (1 lost so far)",
        "journal: a row is lost because 10 rows wait already (10 lost so far)",
    ]
    await small.flush()
    assert ids(database) == wanted
    wanted += put(small, record(100))
    await small.close()
    assert ids(database) == wanted


async def test_closing_writes_what_waits(database: Database) -> None:
    slow = Writer(database, window=30.0)
    wanted = put(slow, *(record(number) for number in range(600)))
    await slow.close()
    assert ids(database) == wanted
    await slow.close()  # twice is no error


async def test_closing_gives_up_a_database_that_stays_away(
    database: Database, locked: Locked, caplog: pytest.LogCaptureFixture
) -> None:
    stuck = Writer(database, window=0.001)
    with locked():
        put(stuck, *(record(number) for number in range(1_200)))
        started = time.monotonic()
        await stuck.close(0.2)
        assert time.monotonic() - started < 5
    assert stuck.lost == 1_200
    assert "1200 rows are lost" in caplog.text
    assert ids(database) == []


async def test_after_closing_a_row_is_lost_and_a_job_refused(database: Database) -> None:
    closed = Writer(database)
    await closed.close()
    put(closed, record(1))
    assert closed.lost == 1
    with pytest.raises(DatabaseUnusable):
        await closed.flush()


async def test_a_job_comes_after_the_rows_before_it(writer: Writer) -> None:
    def count(connection: Connection) -> int:
        found: int = connection.exec_driver_sql("SELECT count(*) FROM requests").scalar_one()
        return found

    put(writer, *(record(number) for number in range(700)))
    first = writer.do(count)
    put(writer, record(1_000))
    assert await asyncio.wrap_future(first) == 700
    assert await asyncio.wrap_future(writer.do(count)) == 701


async def test_a_job_that_fails_harms_nothing_else(database: Database, writer: Writer) -> None:
    def fail(connection: Connection) -> None:
        connection.exec_driver_sql("DELETE FROM requests")
        raise ZeroDivisionError

    wanted = put(writer, record(1))
    broken = writer.do(fail)
    wanted += put(writer, record(2))
    await writer.flush()
    with pytest.raises(ZeroDivisionError):
        await asyncio.wrap_future(broken)
    assert ids(database) == wanted


async def test_a_flush_that_nobody_awaits_any_more_harms_nothing(
    database: Database, writer: Writer, locked: Locked
) -> None:
    with locked():
        wanted = put(writer, record(1))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(writer.flush(), 0.05)
    wanted += put(writer, record(2))
    await writer.flush()
    assert ids(database) == wanted
