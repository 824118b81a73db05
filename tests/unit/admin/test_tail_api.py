import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer
from tests.unit.admin.fakes import NoCatalog, gate
from tests.unit.admin.test_app import BEARER, TOKEN, Journal
from tests.unit.storage.records import record

from tidegate.admin.app import create_admin_app
from tidegate.admin.reports import Reports
from tidegate.storage.database import Database
from tidegate.storage.items import REQUESTS
from tidegate.storage.live_tail import LiveTail
from tidegate.storage.migrate import bring_up_to_date
from tidegate.storage.writer import Writer

Client = TestClient[web.Request, web.Application]
Event = dict[str, Any]


@pytest.fixture
def database(tmp_path: Path) -> Database:
    opened = Database(f"sqlite:///{tmp_path}/tidegate.db")
    bring_up_to_date(opened)
    return opened


@pytest_asyncio.fixture
async def writer(database: Database) -> AsyncIterator[Writer]:
    running = Writer(database, window=0.001)
    yield running
    await running.close(1.0)


@pytest_asyncio.fixture
async def client(database: Database) -> AsyncIterator[Client]:
    threads = ThreadPoolExecutor(2)
    live = LiveTail(database, threads)
    admin = create_admin_app(gate(TOKEN), Journal(), NoCatalog(), reports=Reports(None, live))
    async with TestClient(TestServer(admin)) as running:
        yield running
    await live.close()
    threads.shutdown(wait=True)


async def events(answer: ClientResponse, count: int, within: float = 60.0) -> list[Event]:
    """The next events; comments and the time to wait before another try are left out."""
    found: list[Event] = []
    async with asyncio.timeout(within):
        while len(found) < count:
            lines: Event = {}
            while line := (await answer.content.readline()).decode().rstrip("\n"):
                name, _, value = line.partition(": ")
                lines[name] = value
            if "event" in lines:
                found.append(lines | {"data": json.loads(lines["data"])})
    return found


def put(writer: Writer, *numbers: int, **changes: object) -> None:
    for number in numbers:
        writer.put(REQUESTS, record(number, **changes))


async def test_a_head_is_not_answered_with_a_stream(client: Client) -> None:
    async with client.head("/admin/v1/requests/tail", headers=BEARER) as answer:
        assert (answer.status, answer.content_type) == (404, "application/problem+json")


async def test_rows_come_as_in_the_list(client: Client, writer: Writer) -> None:
    put(writer, 1)
    await writer.flush()
    async with client.get("/admin/v1/requests/tail", headers=BEARER) as answer:
        assert (answer.status, answer.content_type) == (200, "text/event-stream")
        assert (answer.headers["cache-control"], answer.headers["server"]) == ("no-store", "tidegate")
        assert [one["event"] for one in await events(answer, 1)] == ["ready"]
        put(writer, 2, 3)
        seen = await events(answer, 2)
        assert [(one["event"], one["id"], one["data"]["id"]) for one in seen] == [
            ("request", "2", "req_00002"),
            ("request", "3", "req_00003"),
        ]


async def test_who_comes_back_gets_what_it_missed(client: Client, writer: Writer) -> None:
    put(writer, 1, 2, 3, 4)
    await writer.flush()
    resumed = BEARER | {"last-event-id": "2"}
    async with client.get("/admin/v1/requests/tail", headers=resumed) as answer:
        seen = await events(answer, 3)
        assert [one["id"] for one in seen] == ["2", "3", "4"]
        put(writer, 5)
        assert [one["id"] for one in await events(answer, 1)] == ["5"]


async def test_only_what_fits_is_shown(client: Client, writer: Writer) -> None:
    query = "key=a&status=200&stream=true&id=0000&since=2023-11-14T00:00:00Z"
    async with client.get(f"/admin/v1/requests/tail?{query}", headers=BEARER) as answer:
        await events(answer, 1)
        put(writer, 1, key="b")
        put(writer, 2, key="a", status=429)
        put(writer, 3, key="a", stream=False)
        put(writer, 4, key="a", created_at=1.0)
        put(writer, 10_000, key="a")
        put(writer, 5, key="a")
        assert [one["data"]["id"] for one in await events(answer, 1)] == ["req_00005"]


async def test_many_tails_share_one_reader(client: Client, writer: Writer, database: Database) -> None:
    answers = [await client.get("/admin/v1/requests/tail", headers=BEARER) for _ in range(5)]
    for answer in answers:
        await events(answer, 1)
    put(writer, 1)
    for answer in answers:
        assert [one["data"]["id"] for one in await events(answer, 1)] == ["req_00001"]
        answer.close()


@pytest.mark.parametrize(
    ("query", "cursor", "parameter"),
    [
        ("limit=5", "", "limit"),
        ("status=abc", "", "status"),
        ("", "x", "last-event-id"),
        ("", "1.", "last-event-id"),
    ],
)
async def test_a_wrong_question_is_a_400(client: Client, query: str, cursor: str, parameter: str) -> None:
    headers = BEARER | {"last-event-id": cursor}
    async with client.get(f"/admin/v1/requests/tail?{query}", headers=headers) as answer:
        assert (answer.status, (await answer.json(content_type=None))["parameter"]) == (400, parameter)
