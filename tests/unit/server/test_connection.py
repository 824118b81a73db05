"""Bad HTTP gets an answer in JSON, in the form of the route it was meant for."""

import json
from typing import Any

import pytest
from tests.unit.exchange.said import ASK, WHOLE, answers
from tests.unit.exchange.scene import Scene, turns
from tests.unit.server.served import AUTH, Client, Reply, Served, served

from tidegate.server.connection import Connection

LONG = "x" * 2500
FORMS = {
    "/v1/messages": {"type", "error", "request_id"},
    "/v1/chat/completions": {"error"},
    "/v1/responses": {"error"},
}
START = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n"


async def sent(one: Served, text: str, pieces: int = 1) -> tuple[Client, Reply]:
    """The answer to some bytes, sent in so many reads."""
    client = await one.connect()
    raw = text.encode("latin-1")
    size = -(-len(raw) // pieces)
    for start in range(0, len(raw), size):
        client.send(raw[start : start + size])
        await turns(20)
    return client, await client.reply()


@pytest.mark.parametrize("pieces", [1, 7])
@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize(
    "headers",
    [
        pytest.param(f"x-long: {LONG}\r\n", id="a long header"),
        pytest.param("".join(f"x-{number}: 1\r\n" for number in range(40)), id="many headers"),
        pytest.param(f"{LONG}: 1\r\n", id="a long name"),
    ],
)
async def test_headers_that_are_too_large(path: str, headers: str, pieces: int) -> None:
    scene = Scene()
    async with served(scene) as one:
        client, reply = await sent(one, f"POST {path}?beta=true HTTP/1.1\r\nhost: x\r\n{headers}\r\n", pieces)
        assert reply.status == 431
        value = reply.json()
        assert set(value) == FORMS[path]
        if path != "/v1/messages":
            assert value["error"]["code"] == "headers_too_large"
        assert reply.headers["content-type"].startswith("application/json")
        assert reply.headers["x-request-id"] == scene.rows[0].id
        assert await client.is_closed()
    assert (scene.rows[0].status, scene.rows[0].outcome) == (431, "rejected")


async def test_a_request_line_that_is_too_long() -> None:
    scene = Scene()
    async with served(scene) as one:
        _, reply = await sent(one, f"POST /v1/messages?{LONG} HTTP/1.1\r\nhost: x\r\n\r\n")
        assert (reply.status, set(reply.json())) == (431, FORMS["/v1/messages"])


@pytest.mark.parametrize(
    "text",
    [
        "nonsense\r\n\r\n",
        "POST /v1/chat/completions HTTP/9.9\r\n\r\n",
        START + "bad header\r\n\r\n",
        START + "content-length: two\r\n\r\n",
        START + "content-length: 1\r\ncontent-length: 2\r\n\r\n",
        START + "content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
        START + "x: a\x00b\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
)
async def test_what_is_no_http_is_a_400_without_the_bytes(text: str) -> None:
    scene = Scene()
    async with served(scene) as one:
        client, reply = await sent(one, text)
        assert (reply.status, reply.json()["error"]["code"]) == (400, "invalid_request")
        assert reply.json()["error"]["message"] == "The request is not valid HTTP."
        assert await client.is_closed()
    assert scene.upstream.calls == []


async def test_bad_http_after_a_good_request_on_the_same_connection() -> None:
    scene = Scene()
    async with served(scene) as one:
        client = await one.connect()
        scene.upstream.plays.append(answers(WHOLE))
        client.ask("POST /v1/chat/completions", AUTH, body=json.dumps(ASK).encode() + b" " * 3000)
        assert (await client.reply()).status == 200
        for piece in (b"POST /v1/mess", b"ages HTTP/1.1\r\nhost: x\r\nx-long: ", LONG.encode()):
            client.send(piece)
            await turns(20)
        reply = await client.reply()
        assert (reply.status, set(reply.json())) == (431, FORMS["/v1/messages"])


async def _fed(one: Served) -> tuple[Client, Connection]:
    """A client, and its connection to be given reads at any turn of the loop."""
    client = await one.connect()
    await turns(20)
    [connection] = one.factory.connections
    assert isinstance(connection, Connection)
    return client, connection


@pytest.mark.parametrize("gap", range(8))
async def test_what_follows_bad_http_changes_nothing(gap: int) -> None:
    """Reads that come while the answer is on its way are no request, and not the path of the first."""
    scene = Scene()
    async with served(scene) as one:
        client, connection = await _fed(one)
        for piece in ("POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-long: " + LONG, *("y /z " * 9, LONG) * 4):
            connection.data_received(piece.encode())
            await turns(gap)
        reply = await client.reply()
        assert (reply.status, set(reply.json())) == (431, FORMS["/v1/messages"])
        assert await client.is_closed()
    assert [row.id for row in scene.rows] == [reply.headers["x-request-id"]]


@pytest.mark.parametrize("gap", range(8))
async def test_a_body_is_not_how_the_next_request_begins(gap: int) -> None:
    scene = Scene()
    async with served(scene) as one:
        client, connection = await _fed(one)
        scene.upstream.plays.append(answers(WHOLE))
        body = json.dumps(ASK).encode()
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n{AUTH}\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        connection.data_received(head.encode())
        await turns(gap)
        connection.data_received(body)
        assert (await client.reply()).status == 200
        client.send(f"POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-long: {LONG}".encode())
        reply = await client.reply()
        assert (reply.status, set(reply.json())) == (431, FORMS["/v1/messages"])


async def test_a_connection_keeps_only_the_start_of_what_it_read() -> None:
    scene = Scene()
    async with served(scene) as one:
        client = await one.connect()
        client.begin("POST /v1/chat/completions", AUTH, "content-length: 9000")
        client.send(b"x" * 8000)
        await turns(50)
        [connection] = one.factory.connections
        assert isinstance(connection, Connection)
        assert len(connection._begun) + len(connection._line) <= 4096
        await client.leave()
        await one.rows(1)


async def test_another_request_may_be_sent_before_the_first_is_answered() -> None:
    scene = Scene()
    async with served(scene) as one:
        client = await one.connect()
        body = json.dumps(ASK).encode()
        client.ask("POST /v1/chat/completions", AUTH, body=body)
        client.ask("GET /healthz")
        await one.until(1)
        scene.call.answer(200, json.dumps(WHOLE).encode())
        assert "choices" in (await client.reply()).json()
        assert (await client.reply()).json() == {"status": "ok"}


async def test_back_pressure_reaches_the_pipe_that_is_open() -> None:
    scene = Scene()
    async with served(scene) as one:
        client = await one.connect()
        client.begin("GET /healthz")
        await client.reply()
        [connection] = one.factory.connections
        assert isinstance(connection, Connection)
        connection.pause_writing()
        assert connection.writing_paused
        connection.resume_writing()
        assert not connection.writing_paused

        done: list[str] = []

        class Pipe:
            def pause(self) -> None:
                done.append("pause")

            def resume(self) -> None:
                done.append("resume")

        pipe: Any = Pipe()
        connection.pipe = pipe
        connection.pause_writing()
        connection.resume_writing()
        assert done == ["pause", "resume"]
        connection.pipe = None
