"""Channels in turn: what is tried, what is noted of each try, and that no turn is ever kept."""

import asyncio
import json
from typing import Any

import pytest
from msgspec import structs
from tests.unit.exchange.said import ASK, HELLO, ROLE, STOP, STREAM, WHOLE, answers, breaks, refuses, says
from tests.unit.exchange.scene import CUT, FakeCall, Scene, channel, turns

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.registry import dialect_of
from tidegate.routing.breaker import Cooling, Health, MayProbe, Ready, Rules

A, B, C = channel("a"), channel("b"), channel("c")
GOOD = says(ROLE, HELLO, STOP, b"data: [DONE]\n\n")


async def test_the_next_channel_takes_over_and_each_try_is_noted() -> None:
    scene = Scene(A, B, C)

    def slow(call: FakeCall) -> None:
        scene.clock.now += 2
        call.fail(
            Failure(
                kind=Kind.UPSTREAM, message="refused at a.example.com", detail="x credential-of-channel-a y"
            )
        )

    await scene.play(STREAM, slow, refuses(500), GOOD)
    assert scene.pipe.written == ROLE + HELLO + STOP + b"data: [DONE]\n\n"
    assert scene.tries == [("a", "failed", None), ("b", "failed", 500), ("c", "served", 200)]
    first = scene.row.attempts[0]
    assert (first.upstream_model, first.started_at, first.duration_ms) == ("up", 1e9 + 1000, 2000)
    assert first.error is not None
    assert "a.example.com" not in first.error
    assert "credential" not in first.error
    assert (scene.row.channel, scene.row.outcome) == ("c", "completed")


async def test_the_request_s_own_fault_is_tried_nowhere_else() -> None:
    scene = Scene(A, B)
    await scene.play(ASK, refuses(422, "bad at a.example.com"))
    assert (scene.pipe.status, scene.pipe.error["message"]) == (422, "bad at [redacted]")
    assert scene.tries == [("a", "failed", 422)]
    assert scene.row.outcome == "failed"
    assert isinstance(scene.health.standing("a", "up", 0), Ready)


@pytest.mark.parametrize(("limit", "tried"), [(1, 1), (2, 2), (9, 3)])
async def test_so_many_channels_are_tried_and_no_more(limit: int, tried: int) -> None:
    scene = Scene(A, B, C, max_attempts=limit)
    await scene.play(ASK, *[breaks(CUT)] * 3)
    assert len(scene.row.attempts) == tried
    assert (scene.pipe.status, scene.pipe.error["code"]) == (502, "upstream_error")


async def test_different_failures_are_told_as_one() -> None:
    scene = Scene(A, B)
    await scene.play(ASK, refuses(500), refuses(429, retry_after="7"))
    assert (scene.pipe.status, scene.pipe.headers["retry-after"]) == (429, "7")
    assert scene.row.outcome == "failed"


async def test_without_a_channel_nothing_is_tried() -> None:
    scene = Scene(A)
    for _ in range(3):
        turn = scene.health.begin("a", "up", 1000)
        assert turn is not None
        scene.health.failed(turn, 1000, "down")
    await scene.play(ASK)
    assert (scene.pipe.status, scene.pipe.error["code"]) == (503, "no_available_channel")
    assert scene.pipe.headers["retry-after"] == "30"
    assert (scene.row.outcome, scene.row.attempts) == ("rejected", ())


async def test_a_channel_that_came_to_rest_since_the_plan_was_made_is_passed_over() -> None:
    scene = Scene(A, B)

    def rests(call: FakeCall) -> None:
        for _ in range(3):
            turn = scene.health.begin("b", "up", 1000)
            assert turn is not None
            scene.health.failed(turn, 1000, "down")
        call.fail()

    await scene.play(ASK, rests)
    assert scene.tries == [("a", "failed", None)]
    assert scene.pipe.status == 502


async def test_a_drain_stops_the_search() -> None:
    scene = Scene(A, B)
    await scene.start(ASK)
    scene.exchange.interrupt_all()
    await scene.over()
    assert scene.pipe.status == 503
    assert scene.tries == [("a", "failed", None)]


async def test_a_hold_that_comes_after_the_end_of_a_drain_is_of_no_use() -> None:
    scene = Scene(A, B)
    scene.books.gate = asyncio.get_running_loop().create_future()
    await scene.start(ASK)
    scene.exchange.interrupt_all()
    scene.books.gate.set_result(None)
    await scene.over()
    assert scene.upstream.calls == []
    assert (scene.pipe.status, scene.row.outcome) == (503, "rejected")


