"""A count of tokens comes from the upstream, from the tokenizer, or not at all because the request is bad."""

import json
from typing import Any

import pytest
from tests.unit.exchange.said import ASK, answers, breaks, refuses
from tests.unit.exchange.scene import CUT, Scene, channel

from tidegate.core.protocol import Protocol
from tidegate.routing.breaker import Ready, Rules

M = Protocol.MESSAGES


async def counted(scene: Scene, *plays: Any) -> None:
    scene.upstream.plays.extend(plays)
    await scene.start(ASK, M, counts=True)
    await scene.over()


async def test_the_upstream_s_own_count_passes_as_it_is() -> None:
    scene = Scene(channel(protocol=M))
    await counted(scene, lambda call: call.answer(200, b'{ "input_tokens": 12, "x":1.50 }'))
    assert (scene.pipe.status, scene.pipe.written) == (200, b'{ "input_tokens": 12, "x":1.50 }')
    assert scene.pipe.headers == {}
    request = scene.call.request
    assert request.path == "/v1/messages/count_tokens"
    assert json.loads(request.body)["model"] == "up"
    row = scene.row
    assert (row.status, row.outcome, row.channel, row.model) == (200, "completed", "a", "m")
    assert (row.usage_source, row.input_tokens) == ("none", 0), "a count costs nothing"
    assert scene.tries == [("a", "served", 200)]


@pytest.mark.parametrize(
    "play",
    [
        refuses(404),
        refuses(500),
        refuses(401),
        breaks(CUT),
        answers({"input_tokens": 0}),
        answers({"input_tokens": True}),
        answers({"input_tokens": "many"}),
        answers([1]),
        lambda call: call.answer(200, b"<html>"),
        lambda call: call.answer(200, b'{"x":' + b"[" * 100_000),
        lambda call: call.answer(200, b""),
    ],
)
async def test_without_one_the_tokenizer_counts(play: Any) -> None:
    scene = Scene(channel(protocol=M))
    scene.health.adopt(Rules(failures_before_cooldown=1), lambda *_: True)
    await counted(scene, play)
    assert (scene.pipe.status, json.loads(scene.pipe.written)) == (200, {"input_tokens": 3})
    assert scene.pipe.headers == {"x-tidegate-usage": "estimated"}
    assert scene.row.outcome == "completed"
    assert isinstance(scene.health.standing("a", "up", 1000), Ready), "no channel is blamed for a count"


async def test_a_model_without_a_channel_of_the_protocol_is_counted_here() -> None:
    scene = Scene(channel(protocol=Protocol.CHAT))
    await counted(scene)
    assert json.loads(scene.pipe.written) == {"input_tokens": 3}
    assert scene.upstream.calls == []
    assert scene.row.attempts == ()


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_the_request_s_own_fault_is_told(status: int) -> None:
    scene = Scene(channel(protocol=M), channel("b", M))
    await counted(scene, refuses(status, "messages: bad at a.example.com"))
    assert scene.pipe.status == status
    assert scene.pipe.error["message"] == "messages: bad at [redacted]"
    assert (scene.row.status, scene.row.outcome) == (status, "failed")
    assert len(scene.upstream.calls) == 1


async def test_a_client_that_leaves_is_noted_and_the_call_stopped() -> None:
    scene = Scene(channel(protocol=M))
    await scene.start(ASK, M, counts=True)
    assert scene.exchange.open_requests == 1, "a drain waits for it"
    await scene.leave()
    assert scene.call.done == ["cancel"]
    assert (scene.row.status, scene.row.outcome) == (499, "client_closed")
    assert scene.tries == [("a", "abandoned", None)]


async def test_a_drain_ends_the_call_and_the_tokenizer_answers() -> None:
    scene = Scene(channel(protocol=M))
    await scene.start(ASK, M, counts=True)
    scene.exchange.interrupt_all()
    await scene.over()
    assert scene.pipe.status == 200


async def test_after_a_drain_no_upstream_is_asked() -> None:
    scene = Scene(channel(protocol=M))
    scene.exchange.interrupt_all()
    await scene.start(ASK, M, counts=True)
    await scene.over()
    assert scene.upstream.calls == []
    assert scene.pipe.status == 200


async def test_a_fault_of_the_gateway_is_told_and_noted() -> None:
    scene = Scene(channel(protocol=M))
    scene.tokenizer.fault = RuntimeError("a fault")
    with pytest.raises(RuntimeError):
        await counted(scene, breaks(CUT))
    assert (scene.pipe.status, scene.row.status, scene.row.outcome) == (500, 500, "failed")


async def test_a_request_that_is_no_request_is_refused() -> None:
    scene = Scene(channel(protocol=M))
    await scene.start(b"{", M, counts=True)
    await scene.over()
    assert (scene.pipe.status, scene.row.outcome) == (400, "rejected")


async def test_silence_ends_after_the_idle_time_out() -> None:
    scene = Scene(channel(protocol=M))
    await scene.start(ASK, M, counts=True)
    scene.pass_time(359)
    assert not scene.call.over
    scene.pass_time(3)
    await scene.over()
    assert scene.pipe.status == 200
    assert scene.row.attempts[0].error == "timeout: upstream timed out"
