import asyncio
import os
from collections.abc import Callable

import pytest
from tests.unit.upstream.conftest import MakeUpstream, Serve
from tests.unit.upstream.peers import (
    HELLO,
    OK,
    PATIENCE,
    Line,
    Peer,
    Recorder,
    Script,
    answering,
    channel,
    eventually,
    once,
    request,
    turns,
)

from tidegate.core.failure import Kind
from tidegate.exchange.ports import Call
from tidegate.upstream import client
from tidegate.upstream.client import HttpUpstream

CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"


def there(peer: Peer) -> str:
    return f"http://127.0.0.1:{peer.port}"


class Pair:
    """An upstream with one peer, on one channel."""

    def __init__(self, upstream: HttpUpstream, peer: Peer) -> None:
        self.upstream = upstream
        self.peer = peer
        self.channel = channel(there(peer))

    def open(self, body: bytes = b"{}") -> tuple[Call, Recorder]:
        sink = Recorder()
        return self.upstream.open(self.channel, request(body), sink), sink

    async def ask(self) -> Recorder:
        return await self.open()[1].over()


@pytest.fixture
def pair(serve: Serve, upstreams: MakeUpstream) -> "Callable[..., asyncio.Future[Pair]]":
    async def make(script: Script, **limits: float) -> Pair:
        return Pair(upstreams(**limits), await serve(script))

    return lambda script, **limits: asyncio.ensure_future(make(script, **limits))


MakePair = Callable[..., "asyncio.Future[Pair]"]


async def test_connections_are_kept_and_the_last_used_is_taken_first(pair: MakePair) -> None:
    both = await pair(answering(HELLO))
    await asyncio.gather(both.ask(), both.ask(), both.ask())
    assert both.upstream.open_connections == both.upstream.idle_connections == 3
    for _ in range(3):
        await both.ask()
    assert len(both.peer.lines) == 3


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"connection: close\r\ncontent-length: 5\r\n\r\nhello",
        b"HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello",
        HELLO + HELLO,
        HELLO + b"x",
    ],
    ids=["close asked for", "http/1.0", "answers twice", "a byte too many"],
)
async def test_some_connections_are_not_kept(pair: MakePair, answer: bytes) -> None:
    both = await pair(answering(answer))
    for count in (1, 2):
        assert (await both.ask()).body == b"hello"
        assert len(both.peer.lines) == count
        assert both.upstream.idle_connections == 0


@pytest.mark.parametrize("parting", ["close", "reset", "bytes"])
async def test_an_idle_connection_that_the_peer_ends_is_let_go_at_once(pair: MakePair, parting: str) -> None:
    leave = asyncio.Event()

    async def script(line: Line) -> None:
        await line.request()
        await line.send(HELLO)
        await leave.wait()
        match parting:
            case "close":
                line.close()
            case "reset":
                line.reset()
            case _:
                await line.send(HELLO)
                await line.gone()

    both = await pair(script)
    await both.ask()
    assert both.upstream.idle_connections == 1
    leave.set()
    await eventually(lambda: both.upstream.open_connections == 0)
    assert both.upstream.idle_connections == 0


async def test_what_came_unasked_on_an_idle_connection_never_answers_the_next_request(pair: MakePair) -> None:
    both = await pair(answering(HELLO))
    for count in (1, 2, 3):
        assert (await both.ask()).body == b"hello"
        fd: int = both.peer.lines[-1].writer.get_extra_info("socket").fileno()
        os.write(fd, OK + b"content-length: 6\r\n\r\nstolen")  # in the kernel; the loop has not seen it
        assert len(both.peer.lines) == count


async def test_idle_connections_end_by_time(pair: MakePair) -> None:
    both = await pair(answering(HELLO), idle_timeout=0.05)
    await both.ask()
    assert both.upstream.idle_connections == 1
    await eventually(lambda: both.upstream.open_connections == 0)


async def test_idle_connections_are_bounded(pair: MakePair) -> None:
    both = await pair(answering(HELLO), idle_per_route=2)
    await asyncio.gather(*[both.ask() for _ in range(5)])
    await eventually(lambda: both.upstream.open_connections == 2)


