"""The clock jumps, nothing waits, and what can never end is told."""

import asyncio
import time

import pytest
from tests.simulation.virtual_loop import Endless, Stuck, VirtualLoop


def test_an_hour_takes_no_time_and_timers_come_in_order() -> None:
    order: list[tuple[str, float]] = []

    async def nap(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        order.append((name, asyncio.get_running_loop().time()))

    async def day() -> None:
        await asyncio.gather(nap("long", 3600), nap("short", 0.5), nap("none", 0))

    began = time.perf_counter()
    assert VirtualLoop(10.0, 1e6).play(day())
    assert time.perf_counter() - began < 60
    assert order == [("none", 10.0), ("short", 10.5), ("long", 3610.0)]


def test_work_for_a_thread_is_done_inline() -> None:
    found: list[int] = []

    async def day() -> None:
        found.append(await asyncio.to_thread(lambda: 7))
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 // 0)

    assert VirtualLoop(0, 1).play(day())
    assert found == [7]


def test_a_cancelled_timer_moves_no_clock() -> None:
    async def day() -> None:
        asyncio.get_running_loop().call_later(50, print).cancel()
        await asyncio.sleep(1)

    loop = VirtualLoop(0, 10)
    assert loop.play(day())
    assert loop.time() == 1


def test_waiting_for_nothing_is_a_find() -> None:
    loop = VirtualLoop(0, 10)
    with pytest.raises(Stuck, match="play"):
        loop.play(asyncio.Event().wait())  # type: ignore[arg-type]  # its result is of no use
    loop.abandon()
    assert loop.is_closed()


def test_going_on_for_ever_is_a_find() -> None:
    async def tick(seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)

    for seconds in (1.0, 0.0):
        loop = VirtualLoop(0, 10)
        with pytest.raises(Endless):
            loop.play(tick(seconds))
        loop.abandon()


def test_after_a_halt_not_one_callback_runs() -> None:
    ran: list[str] = []

    async def day() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        loop.call_soon(loop.halt)
        loop.call_soon(ran.append, "too late")
        await asyncio.sleep(1)

    loop = VirtualLoop(0, 10)
    assert not loop.play(day())
    assert ran == []
    loop.abandon()


def test_faults_of_callbacks_are_kept() -> None:
    async def day() -> None:
        asyncio.get_running_loop().call_soon(lambda: 1 // 0)
        await asyncio.sleep(1)

    loop = VirtualLoop(0, 10)
    loop.play(day())
    assert "ZeroDivisionError" in loop.faults[0]
