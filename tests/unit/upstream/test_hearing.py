import asyncio
from collections.abc import Callable
from itertools import count

import pytest

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.doctor.recording import Close, Recording
from tidegate.exchange.ports import Sink, UpstreamRequest
from tidegate.routing.catalog import Channel
from tidegate.upstream.hearing import hear

CHANNEL = Channel(
    name="a", protocol=Protocol.CHAT, base_url="http://a/v1", api_key=Secret("k"), models={"m": "m"}
)
REQUEST = UpstreamRequest("POST", "/x", (), b"{}")
BROKE = Failure(kind=Kind.UPSTREAM, message="it broke", detail="reset")


class Call:
    def __init__(self) -> None:
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True

    def finish(self) -> None:
        self.cancelled = True

    def pause(self) -> None:
        pass

    def resume(self) -> None:
        pass


class Played:
    """An upstream that plays what it is told, in the loop's next turn."""

    def __init__(self, play: Callable[[Sink], None]) -> None:
        self.call = Call()
        self._play = play

    def open(self, channel: Channel, request: UpstreamRequest, sink: Sink) -> Call:
        asyncio.get_running_loop().call_soon(self._play, sink)
        return self.call


async def heard(play: Callable[[Sink], None], patience: float = 5.0) -> Recording:
    upstream = Played(play)
    clock = count(100).__next__
    found = await hear(upstream, CHANNEL, REQUEST, clock=clock, limit=8, patience=patience)
    assert upstream.call.cancelled
    return found


def answer(sink: Sink) -> None:
    sink.on_connected()
    sink.on_head(200, {"a": "b"})
    sink.on_body(b"1234")
    sink.on_body(b"56")
    sink.on_end()


async def test_an_answer_is_recorded_with_its_times() -> None:
    found = await heard(answer)
    assert found.head is not None
    assert (found.head.at, found.head.status, found.head.headers) == (1, 200, (("a", "b"),))
    assert [(piece.at, piece.data) for piece in found.pieces] == [(2, b"1234"), (3, b"56")]
    assert (found.close, found.ended_at) == (Close.WHOLE, 4)


async def test_no_more_is_kept_than_was_asked_for() -> None:
    def much(sink: Sink) -> None:
        sink.on_head(200, {})
        sink.on_body(b"123456789")

    found = await heard(much)
    assert (found.body, found.close) == (b"12345678", Close.TOO_LARGE)


@pytest.mark.parametrize(("connected", "close"), [(True, Close.BROKEN), (False, Close.UNREACHED)])
async def test_a_break_is_told_from_no_connection(connected: bool, close: Close) -> None:
    def broke(sink: Sink) -> None:
        if connected:
            sink.on_connected()
        sink.on_failure(BROKE)

    found = await heard(broke)
    assert (found.head, found.close, found.trouble) == (None, close, "it broke (reset)")


async def test_patience_ends() -> None:
    found = await heard(lambda sink: sink.on_head(200, {}), patience=0.01)
    assert found.close is Close.TOO_LATE


async def test_a_connection_that_does_not_come_about_in_time_is_none() -> None:
    silent = await heard(lambda sink: None, patience=0.01)
    assert (silent.close, silent.trouble) == (Close.UNREACHED, "none stood within 0.01 s")
    connected = await heard(lambda sink: sink.on_connected(), patience=0.01)
    assert (connected.close, connected.trouble) == (Close.TOO_LATE, None)
