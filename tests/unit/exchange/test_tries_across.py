"""Channels of different protocols in turn: what one of them cannot be told is no attempt on it."""

import json
from typing import Any

import pytest
from msgspec import structs
from tests.unit.exchange.said import ASK, MESSAGES, RESPONSES, STREAM, WHOLE, answers, breaks, refuses
from tests.unit.exchange.scene import CUT, KEY, Scene, channel
from tests.unit.protocols.speech import whole

from tidegate.core.capability import Conversion
from tidegate.core.events import Opaque
from tidegate.core.protocol import Protocol
from tidegate.protocols.carrier import sealer
from tidegate.routing.breaker import MayProbe, Ready
from tidegate.routing.catalog import Model

C, R, M = Protocol.CHAT, Protocol.RESPONSES, Protocol.MESSAGES
STRICT = structs.replace(KEY, conversion=Conversion.STRICT)
REFUSED = {**ASK, "logprobs": True}
"""What no Messages channel can be told."""


@pytest.mark.parametrize("body", [REFUSED, {**REFUSED, "stream": True}])
async def test_what_cannot_be_said_is_told_without_a_call(body: dict[str, Any]) -> None:
    scene = Scene(channel("a", M), channel("b", M))
    await scene.play(body)
    assert (scene.pipe.status, scene.pipe.error["code"]) == (400, "unsupported_parameter")
    assert scene.pipe.error["param"] == "logprobs"
    assert scene.upstream.calls == []
    row = scene.row
    assert (row.outcome, row.attempts, row.channel, row.warnings) == ("rejected", (), None, ())
    assert (row.error_code, row.usage_source) == ("unsupported_parameter", "none")


async def test_a_channel_that_can_be_told_serves() -> None:
    scene = Scene(channel("a", M), channel("b", C), max_attempts=1)
    await scene.play(REFUSED, answers(WHOLE))
    assert scene.pipe.status == 200
    assert scene.tries == [("b", "served", 200)], "a channel that was not called is no attempt"


async def test_a_channel_that_could_not_be_told_counts_only_if_none_could() -> None:
    for order in ((M, C), (C, M)):
        scene = Scene(channel("a", order[0]), channel("b", order[1]))
        await scene.play(REFUSED, breaks(CUT))
        assert (scene.pipe.status, scene.pipe.error["code"]) == (502, "upstream_error")
        assert scene.row.outcome == "failed"
        assert len(scene.row.attempts) == 1


async def test_a_channel_that_is_not_called_takes_no_turn() -> None:
    scene = Scene(channel("a", M))
    for _ in range(3):
        turn = scene.health.begin("a", "up", 1000)
        assert turn is not None
        scene.health.failed(turn, 1000, "down")
    scene.clock.now += 31
    assert isinstance(scene.health.standing("a", "up", scene.clock.now), MayProbe)
    await scene.play(REFUSED)
    assert scene.pipe.status == 400
    assert isinstance(scene.health.standing("a", "up", scene.clock.now), MayProbe), "nobody has probed it"
    healthy = Scene(channel("a", M))
    await healthy.play(REFUSED)
    assert isinstance(healthy.health.standing("a", "up", 1000), Ready)


async def test_a_strict_key_goes_where_nothing_is_lost() -> None:
    body = {**ASK, "seed": 7}
    scene = Scene(channel("a", M), channel("b", C), key=STRICT)
    await scene.play(body, answers(WHOLE))
    assert (scene.tries, scene.row.warnings) == ([("b", "served", 200)], ())
    alone = Scene(channel("a", M), key=STRICT)
    await alone.play(body)
    assert (alone.pipe.status, alone.pipe.error["param"]) == (400, "seed")


@pytest.mark.parametrize(
    ("client", "body"),
    [
        (C, {**ASK, "messages": [{"role": "user", "content": [{"type": "hologram"}]}]}),
        (R, {**RESPONSES, "input": [{"type": "hologram"}]}),
        (M, {**MESSAGES, "messages": [{"role": "user", "content": [{"type": "hologram"}]}]}),
    ],
)
async def test_parts_of_unknown_kinds_are_named(client: Protocol, body: dict[str, Any]) -> None:
    for upstream in Protocol:
        if upstream is not client:
            scene = Scene(channel(protocol=upstream))
            await scene.play(body, protocol=client)
            assert scene.pipe.status == 400
            assert "[0]" in scene.pipe.error["message"]
            assert scene.upstream.calls == []


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "sig"}


def thinking() -> dict[str, Any]:
    """A chat caller's second turn, with what channel `a` thought in the first."""
    data = sealer(b"own", "acme", "a")(Opaque(M, [THOUGHT]))
    details = [{"type": "reasoning.encrypted", "index": 0, "data": data}]
    said = {"role": "assistant", "content": "b", "reasoning_details": details}
    return {**ASK, "messages": [{"role": "user", "content": "a"}, said, {"role": "user", "content": "c"}]}


