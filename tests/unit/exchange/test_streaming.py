"""One streaming request, from its first byte to its row."""

import asyncio
import json
from typing import Any

import pytest
from tests.unit.exchange.said import (
    DONE,
    HELLO,
    MESSAGES,
    RESPONSES,
    ROLE,
    STOP,
    STREAM,
    USAGE,
    WHOLE,
    WITH_USAGE,
    answers,
    breaks,
    event,
    refuses,
    says,
)
from tests.unit.exchange.scene import CUT, Scene, channel, turns

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol

COMMENT = b": tidegate-keepalive\n"
A, B = channel("a"), channel("b")


async def opened(*channels: Any, body: Any = STREAM, **members: Any) -> Scene:
    scene = Scene(*channels, **members)
    await scene.start(body)
    return scene


async def test_a_good_stream() -> None:
    scene = Scene()

    def play(call: Any) -> None:
        scene.clock.now = 1000.25
        call.head()
        call.body(ROLE)
        assert scene.pipe.status is None, "the preamble is held"
        scene.clock.now = 1000.5
        call.body(HELLO, STOP, USAGE, DONE)
        assert call.done == ["finish"]

    scene.upstream.plays.append(play)
    await scene.start(WITH_USAGE)
    scene.clock.now = 1003
    await scene.over()
    assert scene.pipe.written == ROLE + HELLO + STOP + USAGE + DONE
    row = scene.row
    assert (row.id, row.created_at, row.key, row.account) == ("req_1", 1e9 + 1000, "laptop", "acme")
    assert (row.protocol, row.stream, row.model, row.channel) == ("chat", True, "m", "a")
    assert (row.status, row.outcome, row.finish_reason) == (200, "completed", "stop")
    assert (row.first_token_ms, row.duration_ms) == (500, 500)
    assert (row.input_tokens, row.output_tokens, row.usage_source) == (7, 2, "upstream")
    assert (row.error_type, row.warnings) == (None, ())


async def test_usage_that_nobody_asked_for_is_counted_and_not_passed_on() -> None:
    scene = Scene()
    await scene.play(STREAM, says(HELLO, STOP, USAGE, DONE))
    assert scene.pipe.written == HELLO + STOP + DONE
    assert (scene.row.input_tokens, scene.row.usage_source) == (7, "upstream")
    assert json.loads(scene.call.request.body)["stream_options"] == {"include_usage": True}


async def test_usage_may_be_passed_on_always() -> None:
    scene = Scene(always_usage=True)
    await scene.play(STREAM, says(HELLO, STOP, USAGE, DONE))
    assert scene.pipe.written == HELLO + STOP + USAGE + DONE


@pytest.mark.parametrize("end", [[DONE], []])
async def test_usage_that_is_missing_is_estimated_and_told_to_who_asked(end: list[bytes]) -> None:
    scene = Scene()
    await scene.play(WITH_USAGE, says(HELLO, STOP, *end))
    assert scene.pipe.written.startswith(HELLO + STOP)
    rest = scene.pipe.written.removeprefix(HELLO + STOP)
    assert rest.endswith(DONE)
    told = json.loads(rest.removesuffix(DONE).removeprefix(b"data: "))
    assert (told["choices"], told["usage"]["prompt_tokens"], told["usage"]["completion_tokens"]) == ([], 3, 2)
    row = scene.row
    assert (row.input_tokens, row.output_tokens, row.usage_source) == (3, 2, "estimated")
    assert row.outcome == "completed"


async def test_the_duration_is_the_answer_s_and_not_the_estimate_s() -> None:
    scene = Scene()
    scene.tokenizer.gate = asyncio.get_running_loop().create_future()
    scene.upstream.plays.append(says(HELLO, STOP, DONE))
    await scene.start(STREAM)
    assert scene.pipe.ended
    scene.clock.now += 60
    scene.tokenizer.gate.set_result(None)
    await scene.over()
    assert scene.row.duration_ms == 0


async def test_a_row_is_written_even_if_the_estimate_fails() -> None:
    scene = Scene()
    scene.tokenizer.fault = RuntimeError("a fault")
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    await scene.play(STREAM, says(HELLO, STOP, DONE))
    assert (scene.row.outcome, scene.row.usage_source) == ("completed", "none")


