"""Streams of channels that speak another protocol than the caller, from the first byte to the row."""

import json
from typing import Any

import pytest
from tests.harness import sse
from tests.property.stream_grammars import accumulated, check, check_failed
from tests.unit.exchange.said import ASK, MESSAGES, RESPONSES, answers, breaks, event, refuses, says
from tests.unit.exchange.scene import CUT, Scene, channel, turns
from tests.unit.protocols import upstreams as up
from tests.unit.protocols.speech import STOP, ended, spoken, text_of, usage_of, whole

from tidegate.core.protocol import Protocol
from tidegate.protocols.converting import ConvertingWatcher

C, R, M = Protocol.CHAT, Protocol.RESPONSES, Protocol.MESSAGES
STREAM: dict[Protocol, dict[str, Any]] = {
    C: {**ASK, "stream": True, "stream_options": {"include_usage": True}},
    R: {**RESPONSES, "stream": True},
    M: {**MESSAGES, "stream": True},
}
CROSS = [(client, upstream) for client in Protocol for upstream in Protocol if client is not upstream]
every_cross_pair = pytest.mark.parametrize(("client", "upstream"), CROSS)
PATHS = {C: "/chat/completions", R: "/responses", M: "/v1/messages"}
WORDS = {C: "stop", R: "completed", M: "end_turn"}
BUSY = {
    C: event({"error": {"message": "busy at a.example.com", "type": "overloaded_error"}}),
    R: event({"type": "error", "code": "server_is_overloaded", "message": "busy at a.example.com"}),
    M: event({"type": "error", "error": {"type": "overloaded_error", "message": "busy at a.example.com"}}),
}
COMMENT = b": tidegate-keepalive\n"


def good(upstream: Protocol, text: str = "hello there") -> list[bytes]:
    return [*spoken(upstream, text), *ended(upstream, text)]


async def played(client: Protocol, scene: Scene, *plays: Any, **members: Any) -> Scene:
    await scene.play({**STREAM[client], **members}, *plays, protocol=client)
    return scene


@every_cross_pair
async def test_a_good_stream(client: Protocol, upstream: Protocol) -> None:
    scene = await played(client, Scene(channel(protocol=upstream)), says(*good(upstream)))
    check(client, scene.pipe.written)
    assert text_of(client, scene.pipe.written) == "hello there"
    assert usage_of(client, scene.pipe.written) == (7, 2)
    assert b'"up"' not in scene.pipe.written, "which model answers never shows"
    sent = scene.call.request
    assert sent.path == PATHS[upstream]
    assert (json.loads(sent.body)["model"], json.loads(sent.body)["stream"]) == ("up", True)
    row = scene.row
    assert (row.protocol, row.channel, row.status, row.outcome) == (client.value, "a", 200, "completed")
    assert (row.input_tokens, row.output_tokens, row.usage_source) == (7, 2, "upstream")
    assert row.finish_reason == WORDS[client]
    assert row.first_token_ms is not None
    assert scene.ownership.owners == {}, "what another protocol stored is nothing to come back to"


@every_cross_pair
async def test_the_preamble_is_held(client: Protocol, upstream: Protocol) -> None:
    scene = Scene(channel("a", upstream), channel("b", client))
    scene.upstream.plays.extend([says(*spoken(upstream)), breaks(CUT)])
    await scene.start(STREAM[client], client)
    await scene.over()
    assert scene.pipe.status == 502, "of the first channel the caller saw nothing"
    assert [name for name, _, _ in scene.tries] == ["a", "b"]


@every_cross_pair
async def test_channels_of_different_protocols_take_over_from_each_other(
    client: Protocol, upstream: Protocol
) -> None:
    scene = Scene(channel("a", upstream), channel("b", client))
    await played(client, scene, says(*spoken(upstream), BUSY[upstream]), says(*good(client)))
    assert scene.pipe.written == b"".join(good(client))
    other = Scene(channel("a", client), channel("b", upstream))
    await played(client, other, breaks(CUT), says(*good(upstream)))
    check(client, other.pipe.written)
    assert other.tries == [("a", "failed", None), ("b", "served", 200)]