def dies_at_the_second(how: str) -> Script:
    """The first connection answers once and dies when it gets another request; later ones answer always."""
    first: list[Line] = []

    async def script(line: Line) -> None:
        first.append(line)
        await line.request()
        await line.send(HELLO)
        await line.request()
        if line is first[0]:
            if how == "reset":
                line.reset()
            elif how == "half a head":
                await line.send(b"HTTP/1.1 2")
            return
        await line.send(HELLO)

    return script


@pytest.mark.parametrize("how", ["close", "reset"])
async def test_a_pooled_connection_that_dies_unheard_is_replaced(pair: MakePair, how: str) -> None:
    both = await pair(dies_at_the_second(how))
    await both.ask()
    sink = await both.ask()
    assert (sink.events, sink.body, len(both.peer.lines)) == (["head", "body", "end"], b"hello", 2)


async def test_a_pooled_connection_that_had_said_something_is_not_replaced(pair: MakePair) -> None:
    both = await pair(dies_at_the_second("half a head"))
    await both.ask()
    sink = await both.ask()
    assert (sink.events, len(both.peer.lines)) == (["failure"], 1)


async def test_there_is_one_retry_only_and_none_of_a_fresh_connection(pair: MakePair) -> None:
    served: list[Line] = []

    async def script(line: Line) -> None:
        served.append(line)
        await line.request()
        if len(served) == 1:
            await line.send(HELLO)
            await line.request()

    both = await pair(script)
    await both.ask()
    assert (await both.ask()).events == ["failure"]
    assert len(served) == 2
    assert (await both.ask()).events == ["failure"]
    assert len(served) == 3


async def test_cancel_closes_at_once_and_silences(pair: MakePair) -> None:
    gone = asyncio.Event()

    async def script(line: Line) -> None:
        await line.request()
        await line.send(CHUNKED + b"5\r\nhello\r\n")
        await line.gone()
        gone.set()

    both = await pair(script)
    call, sink = both.open()
    await sink.until(lambda: "body" in sink.events)
    call.cancel()
    call.cancel()
    call.finish()
    call.pause()
    call.resume()
    async with asyncio.timeout(20):
        await gone.wait()
    assert sink.events == ["head", "body"]
    assert both.upstream.open_connections == 0


@pytest.mark.parametrize("event", ["head", "body"])
@pytest.mark.parametrize("way", ["cancel", "finish"])
async def test_a_sink_may_end_the_call_from_within(pair: MakePair, event: str, way: str) -> None:
    both = await pair(answering(OK + b"content-length: 5\r\n\r\nhello"))
    call, sink = both.open()
    sink.react = lambda heard: getattr(call, way)() if heard == event else None
    await sink.until(lambda: event in sink.events)
    await turns(5)
    assert sink.events[-1] == event
    assert both.upstream.idle_connections == (1 if way == "finish" else 0)
    assert (await both.ask()).body == b"hello"


async def test_cancel_before_the_first_turn_sends_nothing(pair: MakePair) -> None:
    both = await pair(answering(HELLO))
    call, sink = both.open()
    call.cancel()
    await turns(5)
    assert sink.events == []
    await eventually(lambda: both.upstream.open_connections == 0)


@pytest.mark.parametrize("count", range(1, 12))
async def test_cancel_at_any_turn_leaves_nothing(pair: MakePair, count: int) -> None:
    both = await pair(answering(HELLO))
    call, sink = both.open()
    await turns(count)
    over = "end" in sink.events
    call.cancel()
    heard = list(sink.events)
    await turns(10)
    assert sink.events == heard
    await eventually(lambda: both.upstream.open_connections == (1 if over else 0))


async def test_finish_keeps_a_connection_whose_body_ends_soon(pair: MakePair) -> None:
    go_on = asyncio.Event()

    async def script(line: Line) -> None:
        while True:
            await line.request()
            await line.send(CHUNKED + b"5\r\nhello\r\n")
            await go_on.wait()
            await line.send(b"4\r\nrest\r\n", b"0\r\n\r\n")

    both = await pair(script, drain_timeout=PATIENCE)
    call, sink = both.open()
    await sink.until(lambda: "body" in sink.events)
    call.pause()
    call.finish()
    call.finish()
    go_on.set()
    await eventually(lambda: both.upstream.idle_connections == 1)
    assert sink.events == ["head", "body"]
    assert (await both.ask()).body == b"hellorest"
    assert len(both.peer.lines) == 1


