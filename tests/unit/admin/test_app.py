from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from tests.unit.admin.fakes import NoCatalog, gate
from tests.unit.storage.records import record

from tidegate.admin.app import create_admin_app
from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.exchange.ports import RequestRecord
from tidegate.storage.pages import Filters, Page, UnknownPosition

TOKEN = "admin-token-é"
BEARER = {"authorization": f"Bearer {TOKEN}"}

Client = TestClient[web.Request, web.Application]


class Journal:
    """Plays the reader and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Filters, int, str | None]] = []
        self.answer: Page | Exception = Page((), None)

    async def page(self, filters: Filters, *, limit: int, before: str | None) -> Page:
        self.asked.append((filters, limit, before))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def one(self, identifier: str) -> RequestRecord | None:
        if isinstance(self.answer, Exception):
            raise self.answer
        return record(1) if identifier == "req_00001" else None


@pytest.fixture
def journal() -> Journal:
    return Journal()


@pytest_asyncio.fixture
async def client(journal: Journal) -> AsyncIterator[Client]:
    """The application as the gateway mounts it: another application hands requests on."""
    admin = create_admin_app(gate(TOKEN), journal, NoCatalog())
    admin.freeze()
    outer = web.Application()
    outer.router.add_route("*", "/admin/{rest:.*}", admin._handle)
    async with TestClient(TestServer(outer)) as running:
        yield running


async def get(client: Client, path: str) -> tuple[int, Any]:
    async with client.get(f"/admin/v1/{path}", headers=BEARER) as answer:
        return answer.status, await answer.json(content_type=None)


async def test_a_list_has_rows_and_says_whether_more_follow(client: Client, journal: Journal) -> None:
    journal.answer = Page((record(2), record(1)), "CURSOR")
    status, body = await get(client, "requests?limit=2")
    assert status == 200
    assert [row["id"] for row in body["data"]] == ["req_00002", "req_00001"]
    assert (body["has_more"], body["next"]) == (True, "CURSOR")
    journal.answer = Page((record(1),), None)
    assert (await get(client, "requests"))[1] | {"data": []} == {"data": [], "has_more": False, "next": None}


async def test_all_filters_reach_the_journal(client: Client, journal: Journal) -> None:
    query = "limit=7&before=req_9&key=k&account=a&model=m%20x&channel=c&outcome=failed&protocol=chat"
    await get(client, f"requests?{query}")
    wanted = Filters(key="k", account="a", model="m x", channel="c", outcome="failed", protocol="chat")
    assert journal.asked == [(wanted, 7, "req_9")]


async def test_empty_values_count_as_not_given(client: Client, journal: Journal) -> None:
    status, _ = await get(client, "requests?limit=&before=&key=&account=&model=&channel=&outcome=&protocol=")
    assert (status, journal.asked) == (200, [(Filters(), 50, None)])


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("limit=-1", "limit"),
        ("limit=1.5", "limit"),
        ("limit=٣", "limit"),
        ("limit=99999999999999999999", "limit"),
        ("outcome=fine", "outcome"),
        ("protocol=grpc", "protocol"),
        ("key=a&key=b", "key"),
        ("offset=10", "offset"),
        ("Limit=10", "Limit"),
    ],
)
async def test_a_wrong_parameter_is_named(
    client: Client, journal: Journal, query: str, parameter: str
) -> None:
    status, body = await get(client, f"requests?{query}")
    assert (status, body["status"], body["title"]) == (400, 400, "Bad Request")
    assert body["parameter"] == parameter
    assert parameter in body["detail"]
    assert journal.asked == []


async def test_an_unknown_position_is_a_wrong_before(client: Client, journal: Journal) -> None:
    journal.answer = UnknownPosition("req_x")
    status, body = await get(client, "requests?before=req_x")
    assert (status, body["parameter"]) == (400, "before")


async def test_one_row_has_the_shape_of_the_documentation(client: Client) -> None:
    status, body = await get(client, "requests/req_00001")
    assert status == 200
    assert body["id"] == "req_00001"
    assert (await get(client, "requests/req_00002"))[0] == 404


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": TOKEN},
        {"authorization": "Bearer "},
        {"authorization": f"Bearer {TOKEN}x"},
        {"x-api-key": TOKEN},
    ],
)
@pytest.mark.parametrize("path", ["requests", "requests/req_1", "openapi.json", "unknown"])
async def test_without_the_token_nothing_is_told(
    client: Client, journal: Journal, headers: dict[str, str], path: str
) -> None:
    async with client.get(f"/admin/v1/{path}", headers=headers) as answer:
        assert answer.status == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert answer.headers["server"] == "tidegate"
        assert answer.content_type == "application/problem+json"
        text = await answer.text()
    assert TOKEN not in text
    assert journal.asked == []


async def test_the_scheme_may_be_written_in_any_case(client: Client) -> None:
    async with client.get("/admin/v1/requests", headers={"authorization": f"bearer  {TOKEN} "}) as answer:
        assert answer.status == 200
        assert answer.headers["cache-control"] == "no-store"


async def test_unknown_paths_and_wrong_methods(client: Client) -> None:
    status, body = await get(client, "nothing")
    assert (status, body["title"]) == (404, "Not Found")
    async with client.post("/admin/v1/requests", headers=BEARER) as answer:
        assert answer.status == 405
        assert answer.headers["allow"] == "GET,HEAD"
        assert answer.content_type == "application/problem+json"


@pytest.mark.parametrize("path", ["openapi.json", "requests/req_00001"])
async def test_what_takes_no_parameter_says_so(client: Client, path: str) -> None:
    assert (await get(client, path))[0] == 200
    status, body = await get(client, f"{path}?verbose=1")
    assert (status, body["parameter"]) == (400, "verbose")


async def test_a_journal_that_cannot_be_read_is_a_503(
    client: Client, journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    journal.answer = TidegateError(Failure(kind=Kind.INTERNAL, message="cannot be read", detail="disk I/O"))
    status, body = await get(client, "requests")
    assert (status, body["detail"]) == (503, "cannot be read")
    assert "disk I/O" in caplog.text


async def test_an_unexpected_error_is_logged_and_not_shown(
    client: Client, journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    journal.answer = ZeroDivisionError("inner words")
    status, body = await get(client, "requests")
    assert status == 500
    assert "inner words" not in str(body)
    assert "inner words" in caplog.text


def test_an_empty_token_opens_nothing(journal: Journal) -> None:
    with pytest.raises(ValueError, match="token"):
        create_admin_app(gate(""), journal, NoCatalog())