async def test_a_failure_in_the_moment_of_a_drain_s_end_leads_to_no_other_channel() -> None:
    scene = Scene(A, B)
    await scene.start(ASK)
    scene.call.fail()
    scene.exchange.interrupt_all()
    await scene.over()
    assert scene.tries == [("a", "failed", None)]
    assert scene.pipe.status == 503


NAMED = "Unknown parameter: stream_options.include_usage"


async def test_nothing_is_repaired_after_the_end_of_a_drain() -> None:
    scene = Scene(A, B)
    await scene.start(STREAM)
    refuses(400, NAMED)(scene.call)
    scene.exchange.interrupt_all()
    await scene.over()
    assert len(scene.upstream.calls) == 1


async def test_one_repair_is_made_on_the_same_channel() -> None:
    scene = Scene(A, B)
    await scene.play(STREAM, refuses(400, NAMED), GOOD)
    first, second = scene.upstream.calls
    assert "stream_options" in json.loads(first.request.body)
    assert "stream_options" not in json.loads(second.request.body)
    assert scene.tries == [("a", "repaired", 400), ("a", "served", 200)]
    assert scene.row.warnings == ("dropped:stream_options",)


async def test_a_second_refusal_of_the_same_kind_is_the_answer() -> None:
    scene = Scene(A, B)
    await scene.play(STREAM, refuses(400, NAMED), refuses(400, NAMED))
    assert scene.pipe.status == 400
    assert scene.tries == [("a", "repaired", 400), ("a", "failed", 400)]


async def test_each_channel_has_one_repair() -> None:
    scene = Scene(A, B)
    await scene.play(STREAM, refuses(400, NAMED), refuses(500), refuses(400, NAMED), GOOD)
    on_a = [("a", "repaired", 400), ("a", "failed", 500)]
    assert scene.tries == [*on_a, ("b", "repaired", 400), ("b", "served", 200)]
    assert scene.row.warnings == ("dropped:stream_options",)


@pytest.mark.parametrize(
    ("play", "resting"),
    [
        (refuses(500), True),
        (breaks(CUT), True),
        (refuses(429), True),
        (refuses(409), False),
        (refuses(425), False),
        (refuses(400), False),
        (answers(WHOLE), False),
        (breaks(Failure(kind=Kind.DRAINING, message="x")), False),
    ],
)
async def test_what_counts_against_a_channel(play: Any, resting: bool) -> None:
    scene = Scene(A)
    scene.health.adopt(Rules(failures_before_cooldown=1), lambda *_: True)
    await scene.play(ASK, play)
    assert isinstance(scene.health.standing("a", "up", 1000), Cooling if resting else Ready)


async def test_a_stream_that_breaks_off_counts_against_its_channel() -> None:
    scene = Scene(A)
    scene.health.adopt(Rules(failures_before_cooldown=1), lambda *_: True)
    await scene.play(STREAM, breaks(CUT, HELLO))
    assert scene.tries == [("a", "failed", 200)]
    assert isinstance(scene.health.standing("a", "up", 1000), Cooling)


def probing(*channels: Any) -> Scene:
    """The only channel has rested, so the next request is its probe."""
    scene = Scene(*channels or (A,))
    turn = scene.health.begin("a", "up", 900)
    assert turn is not None
    scene.health.failed(turn, 900, "down", retry_after=50)
    assert isinstance(scene.health.standing("a", "up", 1000), MayProbe)
    return scene


def handed_back(health: Health) -> bool:
    return health.begin("a", "up", 2000) is not None


@pytest.mark.parametrize(
    "plays",
    [
        [GOOD],
        [refuses(400)],
        [refuses(409)],
        [breaks(CUT)],
        [refuses(400, NAMED), GOOD],
        [refuses(400, NAMED), breaks(CUT)],
        [breaks(CUT, HELLO)],
    ],
)
async def test_a_probe_is_handed_back_whatever_comes(plays: list[Any]) -> None:
    scene = probing()
    await scene.play(STREAM, *plays)
    assert handed_back(scene.health)


@pytest.mark.parametrize("body", [ASK, STREAM])
@pytest.mark.parametrize("said", [[], [HELLO]])
async def test_a_probe_is_handed_back_when_the_client_leaves(body: Any, said: list[bytes]) -> None:
    scene = probing()
    await scene.start(body)
    if said:
        scene.call.head()
        scene.call.body(*said)
    await scene.leave()
    assert scene.call.done == ["cancel"]
    assert scene.tries == [("a", "abandoned", 200 if said else None)]
    assert handed_back(scene.health)


