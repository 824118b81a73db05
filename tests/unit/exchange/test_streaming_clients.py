"""A streaming client may leave, be slow, or still be there when the gateway goes."""

import asyncio
from typing import Any

import pytest
from tests.unit.exchange.said import (
    DONE,
    HELLO,
    ROLE,
    STOP,
    STREAM,
    USAGE,
    WITH_USAGE,
    says,
)
from tests.unit.exchange.scene import Scene, channel, turns

COMMENT = b": tidegate-keepalive\n"
A, B = channel("a"), channel("b")


async def opened(*channels: Any, body: Any = STREAM, **members: Any) -> Scene:
    scene = Scene(*channels, **members)
    await scene.start(body)
    return scene


@pytest.mark.parametrize("said", [[], [ROLE], [HELLO], [HELLO, STOP]])
@pytest.mark.parametrize("waited", [0, 11])
async def test_a_client_may_leave_at_any_time(said: list[bytes], waited: float) -> None:
    scene = await opened(A, B)
    if said:
        scene.call.head()
        scene.call.body(*said)
    if STOP not in said:
        scene.pass_time(waited)
    await scene.leave()
    assert scene.call.done == ["cancel"]
    row = scene.row
    assert row.outcome == "client_closed"
    sent = HELLO in said or bool(waited)
    assert row.status == (200 if sent else 499)
    words = 2 if HELLO in said else 0
    expected = (3, words, "estimated") if said else (0, 0, "none")
    assert (row.input_tokens, row.output_tokens, row.usage_source) == expected
    assert scene.tries == [("a", "abandoned", 200 if said else None)]


async def test_a_client_may_leave_while_its_usage_is_estimated() -> None:
    scene = Scene()
    scene.tokenizer.gate = asyncio.get_running_loop().create_future()
    scene.upstream.plays.append(says(HELLO, STOP, DONE))
    await scene.start(WITH_USAGE)
    assert not scene.pipe.ended
    scene.tokenizer.gate.cancel()
    scene.tokenizer.gate = None
    scene.tasks[-1].cancel()
    await turns()
    await scene.exchange.settlement.settled()
    assert (scene.row.outcome, scene.row.usage_source) == ("client_closed", "estimated")
    assert scene.tries == [("a", "served", 200)]


async def test_at_the_end_of_a_drain_a_stream_gets_its_error() -> None:
    scene = await opened(A, B)
    scene.call.head()
    scene.call.body(HELLO)
    scene.exchange.draining = True
    scene.exchange.interrupt_all()
    await scene.over()
    assert b"stream_interrupted" in scene.pipe.written
    assert (scene.row.outcome, len(scene.upstream.calls)) == ("interrupted", 1)


@pytest.mark.parametrize("status", [None, 500])
async def test_at_the_end_of_a_drain_a_silent_stream_is_refused(status: int | None) -> None:
    """Also when an upstream is just about to refuse it: no other channel is tried."""
    scene = await opened(A, B)
    if status is not None:
        scene.call.head(status)
    scene.exchange.interrupt_all()
    await scene.over()
    assert (scene.pipe.status, scene.row.outcome, len(scene.upstream.calls)) == (503, "failed", 1)


async def test_a_slow_client_holds_the_upstream_and_stops_all_clocks() -> None:
    scene = await opened(A, B)
    scene.call.head()
    scene.call.body(HELLO)
    assert scene.pipe.call is scene.call
    scene.pipe.paused = True
    scene.pass_time(1000)
    assert scene.pipe.written == HELLO, "neither a comment nor a time-out"
    scene.pipe.paused = False
    scene.pass_time(9)
    assert scene.pipe.written == HELLO
    scene.pass_time(3)
    assert scene.pipe.written == HELLO + COMMENT
    await scene.leave()


async def test_usage_is_still_awaited_after_a_slow_client_has_caught_up() -> None:
    scene = await opened()
    scene.call.head()
    scene.call.body(HELLO, STOP)
    scene.pipe.paused = True
    scene.pass_time(30)
    scene.pipe.paused = False
    scene.pass_time(2)
    assert not scene.pipe.ended
    scene.call.body(USAGE, DONE)
    await scene.over()
    assert scene.row.usage_source == "upstream"


async def test_a_call_that_starts_behind_a_slow_client_starts_paused() -> None:
    scene = Scene()
    scene.pipe.paused = True
    await scene.start(STREAM)
    assert scene.call.done == ["pause"]
    await scene.leave()


async def test_an_estimate_that_the_client_was_told_is_not_made_again() -> None:
    scene = Scene()
    await scene.play(WITH_USAGE, says(HELLO, STOP, DONE))
    assert b'"completion_tokens":2' in scene.pipe.written
    assert (scene.row.output_tokens, scene.row.usage_source) == (2, "estimated")
    assert scene.tokenizer.counts == 2, "one of the prompt and one of the output"