async def test_finish_closes_a_connection_whose_body_goes_on(pair: MakePair) -> None:
    both = await pair(once(CHUNKED + b"5\r\nhello\r\n", end="keep"))
    call, sink = both.open()
    await sink.until(lambda: "body" in sink.events)
    call.finish()
    assert both.upstream.open_connections == 1
    async with asyncio.timeout(20):
        await eventually(lambda: both.upstream.open_connections == 0)
    assert sink.events == ["head", "body"]


async def test_finish_of_a_call_that_was_not_answered_says_nothing(pair: MakePair) -> None:
    both = await pair(answering(HELLO))
    await both.ask()
    call, sink = both.open()
    call.finish()
    await eventually(lambda: both.upstream.idle_connections == 1)
    assert sink.events == []


async def test_finish_hears_no_break(pair: MakePair) -> None:
    both = await pair(once(CHUNKED + b"5\r\nhello\r\n", b"5\r\n", end="reset"))
    call, sink = both.open()
    sink.react = lambda heard: call.finish() if heard == "body" else None
    await sink.until(lambda: "body" in sink.events)
    await eventually(lambda: both.upstream.open_connections == 0)
    assert sink.events == ["head", "body"]


async def test_a_paused_call_stops_the_peer_and_loses_nothing(pair: MakePair) -> None:
    size = 40_000_000
    sent: list[int] = []

    async def script(line: Line) -> None:
        await line.request()
        await line.send(OK + b"content-length: %d\r\n\r\n" % size)
        for _ in range(size // 100_000):
            await line.send(b"x" * 100_000)
            sent.append(100_000)

    both = await pair(script)
    call, sink = both.open()
    await sink.until(lambda: "body" in sink.events)
    call.pause()
    heard = len(sink.body)
    await stalls(sent)
    assert len(sink.body) <= heard + 262_144
    assert sum(sent) < size
    call.resume()
    await sink.over()
    assert (len(sink.body), sink.events[-1]) == (size, "end")


async def test_a_pause_before_there_is_a_connection_holds(pair: MakePair) -> None:
    both = await pair(once(HELLO, end="keep"))
    call, sink = both.open()
    call.pause()
    await eventually(lambda: both.peer.lines)
    await asyncio.sleep(0.05)  # nothing can tell that something does not come
    assert sink.events == []
    call.resume()
    assert (await sink.over()).body == b"hello"


async def test_a_connection_that_was_paused_is_kept_reading(pair: MakePair) -> None:
    both = await pair(answering(HELLO))
    call, sink = both.open()
    sink.react = lambda heard: call.pause() if heard == "head" else None
    await sink.over()
    assert (await both.ask()).body == b"hello"
    assert len(both.peer.lines) == 1


async def test_a_bug_in_the_making_of_a_connection_does_not_leave_the_sink_waiting(
    pair: MakePair, monkeypatch: pytest.MonkeyPatch
) -> None:
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: complaints.append(context["exception"])
    )

    async def dial(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(client, "dial", dial)
    both = await pair(answering(HELLO))
    sink = await both.ask()
    assert sink.failure is not None
    assert sink.failure.kind is Kind.INTERNAL
    await eventually(lambda: complaints)


async def test_closing_fails_what_is_under_way_and_what_comes(pair: MakePair) -> None:
    both = await pair(once(CHUNKED + b"5\r\nhello\r\n", end="keep"))
    _, running = both.open()
    await running.until(lambda: "body" in running.events)
    _, opening = both.open()
    await both.upstream.close()
    assert both.upstream.open_connections == 0
    for sink in (running, opening, both.open()[1]):
        await sink.over()
        assert sink.failure is not None
        assert sink.failure.kind is Kind.DRAINING


async def stalls(sent: list[int]) -> None:
    """Wait until the peer's writes are stuck."""
    seen = -1
    while len(sent) != seen:
        seen = len(sent)
        await asyncio.sleep(0.1)