async def test_after_the_finish_usage_is_awaited_for_a_while() -> None:
    scene = await opened()
    scene.call.head()
    scene.call.body(HELLO, STOP)
    scene.pass_time(4)
    assert not scene.pipe.ended
    scene.pass_time(2.5)
    await scene.over()
    assert scene.pipe.written == HELLO + STOP + DONE
    assert scene.call.done == ["finish"]
    assert scene.row.outcome == "completed"


async def test_after_the_finish_a_cut_is_a_success_and_an_error_is_not_told() -> None:
    for then in (breaks(CUT, HELLO, STOP), says(HELLO, STOP), says(HELLO, STOP, event({"error": "boom"}))):
        scene = Scene()
        await scene.play(STREAM, then)
        assert scene.pipe.written == HELLO + STOP + DONE
        assert scene.row.outcome == "completed"


async def test_failover_before_the_first_word_leaves_no_trace() -> None:
    for fault in (
        breaks(CUT),
        breaks(CUT, ROLE),
        says(ROLE),
        says(ROLE, event({"error": {"message": "busy"}})),
        says(ROLE, b"data: {nonsense\n\n"),
        says(DONE),
        says(b"<html>"),
        says(),
        answers({"error": {"message": "no"}}),
        answers({"hello": 1}),
        refuses(302),
        refuses(503),
    ):
        scene = Scene(A, B)
        await scene.play(STREAM, fault, says(HELLO, STOP, DONE))
        assert scene.pipe.written == HELLO + STOP + DONE
        assert [name for name, _, _ in scene.tries] == ["a", "b"]
        assert scene.row.outcome == "completed"
        assert scene.upstream.calls[0].done in ([], ["cancel"])


async def test_a_json_answer_is_sent_as_a_stream_and_counted_by_what_it_told() -> None:
    scene = Scene(A, B)
    await scene.play(STREAM, answers(WHOLE))
    assert b"hello there" in scene.pipe.written
    assert scene.pipe.written.endswith(DONE)
    assert (scene.row.outcome, scene.row.input_tokens, scene.row.usage_source) == ("completed", 7, "upstream")
    without = Scene(A)
    await without.play(STREAM, answers({**WHOLE, "usage": None}))
    assert (without.row.output_tokens, without.row.usage_source) == (2, "estimated")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (breaks(CUT, HELLO), "failed"),
        (says(HELLO), "failed"),
        (says(HELLO, DONE), "failed"),
        (says(HELLO, b"data: nonsense\n\n"), "failed"),
        (breaks(Failure(kind=Kind.TIMEOUT, message="x"), HELLO), "timed out"),
    ],
)
async def test_a_break_after_the_first_word_is_told_and_final(fault: Any, message: str) -> None:
    scene = Scene(A, B)
    await scene.play(STREAM, fault)
    error = {"message": message, "type": "api_error", "code": "stream_interrupted"}
    last = scene.pipe.written.removeprefix(HELLO)
    assert json.loads(last.removeprefix(b"data: ")) == {"error": error}
    assert len(scene.upstream.calls) == 1
    row = scene.row
    assert (row.status, row.outcome, row.finish_reason) == (200, "interrupted", None)
    assert (row.error_type, row.error_code, row.error_message) == ("api_error", "stream_interrupted", message)
    assert (row.input_tokens, row.output_tokens, row.usage_source) == (3, 2, "estimated")
    assert scene.tries == [("a", "failed", 200)]


async def test_an_error_that_the_upstream_told_is_passed_on_and_noted() -> None:
    scene = Scene(A, B)
    told = event({"error": {"message": "busy, said credential-of-channel-a", "type": "overloaded_error"}})
    await scene.play(STREAM, says(HELLO, told, HELLO))
    expected = told.replace(b"credential-of-channel-a", b"[redacted]").replace(b'"error": {', b'"error": {')
    assert scene.pipe.written == HELLO + expected
    row = scene.row
    assert (row.outcome, row.error_type, row.error_message) == (
        "interrupted",
        "overloaded_error",
        "busy, said [redacted]",
    )


async def test_silence_opens_the_stream_keeps_it_alive_and_gives_up_in_time() -> None:
    scene = await opened(A, B)
    scene.pass_time(9.5)
    assert scene.pipe.status is None
    scene.pass_time(1)
    assert scene.pipe.written == COMMENT
    scene.pass_time(20)
    assert scene.pipe.written == COMMENT * 3
    scene.pass_time(91)
    await turns()
    assert [call.done for call in scene.upstream.calls] == [["cancel"], []]
    scene.call.head()
    scene.call.body(HELLO, STOP, DONE)
    await scene.over()
    assert scene.pipe.written.replace(COMMENT, b"") == HELLO + STOP + DONE
    assert scene.tries == [("a", "failed", None), ("b", "served", 200)]