@every_cross_pair
async def test_an_error_of_the_upstream_is_told_in_the_caller_s_words(
    client: Protocol, upstream: Protocol
) -> None:
    scene = Scene(channel("a", upstream), channel("b", client))
    await played(client, scene, says(*spoken(upstream, "hello"), BUSY[upstream], *ended(upstream)))
    check_failed(client, scene.pipe.written)
    assert b"busy at [redacted]" in scene.pipe.written
    row = scene.row
    assert (row.outcome, row.error_type) == ("interrupted", "overloaded_error")
    assert (row.error_code, row.error_message) == (
        None if client is M else "overloaded",
        "busy at [redacted]",
    )
    assert len(scene.upstream.calls) == 1


@every_cross_pair
@pytest.mark.parametrize("play", [says, lambda *events: breaks(CUT, *events)])
async def test_a_stream_that_breaks_off_is_told_in_the_gateway_s_words(
    client: Protocol, upstream: Protocol, play: Any
) -> None:
    scene = Scene(channel("a", upstream), channel("b", client))
    await played(client, scene, play(*spoken(upstream, "hello there")))
    check_failed(client, scene.pipe.written)
    last = sse.read(scene.pipe.written).json()[-1]
    error = last["response"]["error"] if client is R else last["error"]
    assert error["message"] == "failed"
    row = scene.row
    assert (row.outcome, row.error_message) == ("interrupted", "failed")
    assert (row.output_tokens, row.usage_source) == (2, "estimated")


@every_cross_pair
async def test_a_whole_answer_in_a_stream_s_place(client: Protocol, upstream: Protocol) -> None:
    scene = await played(client, Scene(channel(protocol=upstream)), answers(whole(upstream, "hello there")))
    check(client, scene.pipe.written)
    assert text_of(client, scene.pipe.written) == "hello there"
    assert usage_of(client, scene.pipe.written) == (7, 2)
    assert scene.row.usage_source == "upstream"


@every_cross_pair
async def test_usage_that_no_whole_answer_told_is_estimated(client: Protocol, upstream: Protocol) -> None:
    answer = whole(upstream, "hello there", usage=False)
    scene = await played(client, Scene(channel(protocol=upstream)), answers(answer))
    assert usage_of(client, scene.pipe.written) == (3, 2)
    row = scene.row
    assert (row.input_tokens, row.output_tokens, row.usage_source) == (3, 2, "estimated")


@pytest.mark.parametrize("client", [M, R])
@pytest.mark.parametrize("end", [[up.DONE], []])
async def test_usage_that_chat_did_not_tell_is_estimated_for_every_caller(
    client: Protocol, end: list[bytes]
) -> None:
    scene = await played(client, Scene(channel(protocol=C)), says(*spoken(C, "hello there"), STOP, *end))
    check(client, scene.pipe.written)
    assert usage_of(client, scene.pipe.written) == (3, 2)
    row = scene.row
    assert (row.input_tokens, row.output_tokens, row.usage_source) == (3, 2, "estimated")
    assert (row.outcome, row.finish_reason) == ("completed", WORDS[client])


UNCOUNTED = {
    M: [up.message(), *spoken(M, "hello there")[1:], up.stop(0), up.ending("end_turn"), up.MESSAGE_STOP],
    R: [*spoken(R, "hello there"), up.completed(up.spoken("hello there", id="msg_1"))],
}


@pytest.mark.parametrize("upstream", [M, R])
async def test_a_chat_caller_is_told_an_estimate_if_it_asked_for_usage(upstream: Protocol) -> None:
    says_no_counts = says(*UNCOUNTED[upstream])
    scene = await played(C, Scene(channel(protocol=upstream)), says_no_counts)
    assert usage_of(C, scene.pipe.written) == (3, 2)
    silent = await played(C, Scene(channel(protocol=upstream)), says_no_counts, stream_options=None)
    assert b"usage" not in silent.pipe.written
    assert silent.row.usage_source == "estimated"
    always = Scene(channel(protocol=upstream), always_usage=True)
    await played(C, always, says_no_counts, stream_options=None)
    assert usage_of(C, always.pipe.written) == (3, 2)