async def test_a_probe_is_handed_back_when_the_client_leaves_during_the_repaired_call() -> None:
    scene = probing()
    scene.upstream.plays.append(refuses(400, NAMED))
    await scene.start(STREAM)
    await turns()
    assert len(scene.upstream.calls) == 2
    await scene.leave()
    assert [outcome for _, outcome, _ in scene.tries] == ["repaired", "abandoned"]
    assert handed_back(scene.health)


@pytest.mark.parametrize("part", ["write_request", "write_repaired", "repair"])
async def test_a_probe_is_handed_back_when_a_part_of_the_gateway_fails(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_: object) -> bytes:
        raise RuntimeError("a fault")

    broken = structs.replace(dialect_of(Protocol.CHAT), **{part: fault})
    monkeypatch.setattr("tidegate.exchange.lifecycle.dialect_of", lambda _: broken)
    scene = probing()
    scene.upstream.plays.extend([refuses(400, NAMED)])
    await scene.start(STREAM)
    with pytest.raises(RuntimeError):
        await scene.over()
    assert scene.pipe.status == 500
    assert (scene.row.status, scene.row.error_code) == (500, "internal_error")
    assert handed_back(scene.health)


async def test_a_probe_is_handed_back_when_the_upstream_cannot_be_called() -> None:
    scene = probing()
    scene.upstream.fault = RuntimeError("a fault")
    await scene.start(ASK)
    with pytest.raises(RuntimeError):
        await scene.over()
    assert scene.tries == [("a", "abandoned", None)]
    assert handed_back(scene.health)


async def test_two_probes_do_not_run_at_once() -> None:
    scene = probing(A, B)
    await scene.start(ASK)
    assert scene.call.channel is A
    assert scene.health.begin("a", "up", 1000) is None
    scene.call.answer(200, json.dumps(WHOLE).encode())
    await scene.over()
    assert isinstance(scene.health.standing("a", "up", 1000), Ready)


async def test_each_try_tells_why_it_was_made_and_when_it_got_how_far() -> None:
    scene = Scene(A, B)

    def slow(call: FakeCall) -> None:
        scene.clock.now += 0.125
        call.sink.on_connected()
        scene.clock.now += 0.25
        call.head()
        scene.clock.now += 0.5
        call.body(ROLE)
        scene.clock.now += 0.5
        call.fail(CUT)

    def quick(call: FakeCall) -> None:
        scene.clock.now += 0.25
        call.head()
        call.body(ROLE)
        scene.clock.now += 0.5
        call.body(HELLO)
        scene.clock.now += 1
        call.body(HELLO, STOP, b"data: [DONE]\n\n")
        call.end()

    await scene.play(STREAM, slow, quick)
    first, second = scene.row.attempts
    assert (first.reason, first.failure_kind) == (
        "priority -97, weight 1, of the caller's protocol",
        "upstream",
    )
    assert (first.connected_ms, first.first_byte_ms, first.first_event_ms) == (125, 375, None)
    assert (second.reason, second.failure_kind) == ("priority -98, weight 1, of the caller's protocol", None)
    assert (second.connected_ms, second.first_byte_ms, second.first_event_ms) == (None, 250, 750)
    assert scene.row.first_token_ms == 1375 + 750
    assert scene.row.skipped == ()


async def test_a_second_try_on_the_same_channel_tells_what_it_leaves_out() -> None:
    scene = Scene(A)
    await scene.play(STREAM, refuses(400, "unknown parameter: stream_options"), GOOD)
    assert [attempt.outcome for attempt in scene.row.attempts] == ["repaired", "served"]
    assert scene.row.attempts[1].reason == (
        "the same channel again, without what it refused (dropped:stream_options)"
    )


async def test_what_is_left_out_is_noted_with_its_reason() -> None:
    scene = Scene(A, B, C, max_attempts=1)
    for _ in range(3):
        turn = scene.health.begin("a", "up", 1000)
        assert turn is not None
        scene.health.failed(turn, 1000, "down")
    await scene.play(ASK, breaks(CUT))
    rested, late = scene.row.skipped
    assert (rested.channel, rested.upstream_model) == ("a", "up")
    assert rested.why == "left alone because of 3 failures in a row, last: down"
    assert late.channel in ("b", "c")
    assert late.why == "1 attempts had failed before its turn came"