SIGNATURE = "messages.1.content.0: Invalid `signature` in `thinking` block"


async def test_a_converted_request_has_its_repair_too() -> None:
    scene = Scene(channel("a", M), channel("b", M))
    await scene.play(thinking(), refuses(400, SIGNATURE), answers(whole(M, "hello")))
    first, second = (call.request.body for call in scene.upstream.calls)
    assert json.dumps(THOUGHT, separators=(",", ":")).encode() in first
    assert b"thinking" not in second
    assert scene.tries == [("a", "repaired", 400), ("a", "served", 200)]
    assert scene.row.warnings == ("dropped:messages[].reasoning_details",)
    assert scene.pipe.warnings is None, "reasoning of the history is told in the row only"


async def test_the_channel_that_thought_is_asked_first() -> None:
    for before in (C, M, R):
        scene = Scene(channel("z", before, priority=9), channel("a", M))
        await scene.play(thinking(), answers(whole(M, "hello")))
        assert scene.tries == [("a", "served", 200)]
        assert scene.row.warnings == ()


async def test_what_was_taken_out_for_one_channel_is_not_told_of_the_next() -> None:
    scene = Scene(channel("a", M), channel("b", R))
    await scene.play(thinking(), refuses(400, SIGNATURE), refuses(500), answers(whole(R, "hello")))
    assert [outcome for _, outcome, _ in scene.tries] == ["repaired", "failed", "served"]
    assert scene.row.warnings == ("dropped:messages[1].reasoning_details[0]",)


async def test_options_that_the_conversion_put_in_are_taken_out_again() -> None:
    scene = Scene(channel("a", C))
    named = "Unknown parameter: stream_options.include_usage"
    await scene.play({**MESSAGES, "stream": True}, refuses(400, named), refuses(500), protocol=M)
    first, second = (json.loads(call.request.body) for call in scene.upstream.calls)
    assert ("stream_options" in first, "stream_options" in second) == (True, False)


async def test_ids_are_remembered_and_followed_on_the_same_protocol_only() -> None:
    scene = Scene(channel("a", C), channel("b", R, group="g"))
    await scene.play(RESPONSES, breaks(CUT), answers(whole(R, "hello")), protocol=R)
    assert set(scene.ownership.owners) == {("r1", "acme"), ("msg_1", "acme")}
    across = Scene(channel("a", C))
    await across.play(RESPONSES, answers(whole(C, "hello")), protocol=R)
    assert across.ownership.owners == {}
    following = Scene(channel("a", C), channel("b", R, group="g"))
    following.ownership.remember(["r1"], "acme", "g")
    body = {**RESPONSES, "previous_response_id": "r1"}
    await following.play(body, answers(whole(R, "hello")), protocol=R)
    assert [call.channel.name for call in following.upstream.calls] == ["b"]


async def test_a_response_that_was_converted_cannot_be_followed() -> None:
    scene = Scene(channel("a", C))
    await scene.play({**RESPONSES, "previous_response_id": "resp_1"}, protocol=R)
    assert (scene.pipe.status, scene.pipe.error["code"]) == (400, "previous_response_not_found")


async def test_a_count_is_never_converted() -> None:
    scene = Scene(channel("a", C), channel("b", M))
    await scene.start(MESSAGES, M, counts=True)
    assert [call.channel.name for call in scene.upstream.calls] == ["b"]
    scene.call.answer(200, b'{"input_tokens":5}')
    await scene.over()


async def test_the_model_s_settings_hold_across() -> None:
    model = Model(name="m", first_event_timeout=5, idle_timeout=9, max_output_tokens=77)
    scene = Scene(channel("a", M), models=(model,))
    await scene.start(STREAM)
    assert json.loads(scene.call.request.body)["max_tokens"] == 77
    scene.pass_time(6)
    await scene.over()
    assert scene.pipe.status == 504


async def test_a_converted_answer_cannot_be_read_by_another_account() -> None:
    """What a caller gets back as reasoning opens for its own account alone."""
    answer = {**whole(M, "hello"), "content": [THOUGHT, {"type": "text", "text": "hello"}]}
    carriers = set()
    for account in ("acme", "bolt"):
        scene = Scene(channel("a", M), key=structs.replace(KEY, account=account))
        await scene.play(ASK, answers(answer))
        message = json.loads(scene.pipe.written)["choices"][0]["message"]
        [detail] = message["reasoning_details"]
        carriers.add(detail["data"])
        assert message["reasoning_content"] == "hm"
    assert len(carriers) == 2
