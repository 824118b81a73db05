import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.unit.exchange.scene import Scene
from tests.unit.server.served import served, written

from tidegate.core.secret import Secret
from tidegate.server.metrics_page import MetricsListener
from tidegate.wiring.serving import bind

TYPE = "text/plain; version=0.0.4; charset=utf-8"
TOKEN = Secret("admin-token-1")


@pytest.mark.parametrize("line", ["GET /metrics", "HEAD /metrics"])
async def test_without_a_token_anybody_may_read(line: str) -> None:
    async with served(Scene()) as one:
        client = await one.connect()
        client.ask(line)
        reply = await client.reply(head=line.startswith("HEAD"))
        assert (reply.status, reply.headers["content-type"]) == (200, TYPE)
        assert reply.headers["server"] == "tidegate"
        assert reply.body == (b"" if line.startswith("HEAD") else b"up 1 TEXT\n")


async def test_openmetrics_comes_to_who_asks_for_it() -> None:
    async with served(Scene()) as one:
        reply = await one.call("GET /metrics", "accept: application/openmetrics-text;version=1.0.0,*/*;q=0.1")
        assert reply.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
        assert (reply.headers["vary"], reply.body) == ("accept", b"up 1 OPENMETRICS\n")


@pytest.mark.parametrize(
    "sent",
    [
        (),
        ("authorization: Bearer wrong",),
        ("authorization: Basic admin-token-1",),
        ("authorization: admin-token-1",),
        ("authorization: Bearer admin-token-1\xe9",),
        ("x-api-key: admin-token-1",),
    ],
)
async def test_with_a_token_only_who_knows_it(sent: tuple[str, ...]) -> None:
    async with served(Scene(), token=TOKEN) as one:
        reply = await one.call("GET /metrics", *sent)
        assert (reply.status, reply.body.startswith(b"up")) == (401, False)
        assert reply.headers["www-authenticate"].startswith("Bearer")
        assert (await one.call("GET /metrics", "authorization: bearer admin-token-1")).body == b"up 1 TEXT\n"


async def test_it_is_not_there_where_it_has_a_port_of_its_own() -> None:
    async with served(Scene(), hidden=True) as one:
        assert (await one.call("GET /metrics")).status == 404


async def test_it_is_only_read() -> None:
    async with served(Scene()) as one:
        reply = await one.call("POST /metrics")
        assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD")


@asynccontextmanager
async def listening() -> AsyncIterator[int]:
    listener = MetricsListener(written)
    sock = bind("127.0.0.1", 0)
    await listener.listen(sock)
    try:
        yield sock.getsockname()[1]
    finally:
        await listener.close()


async def ask(port: int, line: str) -> tuple[int, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
    head, _, body = (await asyncio.wait_for(reader.read(), 5)).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split(b" ")[1]), body


async def test_its_own_port_has_nothing_else() -> None:
    async with listening() as port:
        assert await ask(port, "GET /metrics") == (200, b"up 1 TEXT\n")
        assert (await ask(port, "POST /metrics"))[0] == 405
        assert (await ask(port, "GET /v1/models"))[0] == 404
        assert (await ask(port, "GET /admin/v1/keys"))[0] == 404


async def test_a_listener_that_never_listened_can_be_closed() -> None:
    await MetricsListener(written).close()