async def test_commit_after_is_counted_once_whatever_channels_are_tried() -> None:
    scene = await opened(A, B)
    scene.pass_time(6)
    scene.call.fail()
    await turns()
    scene.pass_time(3.5)
    assert scene.pipe.status is None
    scene.pass_time(1)
    assert scene.pipe.written == COMMENT
    await scene.leave()


async def test_all_failures_after_a_comment_are_told_in_the_stream() -> None:
    scene = await opened(A)
    scene.pass_time(11)
    scene.call.answer(429, b"{}")
    await scene.over()
    rest = json.loads(scene.pipe.written.removeprefix(COMMENT).removeprefix(b"data: "))
    assert (rest["error"]["type"], rest["error"]["code"]) == ("rate_limit_error", "rate_limit_exceeded")
    assert (scene.row.status, scene.row.outcome, scene.row.error_code) == (
        200,
        "failed",
        "rate_limit_exceeded",
    )


async def test_a_responses_error_after_a_comment_opens_the_response_first() -> None:
    scene = Scene(channel(protocol=Protocol.RESPONSES))
    await scene.start({**RESPONSES, "stream": True}, Protocol.RESPONSES)
    scene.pass_time(11)
    scene.call.head()
    scene.call.body(event({"type": "response.created", "sequence_number": 5, "response": {"id": "resp_up"}}))
    scene.call.fail()
    await scene.over()
    assert b"resp_up" not in scene.pipe.written
    values = [json.loads(line[6:]) for line in scene.pipe.written.split(b"\n") if line.startswith(b"data: ")]
    assert [(value["type"], value["sequence_number"]) for value in values] == [
        ("response.created", 0),
        ("response.failed", 1),
    ]


async def test_a_refusal_before_anything_is_sent_is_a_plain_answer() -> None:
    scene = Scene(A, B)
    await scene.play(STREAM, refuses(400, "bad thing"))
    assert (scene.pipe.status, scene.pipe.error["message"]) == (400, "bad thing")
    assert (scene.row.status, scene.row.outcome, scene.row.stream) == (400, "failed", True)
    assert scene.row.usage_source == "none"


async def test_a_fault_of_the_gateway_ends_the_stream_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene()
    scene.tokenizer.fault = RuntimeError("a fault")
    scene.upstream.plays.append(says(HELLO, STOP, DONE))
    await scene.start(WITH_USAGE)
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    with pytest.raises(RuntimeError):
        await scene.over()
    assert scene.pipe.ended
    assert (scene.row.status, scene.row.outcome, scene.row.error_code) == (
        200,
        "interrupted",
        "internal_error",
    )


async def test_ids_of_a_stored_response_are_remembered_for_its_account_and_group() -> None:
    scene = Scene(channel(protocol=Protocol.RESPONSES, group="g"))
    completed = {"type": "response.completed", "response": {"id": "resp_9", "output": [{"id": "msg_9"}]}}
    await scene.play({**RESPONSES, "stream": True}, says(event(completed)), protocol=Protocol.RESPONSES)
    assert scene.ownership.owners == {("resp_9", "acme"): "g", ("msg_9", "acme"): "g"}
    kept = Scene(channel(protocol=Protocol.RESPONSES))
    body = {**RESPONSES, "stream": True, "store": False}
    await kept.play(body, says(event(completed)), protocol=Protocol.RESPONSES)
    assert kept.ownership.owners == {}


async def test_a_messages_stream_that_was_cut_by_its_limit_is_incomplete() -> None:
    scene = Scene(channel(protocol=Protocol.MESSAGES))
    start = event({"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 4}}})
    usage = {"output_tokens": 9}
    delta = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": usage}
    events = [start, event(delta), event({"type": "message_stop"})]
    await scene.play({**MESSAGES, "stream": True}, says(*events), protocol=Protocol.MESSAGES)
    assert scene.pipe.written == b"".join(events)
    row = scene.row
    assert (row.outcome, row.finish_reason) == ("incomplete", "max_tokens")
    assert (row.input_tokens, row.output_tokens, row.usage_source) == (4, 9, "upstream")
