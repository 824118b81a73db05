"""The data plane on a loopback socket, with an exchange whose ports are recorders."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from aiohttp.web_request import BaseRequest
from tests.unit.exchange.scene import SECRET, Scene, turns

from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.observe.exposition import Format
from tidegate.routing.catalog import Key
from tidegate.server.connection import ConnectionFactory
from tidegate.server.directory import Directory
from tidegate.server.endpoints import DataPlane, Rules
from tidegate.server.metrics_page import MetricsPage

AUTH = f"authorization: Bearer {SECRET}"


@dataclass
class Reply:
    """One answer as it stood on the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Speaks bytes to the server; every wait is bounded."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, *parts: bytes) -> None:
        for part in parts:
            self.writer.write(part)

    def ask(self, line: str, *headers: str, body: bytes = b"", version: str = "1.1") -> None:
        length = [f"content-length: {len(body)}"] if body else []
        lines = [f"{line} HTTP/{version}", "host: x", *headers, *length, "", ""]
        self.send("\r\n".join(lines).encode("utf-8", "surrogateescape") + body)

    def begin(self, line: str, *headers: str) -> None:
        """The head alone."""
        self.send("\r\n".join([f"{line} HTTP/1.1", "host: x", *headers, "", ""]).encode())

    async def head(self) -> Reply:
        text = await self._within(self.reader.readuntil(b"\r\n\r\n"))
        first, *lines = text.decode("latin-1").rstrip().split("\r\n")
        headers = {line.partition(": ")[0].lower(): line.partition(": ")[2] for line in lines}
        return Reply(int(first.split(" ")[1]), headers, b"")

    async def reply(self, *, head: bool = False) -> Reply:
        """An answer with a length; none of its body where it answers HEAD."""
        found = await self.head()
        if not head:
            found.body = await self.exactly(int(found.headers.get("content-length", 0)))
        return found

    async def exactly(self, size: int) -> bytes:
        return await self._within(self.reader.readexactly(size))

    async def rest(self) -> bytes:
        """All up to the end of the connection."""
        return await self._within(self.reader.read())

    async def is_closed(self) -> bool:
        return await self.rest() == b""

    async def leave(self) -> None:
        self.writer.transport.abort()
        await turns()

    async def _within(self, work: Awaitable[bytes]) -> bytes:
        return await asyncio.wait_for(work, 60)


async def written(form: Format) -> str:
    """A page of metrics."""
    return f"up 1 {form.name}\n"


class Served:
    """A running data plane."""

    def __init__(self, scene: Scene, rules: Rules, token: Secret | None, *, hidden: bool) -> None:
        page = MetricsPage(written, token)
        self.scene = scene
        self.ready = True
        self.facts: dict[str, object] = {}
        self.clients: list[Client] = []
        self.ids = iter(f"{number:024}" for number in range(1000))
        self.other: web.Response | None = None
        self.asks_as: Key | None = None
        """The key that operators ask as."""
        directory = Directory(
            scene.exchange, self._ready, 1_700_000_000, lambda: self.facts, None if hidden else page
        )
        self.plane = DataPlane(scene.exchange, directory, rules, lambda: next(self.ids), self._others)
        self.factory = ConnectionFactory(
            self.plane,
            answer=self.plane.bad_http,
            patience=lambda: self.plane.rules.client_timeout,
            request_factory=_request,
            access_log=None,
            auto_decompress=False,
            max_line_size=2000,
            max_field_size=2000,
            max_headers=20,
            lingering_time=0.05,
        )
        self.port = 0

    async def _ready(self) -> bool:
        return self.ready

    def _others(self, request: BaseRequest) -> Awaitable[web.StreamResponse] | None:
        if self.asks_as is not None:
            return self.plane.serve_as(request, Protocol.CHAT, self.asks_as)

        async def answer() -> web.StreamResponse:
            assert self.other is not None
            return self.other

        return answer() if request.path.startswith("/admin/") and self.other is not None else None

    async def connect(self) -> Client:
        client = Client(*await asyncio.open_connection("127.0.0.1", self.port))
        self.clients.append(client)
        return client

    async def call(self, line: str, *headers: str, body: bytes = b"") -> Reply:
        client = await self.connect()
        client.ask(line, *headers, body=body)
        return await client.reply()

    async def until(self, count: int = 1) -> None:
        """So many calls have gone up."""
        await self._met(lambda: len(self.scene.upstream.calls) >= count)

    async def rows(self, count: int) -> None:
        """So many rows are written."""
        await self._met(lambda: len(self.scene.rows) >= count)

    async def _met(self, condition: Any) -> None:
        async with asyncio.timeout(60):
            while not condition():
                await asyncio.sleep(0.001)


def _request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> BaseRequest:
    return BaseRequest(message, payload, protocol, writer, task, asyncio.get_running_loop())


RULES = Rules(max_body_bytes=10_000, body_timeout=5, cors_origins=("https://app.example.com",))


@asynccontextmanager
async def served(
    scene: Scene, rules: Rules = RULES, token: Secret | None = None, *, hidden: bool = False
) -> AsyncIterator[Served]:
    """`token` is for /metrics, which is not there if `hidden`."""
    one = Served(scene, rules, token, hidden=hidden)
    server = await asyncio.get_running_loop().create_server(one.factory, "127.0.0.1", 0)
    one.port = server.sockets[0].getsockname()[1]
    try:
        yield one
    finally:
        server.close()
        for client in one.clients:
            client.writer.close()
        await one.factory.shutdown(0.5)