@pytest.mark.parametrize("client", [M, R])
@pytest.mark.parametrize("late", [BUSY[C], b"data: nonsense\n\n"])
async def test_after_the_finish_of_chat_nothing_spoils_the_answer(client: Protocol, late: bytes) -> None:
    for play in (says(*spoken(C, "hello"), STOP, late), breaks(CUT, *spoken(C, "hello"), STOP)):
        scene = await played(client, Scene(channel(protocol=C)), play)
        check(client, scene.pipe.written)
        assert (scene.row.outcome, scene.row.finish_reason) == ("completed", WORDS[client])


@pytest.mark.parametrize("client", [M, R])
async def test_after_the_finish_of_chat_usage_is_awaited_for_a_while(client: Protocol) -> None:
    scene = Scene(channel(protocol=C))
    await scene.start(STREAM[client], client)
    scene.call.head()
    scene.call.body(*spoken(C, "hello there"), STOP)
    scene.pass_time(4)
    assert not scene.pipe.ended
    scene.pass_time(2.5)
    await scene.over()
    check(client, scene.pipe.written)
    assert scene.call.done == ["finish"]


async def test_a_messages_stream_begins_with_an_estimate_of_its_input() -> None:
    scene = await played(M, Scene(channel(protocol=C)), says(*good(C)))
    first, *_ = sse.read(scene.pipe.written).json()
    assert first["message"]["usage"]["input_tokens"] == len("one two three") // 4


@pytest.mark.parametrize(
    ("client", "upstream", "stops"),
    [
        (C, R, {"stop": ["END"]}),
        (M, R, {"stop_sequences": ["END"]}),
        (M, C, {"stop_sequences": ["a", "b", "c", "d", "END"]}),
    ],
)
async def test_a_stop_string_that_the_upstream_does_not_know_ends_the_stream_and_the_call(
    client: Protocol, upstream: Protocol, stops: dict[str, Any]
) -> None:
    scene = Scene(channel(protocol=upstream))
    await scene.start({**STREAM[client], **stops}, client)
    scene.call.head()
    scene.call.body(*spoken(upstream, "on", "E", " EN", "D two"))
    assert scene.call.done == ["finish"], "nobody waits for what will not be said"
    await scene.over()
    check(client, scene.pipe.written)
    assert text_of(client, scene.pipe.written) == "onE "
    row = scene.row
    assert (row.outcome, row.usage_source, row.input_tokens) == ("completed", "estimated", 3)
    assert row.finish_reason == ("stop" if client is C else "stop_sequence")
    if client is M:
        assert accumulated(M, scene.pipe.written)["stop_sequence"] == "END"


SEARCHING = [
    up.created(),
    up.added(0, {"id": "ws_1", "type": "web_search_call", "status": "in_progress"}),
    up.event("web_search_call.searching", item_id="ws_1"),
]


async def test_what_the_caller_cannot_be_told_is_progress_and_another_channel_may_still_speak() -> None:
    scene = Scene(channel("a", R), channel("b", C))
    await scene.start(STREAM[C], C)
    scene.pass_time(5)
    scene.call.head()
    scene.call.body(*SEARCHING)
    assert scene.pipe.status is None
    scene.pass_time(200)
    assert not scene.call.over, "the first event's deadline no longer holds"
    scene.call.fail()
    await turns()
    says(*good(C))(scene.call)
    await scene.over()
    assert scene.pipe.written.replace(COMMENT, b"") == b"".join(good(C))
    assert scene.row.first_token_ms == 5000
    assert [name for name, _, _ in scene.tries] == ["a", "b"]


