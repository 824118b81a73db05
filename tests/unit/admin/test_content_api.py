"""What is kept of requests, over the admin API."""

from collections.abc import AsyncIterator, Collection
from functools import partial

import pytest
import pytest_asyncio
from aiohttp.test_utils import TestClient, TestServer
from tests.unit.admin.fakes import NoCatalog, gate
from tests.unit.admin.test_app import BEARER, TOKEN, Client, Journal
from tests.unit.storage.records import record

from tidegate.admin.app import create_admin_app
from tidegate.storage.audit import Deed
from tidegate.storage.content_desk import Also
from tidegate.storage.contents import KeptContent, KeptPart
from tidegate.storage.pages import Page

KEPT = KeptContent(
    id="req_00001",
    captured_at=1.5,
    request=KeptPart('{"a":1}', 7, truncated=False),
    answer=KeptPart("data: x", 900, truncated=True),
)


class Desk:
    """Keeps something of one request."""

    def __init__(self) -> None:
        self.kept = {KEPT.id: KEPT}
        self.noted: list[tuple[str, Deed]] = []

    async def one(self, identifier: str, also: Also) -> KeptContent | None:
        assert isinstance(also, partial)
        self.noted.append((also.keywords["author"].operator, also.keywords["deed"]))
        return self.kept.get(identifier)

    async def present(self, identifiers: Collection[str]) -> frozenset[str]:
        return frozenset(self.kept) & frozenset(identifiers)

    async def forget(self, identifier: str, also: Also) -> bool:
        assert isinstance(also, partial)
        self.noted.append((also.keywords["author"].operator, also.keywords["deed"]))
        return self.kept.pop(identifier, None) is not None


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest_asyncio.fixture
async def client(desk: Desk) -> AsyncIterator[Client]:
    journal = Journal()
    journal.answer = Page((record(2), record(1)), None)
    admin = create_admin_app(gate(TOKEN), journal, NoCatalog(), contents=desk)
    async with TestClient(TestServer(admin)) as running:
        yield running


async def ask(client: Client, method: str, path: str) -> tuple[int, object]:
    async with client.request(method, f"/admin/v1/{path}", headers=BEARER) as answer:
        return answer.status, await answer.json(content_type=None) if await answer.read() else None


async def test_what_is_kept_is_shown(client: Client) -> None:
    assert await ask(client, "GET", "requests/req_00001/content") == (
        200,
        {
            "id": "req_00001",
            "captured_at": "1970-01-01T00:00:01.500Z",
            "request": {"text": '{"a":1}', "bytes": 7, "truncated": False},
            "answer": {"text": "data: x", "bytes": 900, "truncated": True},
        },
    )


async def test_rows_tell_whether_something_is_kept(client: Client) -> None:
    status, page = await ask(client, "GET", "requests")
    assert isinstance(page, dict)
    assert (status, [row["captured"] for row in page["data"]]) == (200, [False, True])
    _, row = await ask(client, "GET", "requests/req_00001")
    assert isinstance(row, dict)
    assert row["captured"] is True


async def test_it_can_be_deleted_once(client: Client) -> None:
    assert await ask(client, "DELETE", "requests/req_00001/content") == (204, None)
    for method in ("GET", "DELETE"):
        status, problem = await ask(client, method, "requests/req_00001/content")
        assert status == 404
        assert "nothing is kept" in str(problem)
    _, row = await ask(client, "GET", "requests/req_00001")
    assert isinstance(row, dict)
    assert row["captured"] is False


async def test_who_reads_or_deletes_is_on_record(client: Client, desk: Desk) -> None:
    for method in ("GET", "DELETE"):
        await ask(client, method, "requests/req_00001/content")
    assert desk.noted == [
        ("admin", Deed(action=action, kind="contents", name="req_00001")) for action in ("read", "delete")
    ]


async def test_who_has_no_token_reads_nothing(client: Client) -> None:
    for method in ("GET", "DELETE"):
        async with client.request(method, "/admin/v1/requests/req_00001/content") as answer:
            assert answer.status == 401
            assert "data: x" not in await answer.text()


async def test_a_parameter_is_told(client: Client) -> None:
    status, _ = await ask(client, "DELETE", "requests/req_00001/content?all=true")
    assert status == 400
