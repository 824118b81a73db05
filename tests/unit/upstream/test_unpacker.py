import asyncio
import os
from collections.abc import Callable
from functools import partial

import pytest
from tests.unit.upstream.conftest import MakeUpstream, Serve
from tests.unit.upstream.encodings import BOMBS, ENCODINGS, NOTHING, Flushed, deflated
from tests.unit.upstream.peers import OK, Line, Recorder, answering, channel, eventually, once, request, turns

from tidegate.exchange.ports import Call
from tidegate.upstream.client import HttpUpstream
from tidegate.upstream.unpacker import PIECES_PER_TURN

EVENTS = [b"data: one\n\n", b"data: two\n\n", b"data: [DONE]\n\n"]
UNDECODABLE = "the upstream sent an answer that cannot be decoded"
Ask = Callable[..., "asyncio.Future[tuple[Call, Recorder, HttpUpstream]]"]


@pytest.fixture
def ask(serve: Serve, upstreams: MakeUpstream) -> Ask:
    async def start(script: object) -> tuple[Call, Recorder, HttpUpstream]:
        peer = await serve(script)
        upstream, sink = upstreams(), Recorder()
        return upstream.open(channel(f"http://127.0.0.1:{peer.port}"), request(), sink), sink, upstream

    return lambda script: asyncio.ensure_future(start(script))


def chunk(part: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(part), part) if part else b""


def head(names: str) -> bytes:
    lines = b"".join(b"Content-Encoding: %s\r\n" % name.encode() for name in names.split(","))
    return OK + lines + b"Transfer-Encoding: chunked\r\n\r\n"


def sized(names: str, body: bytes) -> bytes:
    return OK + b"content-encoding: %s\r\ncontent-length: %d\r\n\r\n%s" % (names.encode(), len(body), body)


@pytest.mark.parametrize(("names", "encode"), ENCODINGS.values(), ids=ENCODINGS)
async def test_each_event_arrives_when_it_was_written(ask: Ask, names: str, encode: Flushed) -> None:
    step = asyncio.Semaphore(0)
    writes = encode(EVENTS)

    async def script(line: Line) -> None:
        await line.request()
        await line.send(head(names))
        for write in writes:
            await line.send(chunk(write))
            await step.acquire()
        await line.send(b"0\r\n\r\n")
        await line.gone()

    _, sink, upstream = await ask(script)
    for count in range(1, len(EVENTS) + 1):
        await sink.until(partial(arrived, sink, b"".join(EVENTS[:count])))
        step.release()
    for _ in writes:
        step.release()
    await sink.over()
    assert sink.events[-1] == "end"
    assert sink.headers == {}
    assert upstream.idle_connections == 1


def arrived(sink: Recorder, body: bytes) -> bool:
    return sink.body == body


async def test_an_unknown_encoding_is_a_failure(ask: Ask) -> None:
    _, sink, upstream = await ask(answering(sized("compress", b"hello")))
    await sink.over()
    assert sink.failure is not None
    assert (sink.events, sink.failure.message) == (["failure"], UNDECODABLE)
    await eventually(lambda: upstream.open_connections == 0)


async def test_a_broken_encoding_is_a_failure_after_what_could_be_read(ask: Ask) -> None:
    first, *_ = deflated(31)(EVENTS)
    _, sink, _ = await ask(once(head("gzip") + chunk(first), chunk(b"\xff" * 50), end="keep"))
    await sink.over()
    assert sink.failure is not None
    assert (sink.body, sink.failure.message) == (EVENTS[0], UNDECODABLE)


async def test_a_body_whose_encoding_stops_early_was_cut(ask: Ask) -> None:
    first, *_ = deflated(31)(EVENTS)
    _, sink, _ = await ask(answering(sized("gzip", first)))
    await sink.over()
    assert sink.failure is not None
    assert (sink.body, sink.failure.detail) == (EVENTS[0], "the compressed body stops in the middle")


async def test_an_empty_body_needs_no_decoding(ask: Ask) -> None:
    _, sink, _ = await ask(answering(sized("gzip", b"")))
    assert (await sink.over()).events == ["head", "end"]


@pytest.mark.parametrize(("names", "bomb"), BOMBS.values(), ids=BOMBS)
async def test_a_bomb_lets_others_have_their_turn(ask: Ask, names: str, bomb: bytes) -> None:
    _, sink, upstream = await ask(answering(sized(names, bomb)))
    most = seen = rounds = 0
    while sink.events[-1:] != ["end"]:
        await turns(1)
        most, seen = max(most, len(sink.pieces) - seen), len(sink.pieces)
        rounds += 1
    assert most <= PIECES_PER_TURN
    assert len(sink.body) == len(NOTHING)
    assert (await sink.over()).failure is None
    assert upstream.idle_connections == 1


async def test_a_bomb_stops_at_once_when_paused_or_cancelled(ask: Ask) -> None:
    call, sink, upstream = await ask(answering(sized("gzip", BOMBS["gzip"][1])))
    sink.react = lambda event: call.pause() if event == "body" else None
    await sink.until(lambda: sink.pieces)
    await turns(10)
    assert len(sink.pieces) == 1
    call.resume()
    await sink.until(lambda: len(sink.pieces) == 2)
    await turns(10)
    assert len(sink.pieces) == 2
    call.cancel()
    call.resume()
    await turns(10)
    assert sink.events == ["head", "body", "body"]
    await eventually(lambda: upstream.open_connections == upstream.idle_connections)


async def test_a_slow_client_of_a_compressed_answer_gets_all_of_it(ask: Ask) -> None:
    body = os.urandom(200_000) * 40
    wire = b"".join(deflated(31)([body[at : at + 50_000] for at in range(0, len(body), 50_000)]))
    call, sink, _ = await ask(answering(sized("gzip", wire)))
    sink.react = lambda event: call.pause() if event == "body" else None
    while sink.events[-1:] != ["end"]:
        await turns(3)
        call.resume()
    assert sink.body == body


@pytest.mark.parametrize("end", ["close", "reset"])
async def test_what_came_before_a_break_is_told_first_also_to_a_slow_client(ask: Ask, end: str) -> None:
    first, second, *_ = deflated(31)([EVENTS[0], NOTHING[: 8 << 20]])
    call, sink, _ = await ask(once(head("gzip") + chunk(first) + chunk(second), end=end))
    sink.react = lambda event: call.pause() if event == "body" else None
    while sink.failure is None:
        await turns(3)
        call.resume()
    assert sink.body.startswith(EVENTS[0])
    assert len(sink.body) == len(EVENTS[0]) + (8 << 20)
    assert sink.failure.message == "the upstream closed the connection in mid-answer"


async def test_finishing_a_compressed_answer_keeps_the_connection(ask: Ask) -> None:
    wire = b"".join(deflated(31)(EVENTS))
    call, sink, upstream = await ask(answering(sized("gzip", wire)))
    sink.react = lambda event: call.finish() if event == "body" else None
    await sink.until(lambda: sink.pieces)
    await eventually(lambda: upstream.idle_connections == 1)
    assert sink.events == ["head", "body"]
