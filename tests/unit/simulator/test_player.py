import asyncio
from typing import Any, cast

import pytest

from tidegate.simulator.parameters import Ending
from tidegate.simulator.player import Player
from tidegate.simulator.script import Body, Close, Cut, Open, Raw, Say, Step, Wait


class Line:
    """A transport that remembers its writes."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def close(self) -> None:
        self.closed = True

    abort = close

    def is_closing(self) -> bool:
        return self.closed

    def get_write_buffer_size(self) -> int:
        return 0

    def get_extra_info(self, name: str) -> Any:
        return None


async def play(*steps: Step, http10: bool = False) -> Line:
    line, writable = Line(), asyncio.Event()
    writable.set()
    await Player(cast("asyncio.Transport", line), writable).perform(iter(steps), http10=http10)
    return line


async def test_each_say_is_one_write_and_one_chunk() -> None:
    line = await play(Open(200, (("a", "b"),), Body.CHUNKED), Say(b"hello"), Say(b""), Close())
    assert line.written == [
        b"HTTP/1.1 200 OK\r\na: b\r\ntransfer-encoding: chunked\r\n\r\n",
        b"5\r\nhello\r\n",
        b"0\r\n\r\n",
    ]
    assert not line.closed


async def test_a_body_of_known_length_has_no_framing() -> None:
    line = await play(Open(529, (), Body.LENGTH), Say(b"hello"), Close(), Raw(b"more"))
    assert line.written == [b"HTTP/1.1 529 Status\r\n\r\n", b"hello", b"more"]


async def test_a_body_that_the_connection_ends_closes_it() -> None:
    for steps, http10 in ((Open(200, (), Body.CLOSE, "1.0"), False), (Open(200, (), Body.CHUNKED), True)):
        line = await play(steps, Say(b"hello"), Close(), http10=http10)
        assert line.written[1:] == [b"hello"]
        assert line.closed


@pytest.mark.parametrize(
    ("how", "last"),
    [(Ending.CLEAN, b"0\r\n\r\n"), (Ending.TRUNCATE, b"1\r\na\r\n"), (Ending.RESET, b"1\r\na\r\n")],
)
async def test_each_way_to_cut(how: Ending, last: bytes) -> None:
    line = await play(Open(200, (), Body.CHUNKED), Say(b"a"), Cut(how))
    assert (line.written[-1], line.closed) == (last, True)


async def test_the_pace_does_not_drift(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause that took too long is made up for by the next."""
    slept: list[float] = []
    now = 100.0
    sleep = asyncio.sleep

    async def late(seconds: float) -> None:
        nonlocal now
        slept.append(round(seconds, 3))
        now += seconds + 0.25
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", late)
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now)
    await play(Wait(1.0), Wait(1.0), Wait(0.1))
    assert slept == [1.0, 0.75, 0.0]
