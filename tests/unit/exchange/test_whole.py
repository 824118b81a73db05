"""One request that is not streamed, from its first byte to its row."""

import json
from typing import Any

import pytest
from tests.unit.exchange.said import (
    ASK,
    DONE,
    HELLO,
    RESPONSES,
    ROLE,
    STOP,
    USAGE,
    WHOLE,
    answers,
    breaks,
    chunk,
    refuses,
    says,
)
from tests.unit.exchange.scene import CUT, Scene, channel

from tidegate.core.failure import TidegateError
from tidegate.core.protocol import Protocol
from tidegate.exchange.whole import ANSWER_EVENTS, WholeExchange

A, B = channel("a"), channel("b")


async def test_a_good_answer() -> None:
    scene = Scene()
    body = json.dumps({**WHOLE, "model": "up-2024"}).encode()

    def play(call: Any) -> None:
        scene.clock.now += 1
        call.answer(200, body)

    await scene.play(ASK, play)
    assert (scene.pipe.status, scene.pipe.written) == (200, body.replace(b'"up-2024"', b'"m"'))
    row = scene.row
    assert (row.status, row.outcome, row.stream, row.channel) == (200, "completed", False, "a")
    assert (row.finish_reason, row.first_token_ms, row.duration_ms) == ("stop", None, 1000)
    assert (row.input_tokens, row.output_tokens, row.usage_source) == (7, 2, "upstream")
    assert scene.tries == [("a", "served", 200)]
    assert scene.call.request.path == "/chat/completions"
    assert json.loads(scene.call.request.body) == {**ASK, "model": "up"}


async def test_usage_that_is_missing_is_estimated() -> None:
    scene = Scene()
    await scene.play(ASK, answers({**WHOLE, "usage": None}))
    row = scene.row
    assert (row.input_tokens, row.output_tokens, row.usage_source) == (3, 2, "estimated")


async def test_an_answer_that_was_cut_by_its_limit_is_incomplete() -> None:
    scene = Scene()
    choice = {**WHOLE["choices"][0], "finish_reason": "length"}
    await scene.play(ASK, answers({**WHOLE, "choices": [choice]}))
    assert (scene.row.outcome, scene.row.finish_reason) == ("incomplete", "length")


@pytest.mark.parametrize(
    "fault",
    [
        breaks(CUT),
        breaks(CUT, b'{"id"'),
        lambda call: call.answer(200, b"<html>"),
        lambda call: call.answer(200, b""),
        lambda call: call.answer(200, b"data: {nonsense\n\n"),
        answers({"hello": 1}),
        answers({"error": {"message": "no", "type": "server_error"}}),
        says(HELLO),
        refuses(500),
        refuses(307),
    ],
)
async def test_what_is_no_answer_moves_on(fault: Any) -> None:
    scene = Scene(A, B)
    await scene.play(ASK, fault, answers(WHOLE))
    assert scene.pipe.status == 200
    assert [outcome for _, outcome, _ in scene.tries] == ["failed", "served"]
    alone = Scene(A)
    await alone.play(ASK, fault)
    assert alone.pipe.status == 502
    assert (alone.row.outcome, alone.row.usage_source) == ("failed", "none")


async def test_a_stream_that_nobody_asked_for_is_gathered() -> None:
    scene = Scene()
    await scene.play(ASK, says(ROLE, HELLO, STOP, USAGE, DONE))
    told = json.loads(scene.pipe.written)
    assert told["choices"][0]["message"]["content"] == "hello there"
    assert told["model"] == "m"
    assert (scene.row.input_tokens, scene.row.usage_source) == (7, "upstream")
    bare = Scene()
    await bare.play(ASK, says(chunk({"content": "a"}, model="x"), STOP, DONE))
    assert json.loads(bare.pipe.written)["model"] == "m"


