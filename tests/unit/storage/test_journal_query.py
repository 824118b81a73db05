import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Connection
from tests.unit.storage.records import record

from tidegate.core.failure import TidegateError
from tidegate.exchange.ports import RequestRecord
from tidegate.storage.database import Database
from tidegate.storage.journal import REQUESTS
from tidegate.storage.journal_query import JournalReader, newest_number, select_page, select_since
from tidegate.storage.pages import Filters, Page, UnknownPosition
from tidegate.storage.writer import Writer

ALL = Filters()

ROWS = [
    record(1, key="a", account="x", model="sonnet", channel="one", protocol="chat"),
    record(2, key="b", account="x", model="haiku", channel="two", protocol="messages", outcome="failed"),
    record(3, key="a", account="y", model="sonnet", channel="two", protocol="responses"),
    record(4, key=None, account=None, model=None, channel=None, protocol="chat", outcome="rejected"),
    record(5, key="a", account="x", model="sonnet", channel="one", protocol="chat", outcome="failed"),
]


async def fill(writer: Writer, rows: list[RequestRecord]) -> None:
    for row in rows:
        writer.put(REQUESTS, row)
    await writer.flush()


def numbers(page: Page) -> list[int]:
    return [int(row.id.removeprefix("req_")) for row in page.requests]


def ask(database: Database, filters: Filters = ALL, limit: int = 50, before: str | None = None) -> Page:
    with database.engine.connect() as connection:
        return select_page(connection, filters, limit, before)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (ALL, [5, 4, 3, 2, 1]),
        (Filters(key="a"), [5, 3, 1]),
        (Filters(account="x"), [5, 2, 1]),
        (Filters(model="haiku"), [2]),
        (Filters(channel="two"), [3, 2]),
        (Filters(protocol="chat"), [5, 4, 1]),
        (Filters(outcome="failed"), [5, 2]),
        (Filters(outcome="completed"), [3, 1]),
        (Filters(outcome="rejected"), [4]),
        (Filters(key="a", outcome="failed", channel="one"), [5]),
        (Filters(key="a' OR 1=1 --"), []),
        (Filters(key=""), []),
    ],
)
async def test_filters_narrow_the_rows(
    database: Database, writer: Writer, filters: Filters, found: list[int]
) -> None:
    await fill(writer, ROWS)
    page = ask(database, filters)
    assert (numbers(page), page.next) == (found, None)


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 500])
async def test_pages_show_every_row_once_though_many_share_a_time(
    database: Database, writer: Writer, limit: int
) -> None:
    await fill(writer, [record(number, created_at=1_700_000_000.5) for number in (3, 1, 4, 0, 5, 9, 2, 6)])
    seen: list[int] = []
    before = None
    while True:
        page = ask(database, limit=limit, before=before)
        assert len(page.requests) <= limit
        seen += numbers(page)
        if page.next is None:
            break
        before = page.next
    assert seen == [9, 6, 5, 4, 3, 2, 1, 0]


async def test_a_page_is_not_moved_by_rows_that_come_in_between(database: Database, writer: Writer) -> None:
    await fill(writer, [record(number) for number in range(4)])
    first = ask(database, limit=2)
    await fill(writer, [record(number) for number in (7, 8, 9)])
    assert numbers(ask(database, limit=2, before=first.next)) == [1, 0]


async def test_before_takes_the_id_of_a_request(database: Database, writer: Writer) -> None:
    await fill(writer, ROWS)
    assert numbers(ask(database, before="req_00003")) == [2, 1]
    assert numbers(ask(database, before="req_00001")) == []


async def test_a_cursor_outlives_its_row(database: Database, writer: Writer) -> None:
    await fill(writer, ROWS)
    cursor = ask(database, limit=3).next
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql("DELETE FROM requests WHERE id = 'req_00003'")
    assert numbers(ask(database, before=cursor)) == [2, 1]


@pytest.mark.parametrize("before", ["req_unknown", "req_", "nonsense", ""])
async def test_an_unknown_position_is_told(database: Database, before: str) -> None:
    with pytest.raises(UnknownPosition):
        ask(database, before=before)


def plan(database: Database, query: Callable[[Connection], object]) -> str:
    """How SQLite runs the last statement of `query`."""
    with database.engine.connect() as connection:
        statements: list[tuple[str, object]] = []
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.set_trace_callback(lambda text: statements.append((text, None)))
        query(connection)
        driver.set_trace_callback(None)
        rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statements[-1][0]}").all()
        return " / ".join(row[3] for row in rows)


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        (ALL, "requests_created"),
        (Filters(key="a"), "requests_key"),
        (Filters(account="x"), "requests_account"),
        (Filters(outcome="failed"), "requests_trouble"),
        (Filters(model="sonnet"), "requests_created"),
    ],
)
async def test_no_question_sorts_or_walks_all_rows(database: Database, filters: Filters, index: str) -> None:
    cursor = "MTcwMDAwMDAwMDAwMDAwMC5yZXFfMQ"
    told = plan(database, lambda connection: select_page(connection, filters, 50, cursor))
    assert index in told
    assert "TEMP B-TREE" not in told


async def test_what_came_since_is_told_in_the_order_of_writing(database: Database, writer: Writer) -> None:
    await fill(writer, [record(5), record(3)])
    with database.engine.connect() as connection:
        start = newest_number(connection)
    await fill(writer, [record(9), record(1), record(2, outcome="failed"), record(4)])
    with database.engine.connect() as connection:
        assert newest_number(connection) == start + 4
        reached, rows = select_since(connection, start, ALL, 3)
        assert [row.id for row in rows] == ["req_00009", "req_00001", "req_00002"]
        assert reached == start + 3
        reached, rows = select_since(connection, reached, ALL, 3)
        assert ([row.id for row in rows], reached) == (["req_00004"], start + 4)
        reached, rows = select_since(connection, start, Filters(outcome="failed"), 3)
        assert ([row.id for row in rows], reached) == (["req_00002"], start + 4)


async def test_a_number_is_never_used_again(database: Database, writer: Writer) -> None:
    await fill(writer, ROWS)
    with database.connect_writer() as connection, connection.begin():
        before = newest_number(connection)
        connection.exec_driver_sql("DELETE FROM requests")
    await fill(writer, [record(9)])
    with database.engine.connect() as connection:
        assert newest_number(connection) == before + 1


async def test_the_reader_sees_what_was_just_written(database: Database, writer: Writer) -> None:
    with ThreadPoolExecutor(1) as threads:
        reader = JournalReader(database, threads, writer.flush)
        writer.put(REQUESTS, record(1))
        assert numbers(await reader.page(ALL, limit=5, before=None)) == [1]
        writer.put(REQUESTS, record(2))
        found = await reader.one("req_00002")
        assert found == record(2)


async def test_the_reader_does_not_wait_for_ever_for_the_writer(database: Database) -> None:
    async def never() -> None:
        await asyncio.Event().wait()

    with ThreadPoolExecutor(1) as threads:
        reader = JournalReader(database, threads, never, patience=0.01)
        assert await reader.one("req_00001") is None


async def test_a_journal_that_cannot_be_read_is_a_failure_of_the_gateway(tmp_path: Path) -> None:
    async def nothing() -> None: ...

    with ThreadPoolExecutor(1) as threads:
        reader = JournalReader(Database(f"sqlite:///{tmp_path}/empty.db"), threads, nothing)
        with pytest.raises(TidegateError) as told:
            await reader.page(ALL, limit=5, before=None)
    assert told.value.failure.message == "the journal cannot be read"
    assert "no such table" in (told.value.failure.detail or "")
