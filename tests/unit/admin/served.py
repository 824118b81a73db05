"""The admin API over a real desk, for tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from tests.unit.admin.fakes import Books, gate
from tests.unit.admin.test_app import BEARER, TOKEN, Journal
from tests.unit.managed.stores import Node, node
from yarl import URL

from tidegate.admin.app import create_admin_app


class Api:
    """Asks the API, and knows what is behind it."""

    def __init__(self, client: TestClient[web.Request, web.Application], node: Node, books: Books) -> None:
        self._client = client
        self.node = node
        self.books = books
        self.answers = ""
        """All that was answered so far."""

    async def __call__(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any, dict[str, str]]:
        content = {"data": body} if isinstance(body, bytes) else {} if body is None else {"json": body}
        url = URL(f"/admin/v1/{path}", encoded=True)
        async with self._client.request(method, url, headers=BEARER | (headers or {}), **content) as answer:
            text = await answer.text()
            self.answers += text + str(dict(answer.headers))
            read = await answer.json(content_type=None) if text else None
            return answer.status, read, {name.lower(): value for name, value in answer.headers.items()}


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Api]:
    async with node(folder) as here:
        books = Books(folder)
        admin = create_admin_app(gate(TOKEN), Journal(), here.desk, books)
        async with TestClient(TestServer(admin)) as client:
            yield Api(client, here, books)
        books.database.close()
