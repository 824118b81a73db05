"""Too much, too large, too slow: limits on requests, on headers, on events of the upstream."""

import asyncio
import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

import brotli
import pytest
import zstandard
from tests.harness import settings
from tests.harness.client import Connection, Ended, Reply, request_bytes
from tests.harness.dialects import (
    BAD_REQUEST,
    BIG_HEADERS,
    CHAT,
    SIDES,
    SLOW_BODY,
    TOO_LARGE,
    Side,
    check_refusal,
)
from tests.harness.gateway import Gateway, free_port
from tests.harness.script import HOLD, Answer, Pause, pieces, raw, stream
from tests.harness.stage import Stage
from tests.harness.together import together
from tests.harness.upstream import ScriptedUpstream

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
LIMIT = 100_000
_START = b"POST /v1/messages HTTP/1.1\r\nhost: x\r\n"


@pytest.fixture(scope="module")
def small(upstream: ScriptedUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A gateway with small limits: 100 kB bodies, one second for a body, events of 1 MiB."""
    folder = tmp_path_factory.mktemp("small")
    config = settings.merged(
        settings.standard(free_port(), str(folder), upstream.base),
        server={"max_body_bytes": LIMIT, "body_timeout": "1s"},
        streaming={"max_event_bytes": 1_048_576},
    )
    gateway = Gateway(config, Path(folder))
    try:
        yield Stage(gateway.wait_ready(), upstream)
    finally:
        gateway.stop()


def _padded(side: Side, model: str, size: int) -> bytes:
    """A request body of exactly `size` bytes."""
    content = json.dumps(side.request(model, padding="")).encode()
    return content.replace(b'"padding": ""', b'"padding": "' + b"p" * (size - len(content)) + b'"')


@every_side
async def test_the_body_limit_is_exact(small: Stage, side: Side) -> None:
    async def allowed() -> None:
        model = small.model(side)
        small.script(side, model, [stream(side.script().all)])
        assert (await small.gateway.call(side, _padded(side, model, LIMIT))).status == 200

    async def refused(content: bytes, *extra: tuple[str, str]) -> None:
        reply = await small.gateway.call(side, content, extra=extra)
        check_refusal(side, reply, TOO_LARGE)

    async def chunked() -> None:
        content = _padded(side, "m", LIMIT + 1)
        headers = [*small.gateway.headers(side), ("transfer-encoding", "chunked")]
        head = request_bytes("POST", side.path, headers)
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in pieces(content, 8192))
        reply = await _raw(small, head + chunks + b"0\r\n\r\n")
        check_refusal(side, reply, TOO_LARGE)

    bomb = b'{"model":"m","x":"' + b" " * (30 * LIMIT) + b'"}'
    await together(
        {
            "at the limit": allowed(),
            "one more": refused(_padded(side, "m", LIMIT + 1)),
            "chunked": chunked(),
            "gzip": refused(gzip.compress(bomb), ("content-encoding", "gzip")),
            "deflate": refused(zlib.compress(bomb), ("content-encoding", "deflate")),
            "br": refused(bytes(brotli.compress(bomb)), ("content-encoding", "br")),
            "zstd": refused(zstandard.compress(bomb), ("content-encoding", "zstd")),
        }
    )


async def _raw(stage: Stage, data: bytes) -> Reply:
    connection = await Connection.open(stage.gateway.port)
    try:
        await connection.send(data)
        return await (await connection.reply()).finish()
    finally:
        connection.close()


@every_side
async def test_what_was_too_large_has_a_row(small: Stage, side: Side) -> None:
    reply = await small.gateway.call(side, _padded(side, "m", LIMIT + 1))
    row = await small.gateway.row_of(reply.header("x-request-id"))
    assert (row["status"], row["outcome"], row["protocol"]) == (413, "rejected", side.name)


@every_side
async def test_what_announces_too_much_is_refused_before_it_comes(small: Stage, side: Side) -> None:
    headers = [*small.gateway.headers(side), ("content-length", "10000000000")]
    connection = await Connection.open(small.gateway.port)
    await connection.send(request_bytes("POST", side.path, headers, b"{"))
    check_refusal(side, await (await connection.reply(within=20)).finish(), TOO_LARGE)
    connection.close()


@every_side
async def test_a_body_that_says_another_encoding_than_it_has(small: Stage, side: Side) -> None:
    async def refused(content: bytes, encoding: str) -> None:
        reply = await small.gateway.call(side, content, extra=[("content-encoding", encoding)])
        check_refusal(side, reply, BAD_REQUEST)

    good = json.dumps(side.request("m")).encode()
    scenarios = {encoding: refused(good, encoding) for encoding in ("gzip", "deflate", "br", "zstd")}
    scenarios["cut gzip"] = refused(gzip.compress(good)[:-12], "gzip")
    await together(scenarios)


@every_side
async def test_a_body_a_byte_a_second_times_out(small: Stage, side: Side) -> None:
    async def slow(*, part: int, pause: float) -> None:
        request = small.gateway.request(side, side.request(small.model(side)))
        end_of_head = request.index(b"\r\n\r\n") + 4
        connection = await Connection.open(small.gateway.port)
        await connection.send(request[:end_of_head])
        reading = asyncio.create_task(connection.reply(within=20))
        for start in range(end_of_head, len(request) - 40, part):
            if reading.done():
                break
            connection.writer.write(request[start : start + part])
            await asyncio.wait({reading}, timeout=pause)
        reply = await (await reading).finish()
        check_refusal(side, reply, SLOW_BODY)
        assert reply.head_at + 0.0 > 0.8
        connection.close()

    await together({"a byte a time": slow(part=1, pause=0.3), "nothing more": slow(part=5, pause=4.0)})


@every_side
async def test_headers_over_the_limit_are_told(small: Stage, side: Side) -> None:
    async def refused(*parts: bytes) -> None:
        connection = await Connection.open(small.gateway.port)
        for part in parts:
            await connection.send(part)
            await asyncio.sleep(0.02)
        reply = await (await connection.reply()).finish()
        check_refusal(side, reply, BIG_HEADERS)
        connection.close()
        row = await small.gateway.row_of(reply.header("x-request-id"))
        assert (row["status"], row["outcome"], row["protocol"]) == (431, "rejected", side.name)

    content = json.dumps(side.request("m")).encode()
    base = small.gateway.headers(side)
    big = request_bytes("POST", side.path, [*base, ("x-big", "b" * 70_000)], content)
    many = request_bytes("POST", side.path, [*base, *((f"x-{n}", "y" * 50) for n in range(2000))], content)
    in_parts = refused(big[:9], big[9:200], big[200:])
    await together({"one": refused(big), "many": refused(many), "in parts": in_parts})


async def test_a_request_line_over_the_limit_is_told(small: Stage) -> None:
    data = request_bytes("POST", f"/v1/chat/completions?x={'q' * 70_000}", [], b"{}")
    reply = await _raw(small, data)
    assert reply.status in (414, 431)
    assert reply.json()["error"]["message"]


@pytest.mark.parametrize(
    "data",
    [
        b"HELLO\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 40,
        _START + b"content-length: -5\r\n\r\n",
        _START + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        _START + b"bad header\r\n\r\n",
        _START + b"transfer-encoding: chunked\r\n\r\nZZ\r\n",
    ],
    ids=["word", "version", "tls", "negative", "both lengths", "header", "chunk"],
)
async def test_what_is_no_http_ends_with_400_or_a_close(small: Stage, data: bytes) -> None:
    connection = await Connection.open(small.gateway.port)
    await connection.send(data)
    async with asyncio.timeout(20):
        answer = await connection.reader.read(4000)
    assert answer == b"" or b" 400 " in answer.split(b"\r\n", 1)[0] or b" 401 " in answer.split(b"\r\n", 1)[0]
    assert b"<html" not in answer.lower()
    assert b"Traceback" not in answer
    connection.close()


@every_side
async def test_events_over_the_limit_end_the_upstream(small: Stage, side: Side) -> None:
    """Before output another channel takes over, after it the failure is told; also a line without an end."""

    def endless(start: bytes, size: int) -> list[bytes]:
        return [start, *[b"x" * 65_536] * (size // 65_536)]

    async def before() -> None:
        good = side.script()
        steps = stream(endless(b'data: {"x":"', 4_000_000), HOLD)
        played = await small.play(side, steps, b=[stream(good.all)])
        assert played.text == "Hello"
        await played.at_a[0].closed(within=20)

    async def after(garbage: list[bytes]) -> None:
        model = small.model(side, "ab")
        script = side.script(model)
        events = [*script.opening, script.deltas[0]]
        played = await small.play(side, stream(events, Pause(0.1), garbage, HOLD), b=[], model=model)
        side.check_interrupted(played.stream)
        assert played.stream.bytes().startswith(b"".join(events))
        assert played.at_b == []
        await played.at_a[0].closed(within=20)

    async def large_but_allowed() -> None:
        model = small.model(side)
        script = side.script(model, ("z" * 1_000_000,))
        played = await small.play(side, stream(script.all[:-1], script.all[-1]), model=model)
        if side.name != "responses":  # its closing events repeat the whole text
            assert played.reply.body == script.bytes()

    line = endless(b'data: {"x":"', 4_000_000)
    lines = [b"data: x\n" * 11_000]
    comment = endless(b": ", 4_000_000)
    await together(
        {
            "before": before(),
            "line": after(line),
            "lines": after(lines),
            "comment": after(comment),
            "allowed": large_but_allowed(),
        }
    )


@every_side
async def test_an_event_of_8_mb_passes_whole(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    script = side.script(model, ("Z" * 8_000_000, "."))
    big = script.deltas[0]
    steps = stream(script.opening, pieces(big, 60_000), script.deltas[1])
    stage.script(side, model, [Answer([*steps.steps, HOLD])])
    async with stage.gateway.open(side, side.request(model)) as reply:
        await reply.until(script.deltas[1], within=15)
    assert reply.body == b"".join([*script.opening, *script.deltas])


async def test_an_answer_with_endless_headers_moves_on(stage: Stage) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    many = b"".join(b"x-%d: %b\r\n" % (number, b"v" * 100) for number in range(20_000))
    large = b"x-large: " + b"v" * 2_000_000

    async def moves_on(data: bytes) -> None:
        played = await stage.play(CHAT, raw(head + data, HOLD), b=[stream(CHAT.script().all)])
        assert played.text == "Hello"
        assert played.reply.ended is Ended.WHOLE
        assert len(played.at_b) == 1

    await together({"many": moves_on(many), "large": moves_on(large)})