async def test_warnings_are_those_of_the_channel_that_answers() -> None:
    lossy: dict[str, Any] = {"seed": 7, "temperature": 1.5}
    scene = Scene(channel("a", M), channel("b", R))
    await played(C, scene, breaks(CUT), says(*good(R)), **lossy)
    assert scene.pipe.warnings == "dropped:seed"
    assert scene.row.warnings == ("dropped:seed",)
    other = Scene(channel("a", R), channel("b", M))
    await played(C, other, breaks(CUT), says(*good(M)), **lossy)
    assert set((other.pipe.warnings or "").split(", ")) == {"dropped:seed", "clamped:temperature"}
    assert set(other.row.warnings) == {"dropped:seed", "clamped:temperature"}
    same = Scene(channel("a", M), channel("b", C))
    await played(C, same, breaks(CUT), says(*good(C)), **lossy)
    assert (same.pipe.warnings, same.row.warnings) == (None, ())


async def test_a_head_that_is_sent_early_tells_what_is_known_then() -> None:
    scene = Scene(channel("a", M), channel("b", R))
    await scene.start({**STREAM[C], "temperature": 1.5}, C)
    scene.pass_time(11)
    scene.call.fail()
    await turns()
    says(*good(R))(scene.call)
    await scene.over()
    assert scene.pipe.warnings == "clamped:temperature"
    assert scene.row.warnings == ()


@every_cross_pair
async def test_all_failures_after_a_comment_are_told_in_the_stream(
    client: Protocol, upstream: Protocol
) -> None:
    scene = Scene(channel(protocol=upstream))
    await scene.start(STREAM[client], client)
    scene.pass_time(11)
    scene.call.answer(429, b"{}")
    await scene.over()
    stream = scene.pipe.written.removeprefix(COMMENT)
    check_failed(client, stream)
    assert (scene.row.status, scene.row.outcome, scene.row.error_type) == (200, "failed", "rate_limit_error")


@every_cross_pair
async def test_at_the_end_of_a_drain_a_stream_gets_its_error(client: Protocol, upstream: Protocol) -> None:
    scene = Scene(channel(protocol=upstream))
    await scene.start(STREAM[client], client)
    scene.call.head()
    scene.call.body(*spoken(upstream, "hello"))
    scene.exchange.interrupt_all()
    await scene.over()
    check_failed(client, scene.pipe.written)
    assert scene.row.outcome == "interrupted"


@every_cross_pair
async def test_a_client_that_leaves_pays_what_was_said(client: Protocol, upstream: Protocol) -> None:
    scene = Scene(channel(protocol=upstream))
    await scene.start(STREAM[client], client)
    scene.call.head()
    scene.call.body(*spoken(upstream, "hello there"))
    await scene.leave()
    assert scene.call.done == ["cancel"]
    row = scene.row
    assert (row.outcome, row.output_tokens, row.usage_source) == ("client_closed", 2, "estimated")
    assert row.input_tokens == (7 if upstream is M else 3)


@pytest.mark.parametrize(("upstream", "client"), CROSS)
async def test_a_refusal_of_the_request_is_told_in_the_caller_s_form(
    upstream: Protocol, client: Protocol
) -> None:
    scene = Scene(channel("a", upstream), channel("b", client))
    await played(client, scene, refuses(422, "bad at a.example.com"))
    assert (scene.pipe.status, scene.pipe.error["message"]) == (422, "bad at [redacted]")
    assert scene.pipe.error["type"] == "invalid_request_error"
    assert scene.tries == [("a", "failed", 422)]


@every_cross_pair
async def test_a_fault_in_the_last_words_is_told_and_noted(
    client: Protocol, upstream: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_: object) -> bytes:
        raise RuntimeError("a fault")

    monkeypatch.setattr(ConvertingWatcher, "closing", fault)
    scene = Scene(channel(protocol=upstream))
    scene.upstream.plays.append(says(*good(upstream)))
    await scene.start(STREAM[client], client)
    with pytest.raises(RuntimeError):
        await scene.over()
    check_failed(client, scene.pipe.written)
    assert (scene.pipe.ended, scene.row.outcome) == (True, "interrupted")
    assert scene.row.error_message == "The server had an internal error."
    assert scene.call.done == ["cancel"]