async def test_a_response_that_tells_its_failure_moves_on() -> None:
    scene = Scene(channel(protocol=Protocol.RESPONSES), channel("b", Protocol.RESPONSES))
    whole = {"id": "resp_1", "object": "response", "model": "m", "status": "completed", "output": []}
    failed = {**whole, "status": "failed", "error": {"code": "server_error", "message": "boom"}}
    await scene.play(RESPONSES, answers(failed), answers(whole), protocol=Protocol.RESPONSES)
    assert [outcome for _, outcome, _ in scene.tries] == ["failed", "served"]
    assert scene.ownership.owners == {("resp_1", "acme"): "b"}


async def test_a_whole_answer_is_bounded() -> None:
    scene = Scene(max_event_bytes=100)
    await scene.start(ASK)
    scene.call.head()
    scene.call.body(b"{" + b" " * (100 * ANSWER_EVENTS))
    await scene.over()
    assert scene.call.done == ["cancel"]
    assert scene.pipe.status == 502


async def test_nothing_is_sent_while_the_upstream_thinks_and_silence_ends_it() -> None:
    scene = Scene()
    await scene.start(ASK)
    scene.pass_time(359)
    assert scene.pipe.written == b""
    scene.pass_time(3)
    await scene.over()
    assert (scene.pipe.status, scene.pipe.error["code"]) == (504, "upstream_timeout")


@pytest.mark.parametrize("accepted", [True, False])
async def test_a_client_that_leaves_pays_what_was_accepted(accepted: bool) -> None:
    scene = Scene(A, B)
    await scene.start(ASK)
    if accepted:
        scene.call.head()
        scene.call.body(b'{"id"')
    await scene.leave()
    assert scene.call.done == ["cancel"]
    row = scene.row
    assert (row.status, row.outcome) == (499, "client_closed")
    expected = (3, 0, "estimated") if accepted else (0, 0, "none")
    assert (row.input_tokens, row.output_tokens, row.usage_source) == expected


async def test_a_client_that_leaves_after_a_failed_attempt_pays_nothing_for_that() -> None:
    scene = Scene(A, B)
    scene.upstream.plays.append(breaks(CUT, b'{"id"'))
    await scene.start(ASK)
    await scene.leave()
    assert scene.tries == [("a", "failed", 200), ("b", "abandoned", None)]
    assert scene.row.usage_source == "none"


async def test_a_drain_that_is_over_refuses() -> None:
    scene = Scene(A, B)
    await scene.start(ASK)
    scene.call.head()
    scene.exchange.interrupt_all()
    await scene.over()
    assert (scene.pipe.status, len(scene.upstream.calls)) == (503, 1)


async def test_no_answer_is_given_that_is_not_there() -> None:
    with pytest.raises(TidegateError):
        _ = WholeExchange(request=None).answer  # type: ignore[arg-type]  # nothing of it is asked


async def _left_amid(*parts: bytes) -> Scene:
    """A client that goes when so much of the answer has come."""
    scene = Scene()
    await scene.start(ASK)
    scene.call.head()
    scene.call.body(*parts)
    await scene.leave()
    return scene


async def test_a_client_that_leaves_pays_what_had_been_produced() -> None:
    streamed = await _left_amid(ROLE, chunk({"content": "one two three"}), b"data: {")
    row = streamed.row
    assert (row.outcome, row.status, row.usage_source) == ("client_closed", 499, "estimated")
    assert (row.input_tokens, row.output_tokens) == (3, 3)
    told = await _left_amid(ROLE, HELLO, STOP, USAGE)
    assert (told.row.input_tokens, told.row.output_tokens, told.row.usage_source) == (7, 2, "upstream")


async def test_a_client_that_leaves_while_its_answer_is_read_pays_all_of_it() -> None:
    whole = await _left_amid(json.dumps(WHOLE).encode())
    assert (whole.row.input_tokens, whole.row.output_tokens, whole.row.usage_source) == (7, 2, "upstream")


@pytest.mark.parametrize("part", [b"", b" ", b'{"id": "c1", "choi', b"data: x\n" * 20_000, b"<html>"])
async def test_of_what_cannot_be_read_the_input_is_paid(part: bytes) -> None:
    scene = await _left_amid(*([part] if part else []))
    assert (scene.row.input_tokens, scene.row.output_tokens, scene.row.usage_source) == (3, 0, "estimated")
