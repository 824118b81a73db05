from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from sqlalchemy import event
from tests.unit.admin.fakes import NoCatalog, gate
from tests.unit.admin.test_app import BEARER, TOKEN, Journal
from tests.unit.storage.records import RECORD, record

from tidegate.admin.app import create_admin_app
from tidegate.admin.openapi import document
from tidegate.admin.ports import Entry
from tidegate.admin.reports import Reports
from tidegate.storage import rows
from tidegate.storage.catalog import Kind
from tidegate.storage.database import Database
from tidegate.storage.figures import FiguresReader
from tidegate.storage.migrate import bring_up_to_date
from tidegate.storage.statements import Statements

Client = TestClient[web.Request, web.Application]
RANGE = "since=2023-11-14T22:00:00Z&until=2023-11-14T23:00:00Z"


@pytest.fixture
def database(tmp_path: Path) -> Database:
    opened = Database(f"sqlite:///{tmp_path}/tidegate.db")
    bring_up_to_date(opened)
    some = [record(1, cost=1_500), record(2, key="other", outcome="failed"), record(3, first_token_ms=None)]
    with opened.connect_writer() as connection, connection.begin():
        Statements(connection).insert("requests", rows.COLUMNS, list(map(rows.encode, some)))
    return opened


@pytest_asyncio.fixture
async def client(database: Database) -> AsyncIterator[Client]:
    threads = ThreadPoolExecutor(2)
    figures = FiguresReader(database, threads, lambda: RECORD.created_at)
    admin = create_admin_app(gate(TOKEN), Journal(), NoCatalog(), reports=Reports(figures, None))
    async with TestClient(TestServer(admin)) as running:
        yield running
    await figures.close()
    threads.shutdown(wait=True)
    database.close()


async def get(client: Client, path: str) -> tuple[int, Any]:
    async with client.get(f"/admin/v1/{path}", headers=BEARER) as answer:
        return answer.status, await answer.json(content_type=None)


async def test_an_overview_has_the_described_members(client: Client) -> None:
    status, told = await get(client, f"overview?{RANGE}&group_by=channel")
    assert status == 200
    schemas: Any = document()["components"]
    described = schemas["schemas"]
    assert list(told) == described["Overview"]["required"]
    assert list(told["totals"]) == described["Figures"]["required"]
    assert list(told["series"][0]) == described["Bucket"]["required"]
    assert set(told["groups"][0]) == set(described["Group"]["properties"])
    assert (told["since"], told["until"]) == ("2023-11-14T22:00:00.000Z", "2023-11-14T23:00:00.000Z")
    assert len(told["series"]) * told["bucket_seconds"] == 3_600
    totals = told["totals"]
    assert (totals["requests"], totals["completed"], totals["failed"]) == (3, 2, 1)
    assert (totals["cost"], totals["input_tokens"]) == ("0.000001500", 54)
    assert 412.5 / 1.123 < totals["first_token_ms"]["p50"] < 412.5 * 1.123
    empty = told["series"][0]
    assert (empty["requests"], empty["cost"], empty["first_token_ms"]) == (0, "0.000000000", None)


async def test_only_what_is_asked_for_is_told(client: Client) -> None:
    _, told = await get(client, f"overview?{RANGE}&key=laptop&group_by=key&model=&protocol=chat")
    assert told["totals"]["requests"] == 2
    assert [(one["name"], one["kind"], one["requests"]) for one in told["groups"]] == [("laptop", "name", 2)]
    assert "attempts" not in told["groups"][0]


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("since=yesterday", "since"),
        ("since=2030-01-01&until=2029-01-01", "since"),
        ("since=1999-01-01", "since"),
        ("until=1969-01-01T00:00:00Z", "until"),
        ("until=0001-01-01", "until"),
        ("group_by=outcome", "group_by"),
        ("protocol=grpc", "protocol"),
        ("outcome=failed", "outcome"),
        ("model=%00", "model"),
        ("key=a&key=b", "key"),
    ],
)
async def test_a_wrong_question_is_a_400(client: Client, query: str, parameter: str) -> None:
    status, problem = await get(client, f"overview?{query}")
    assert (status, problem["parameter"]) == (400, parameter)


async def test_who_asks_the_same_within_a_second_shares_the_answer(
    client: Client, database: Database
) -> None:
    asked: list[str] = []
    event.listen(database.engine, "before_cursor_execute", lambda *said: asked.append(said[2]))
    first = await get(client, f"overview?{RANGE}")
    count = len(asked)
    assert await get(client, f"overview?{RANGE}") == first
    assert len(asked) == count
    await get(client, f"overview?{RANGE}&key=other")
    assert len(asked) > count


async def test_a_database_that_is_away_is_a_503_and_not_remembered(
    client: Client, database: Database
) -> None:
    for old, new, expected in (("requests", "hidden", 503), ("hidden", "requests", 200)):
        with database.connect_writer() as connection, connection.begin():
            connection.exec_driver_sql(f"ALTER TABLE {old} RENAME TO {new}")
        assert (await get(client, f"overview?{RANGE}"))[0] == expected


async def test_keys_are_told_of_while_the_database_is_away(database: Database) -> None:
    threads = ThreadPoolExecutor(1)
    reports = Reports(FiguresReader(database, threads, lambda: RECORD.created_at), None)
    entries = [Entry(kind=Kind.KEYS, name=name, value=None) for name in ("laptop", "unused")]
    [used, unused] = await reports.of_keys(entries)
    assert (used["last_used_at"], used["spent_today"]) == ("2023-11-14T22:13:23.123Z", "0.000001500")
    assert unused == {"last_used_at": None, "spent_today": "0.000000000", "spent_month": "0.000000000"}
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql("ALTER TABLE requests RENAME TO hidden")
    away = await reports.of_keys(entries)
    assert away == [{"last_used_at": None, "spent_today": None, "spent_month": None}] * 2
    threads.shutdown(wait=True)


async def test_without_figures_there_is_no_overview(client: Client) -> None:
    admin = create_admin_app(gate(TOKEN), Journal(), NoCatalog())
    async with TestClient(TestServer(admin)) as other:
        assert [(await get(other, path))[0] for path in ("overview", "requests/tail")] == [503, 503]
