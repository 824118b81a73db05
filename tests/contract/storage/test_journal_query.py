import asyncio
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Connection, event
from tests.unit.storage.records import record

from tidegate.core.failure import TidegateError
from tidegate.exchange.ports import RequestRecord
from tidegate.storage.counting import count_new, write_counted
from tidegate.storage.database import Database
from tidegate.storage.items import REQUESTS
from tidegate.storage.journal_query import (
    JournalReader,
    newest_numbers,
    numbers_since,
    select_numbers,
    select_one,
    select_page,
)
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


async def test_made_up_models_are_found_once_they_are_counted_too(database: Database, writer: Writer) -> None:
    """The buckets have no name for them."""
    made_up = {"model": "ghost", "channel": None, "outcome": "rejected", "status": 404}
    rows = [record(number, **made_up) for number in (6, 8, 9)]
    await fill(writer, [*ROWS, *rows, record(7, model="ghost"), record(10, **{**made_up, "model": "elf"})])
    with database.connect_reader() as connection:
        counted = count_new(connection, rows[0].created_at)
    with database.connect_writer() as connection, connection.begin():
        assert write_counted(connection, counted, rows[0].created_at)
    assert numbers(ask(database, Filters(model="ghost"))) == [9, 8, 7, 6]
    assert numbers(ask(database, Filters(model="ghost", outcome="rejected", protocol="chat"))) == [9, 8, 6]
    first = ask(database, Filters(model="ghost"), limit=2)
    assert numbers(first) == [9, 8]
    assert numbers(ask(database, Filters(model="ghost"), limit=2, before=first.next)) == [7, 6]
    assert "requests_status" in plan(
        database,
        lambda connection: select_page(connection, Filters(model="ghost"), 50, None),
        "requests.status =",
    )


@pytest.mark.parametrize("before", ["req_unknown", "req_", "nonsense", ""])
async def test_an_unknown_position_is_told(database: Database, before: str) -> None:
    with pytest.raises(UnknownPosition):
        ask(database, before=before)


def plan(database: Database, query: Callable[[Connection], object], words: str = "") -> str:
    """How the database runs the last statement of `query` with these words in it."""
    ran: list[tuple[str, Any]] = []

    def note(_connection: object, _cursor: object, statement: str, values: Any, *_: object) -> None:
        if words in statement:
            ran.append((statement, values))

    with database.engine.connect() as connection:
        event.listen(connection, "before_cursor_execute", note)
        query(connection)
        event.remove(connection, "before_cursor_execute", note)
        if database.engine.dialect.name == "sqlite":
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {ran[-1][0]}", ran[-1][1]).all()
            return " / ".join(row[3] for row in rows)
        connection.exec_driver_sql("SET LOCAL enable_seqscan = off")  # so few rows need no index
        connection.exec_driver_sql("SET LOCAL enable_bitmapscan = off")
        return " / ".join(connection.exec_driver_sql(f"EXPLAIN {ran[-1][0]}", ran[-1][1]).scalars())


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        (ALL, "requests_created"),
        (Filters(key="a"), "requests_key"),
        (Filters(account="x"), "requests_account"),
        (Filters(outcome="failed"), "requests_trouble"),
        (Filters(model="sonnet"), "figure_buckets"),
    ],
)
async def test_no_question_sorts_or_walks_all_rows(database: Database, filters: Filters, index: str) -> None:
    cursor = "MTcwMDAwMDAwMDAwMDAwMC5yZXFfMQ"
    told = plan(database, lambda connection: select_page(connection, filters, 50, cursor))
    assert index in told
    assert "TEMP B-TREE" not in told
    assert "Sort" not in told


async def test_what_came_since_is_told_in_the_order_of_writing(database: Database, writer: Writer) -> None:
    await fill(writer, [record(5), record(3)])
    with database.engine.connect() as connection:
        start = newest_numbers(connection, 1)[0]
    await fill(writer, [record(9), record(1), record(2, outcome="failed"), record(4)])
    with database.engine.connect() as connection:
        assert newest_numbers(connection, 3) == [start + 4, start + 3, start + 2]
        since = numbers_since(connection, start, (), 3)
        assert since == [start + 1, start + 2, start + 3]
        assert numbers_since(connection, start + 3, (start - 1, start + 99), 3) == [start - 1, start + 4]
        rows = select_numbers(connection, since, ALL)
        assert [row.id for row in rows] == ["req_00009", "req_00001", "req_00002"]
        rows = select_numbers(connection, since, Filters(outcome="failed"))
        assert [row.id for row in rows] == ["req_00002"]


async def test_a_number_is_never_used_again(database: Database, writer: Writer) -> None:
    await fill(writer, ROWS)
    with database.connect_writer() as connection, connection.begin():
        before = newest_numbers(connection, 1)[0]
        connection.exec_driver_sql("DELETE FROM requests")
    await fill(writer, [record(9)])
    with database.engine.connect() as connection:
        assert newest_numbers(connection, 10) == [before + 1]


@pytest.mark.parametrize("odd", ["a\0b", "\ud800"])
async def test_what_no_row_can_hold_is_not_found(database: Database, writer: Writer, odd: str) -> None:
    await fill(writer, ROWS)
    assert ask(database, Filters(model=odd)).requests == ()
    with database.engine.connect() as connection:
        assert select_one(connection, f"req_{odd}") is None
    with pytest.raises(UnknownPosition):
        ask(database, before=f"req_{odd}")


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


async def test_a_journal_that_cannot_be_read_is_a_failure_of_the_gateway(empty_url: str) -> None:
    async def nothing() -> None: ...

    with ThreadPoolExecutor(1) as threads:
        reader = JournalReader(Database(empty_url), threads, nothing)
        with pytest.raises(TidegateError) as told:
            await reader.page(ALL, limit=5, before=None)
    assert told.value.failure.message == "the journal cannot be read"
    assert re.search("no such table|does not exist", told.value.failure.detail or "")
