"""While a gateway cannot open, callers hear that it is alive and not ready."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.harness.client import fetch

from tidegate.wiring.serving import bind
from tidegate.wiring.waiting_room import WaitingRoom


@pytest_asyncio.fixture
async def port() -> AsyncIterator[int]:
    sock = bind("127.0.0.1", 0)
    room = WaitingRoom(sock, None)
    await room.open()
    await room.open()
    yield sock.getsockname()[1]
    await room.close()
    await room.close()
    sock.close()


@pytest.mark.parametrize(
    ("path", "status", "told"),
    [
        ("/", 200, {"name": "tidegate"}),
        ("/healthz", 200, {"status": "ok"}),
        ("/readyz", 503, {"status": "not ready", "database": "unreachable"}),
    ],
)
async def test_what_watches_the_gateway_is_told(port: int, path: str, status: int, told: object) -> None:
    reply = await fetch(port, "GET", path)
    assert (reply.status, reply.json()) == (status, told)


@pytest.mark.parametrize(
    ("path", "members"),
    [
        ("/v1/chat/completions", {"error"}),
        ("/v1/responses", {"error"}),
        ("/v1/messages", {"type", "error", "request_id"}),
        ("/v1/models", {"error"}),
        ("/nowhere", {"error"}),
    ],
)
async def test_callers_get_the_errors_of_their_protocol(port: int, path: str, members: set[str]) -> None:
    reply = await fetch(port, "POST", path, [("content-type", "application/json")], json.dumps({}).encode())
    assert (reply.status, reply.header("retry-after"), set(reply.json())) == (503, "5", members)
    assert (reply.header("x-request-id") or "").startswith("req_")
    assert reply.header("server") == "tidegate"


async def test_the_admin_api_answers_in_its_own_form(port: int) -> None:
    reply = await fetch(port, "GET", "/admin/v1/requests")
    assert (reply.status, reply.header("content-type")) == (503, "application/problem+json")


async def test_the_socket_is_left_to_who_comes_then() -> None:
    sock = bind("127.0.0.1", 0)
    room = WaitingRoom(sock, None)
    await room.open()
    await room.close()

    def hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        writer.close()

    server = await asyncio.start_server(hello, sock=sock)
    reader, writer = await asyncio.open_connection(*sock.getsockname())
    assert await reader.read() == b"hello"
    writer.close()
    server.close()
