"""Whole answers of channels that speak another protocol than the caller, from the first byte to the row."""

import json
from typing import Any

import pytest
from tests.unit.exchange.said import ASK, MESSAGES, RESPONSES, answers, breaks, event, refuses, says
from tests.unit.exchange.scene import CUT, Scene, channel
from tests.unit.protocols import upstreams as up
from tests.unit.protocols.speech import STOP, ended, spoken, whole

from tidegate.core.protocol import Protocol
from tidegate.exchange.prepared import LONG_ANSWER

C, R, M = Protocol.CHAT, Protocol.RESPONSES, Protocol.MESSAGES
BODIES: dict[Protocol, dict[str, Any]] = {C: ASK, R: RESPONSES, M: MESSAGES}
CROSS = [(client, upstream) for client in Protocol for upstream in Protocol if client is not upstream]
every_cross_pair = pytest.mark.parametrize(("client", "upstream"), CROSS)
WORDS = {C: "stop", R: "completed", M: "end_turn"}
CUTS = {C: "length", R: "max_output_tokens", M: "max_tokens"}
TYPES = {C: "chat.completion", R: "response", M: "message"}
PREFIXES = {C: "chatcmpl-", R: "resp_", M: "msg_"}


async def played(client: Protocol, scene: Scene, *plays: Any, **members: Any) -> dict[str, Any]:
    await scene.play({**BODIES[client], **members}, *plays, protocol=client)
    answer: dict[str, Any] = json.loads(scene.pipe.written)
    return answer


def text_of(client: Protocol, answer: dict[str, Any]) -> str:
    match client:
        case Protocol.CHAT:
            return str(answer["choices"][0]["message"]["content"])
        case Protocol.RESPONSES:
            return "".join(part["text"] for item in answer["output"] for part in item["content"])
        case Protocol.MESSAGES:
            return "".join(part["text"] for part in answer["content"])


def usage_of(client: Protocol, answer: dict[str, Any]) -> tuple[int, int]:
    usage = answer["usage"]
    names = ("prompt_tokens", "completion_tokens") if client is C else ("input_tokens", "output_tokens")
    return usage[names[0]], usage[names[1]]


@every_cross_pair
async def test_a_good_answer(client: Protocol, upstream: Protocol) -> None:
    scene = Scene(channel(protocol=upstream))
    answer = await played(client, scene, answers(whole(upstream, "hello there")))
    assert scene.pipe.status == 200
    assert answer.get("object", answer.get("type")) == TYPES[client]
    assert answer["id"].startswith(PREFIXES[client]), "the upstream's id means nothing here"
    assert (answer["model"], text_of(client, answer), usage_of(client, answer)) == (
        "m",
        "hello there",
        (7, 2),
    )
    assert not json.loads(scene.call.request.body).get("stream")
    assert dict(scene.call.request.headers)["accept"] == "application/json"
    row = scene.row
    assert (row.status, row.outcome, row.stream, row.channel) == (200, "completed", False, "a")
    assert row.finish_reason == WORDS[client]
    assert (row.input_tokens, row.output_tokens, row.usage_source) == (7, 2, "upstream")
    assert scene.ownership.owners == {}, "what another protocol stored is nothing to come back to"


@every_cross_pair
async def test_usage_that_is_missing_is_estimated_and_told(client: Protocol, upstream: Protocol) -> None:
    scene = Scene(channel(protocol=upstream))
    answer = await played(client, scene, answers(whole(upstream, "hello there", usage=False)))
    assert usage_of(client, answer) == (3, 2)
    row = scene.row
    assert (row.input_tokens, row.output_tokens, row.usage_source) == (3, 2, "estimated")


@every_cross_pair
async def test_a_stream_that_nobody_asked_for_is_gathered(client: Protocol, upstream: Protocol) -> None:
    scene = Scene(channel(protocol=upstream))
    events = [*spoken(upstream, "hello ", "there"), *ended(upstream, "hello there")]
    answer = await played(client, scene, says(*events))
    assert (text_of(client, answer), usage_of(client, answer)) == ("hello there", (7, 2))
    assert scene.row.usage_source == "upstream"


@every_cross_pair
async def test_a_long_answer_is_fetched_as_a_stream(client: Protocol, upstream: Protocol) -> None:
    name = "max_output_tokens" if client is R else "max_tokens"
    scene = Scene(channel(protocol=upstream))
    events = says(*spoken(upstream, "hello ", "there"), *ended(upstream, "hello there"))
    answer = await played(client, scene, events, **{name: LONG_ANSWER + 1})
    sent = scene.call.request
    assert json.loads(sent.body)["stream"] is True
    assert dict(sent.headers)["accept"] == "text/event-stream"
    assert (text_of(client, answer), usage_of(client, answer)) == ("hello there", (7, 2))
    assert (scene.row.stream, scene.row.outcome, scene.row.usage_source) == (False, "completed", "upstream")
    other = Scene(channel(protocol=upstream))
    same = await played(client, other, answers(whole(upstream, "hello there")), **{name: LONG_ANSWER + 1})
    assert text_of(client, same) == "hello there", "an upstream may answer whole all the same"


@every_cross_pair
@pytest.mark.parametrize("limit", [9, LONG_ANSWER + 1])
async def test_what_is_no_answer_moves_on(client: Protocol, upstream: Protocol, limit: int) -> None:
    name = "max_output_tokens" if client is R else "max_tokens"
    for fault in (
        breaks(CUT),
        breaks(CUT, b'{"id"'),
        breaks(CUT, *spoken(upstream, "hello")),
        says(*spoken(upstream, "hello")),
        says(*spoken(upstream, "hello"), event({"type": "error", "error": {"message": "busy"}})),
        says(*spoken(upstream, "hello"), b"data: nonsense\n\n"),
        says(up.MESSAGE_STOP),
        lambda call: call.answer(200, b"<html>"),
        lambda call: call.answer(200, b""),
        answers({"hello": 1}),
        answers({"error": {"message": "no", "type": "server_error"}}),
        refuses(500),
    ):
        scene = Scene(channel("a", upstream), channel("b", client))
        await played(client, scene, fault, answers(whole(client, "hello there")), **{name: limit})
        assert [outcome for _, outcome, _ in scene.tries] == ["failed", "served"]
        alone = Scene(channel("a", upstream))
        answer = await played(client, alone, fault, **{name: limit})
        assert (alone.pipe.status, alone.row.outcome) == (502, "failed")
        assert answer["error"]["type"] == "api_error"


def _cut(upstream: Protocol) -> dict[str, Any]:
    answer = whole(upstream, "hello")
    match upstream:
        case Protocol.CHAT:
            answer["choices"][0]["finish_reason"] = "length"
        case Protocol.RESPONSES:
            answer |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        case Protocol.MESSAGES:
            answer["stop_reason"] = "max_tokens"
    return answer


@every_cross_pair
async def test_an_answer_that_was_cut_by_its_limit_is_incomplete(
    client: Protocol, upstream: Protocol
) -> None:
    scene = Scene(channel(protocol=upstream))
    await played(client, scene, answers(_cut(upstream)))
    assert (scene.row.outcome, scene.row.finish_reason) == ("incomplete", CUTS[client])


async def test_an_answer_that_ends_at_a_stop_string_is_complete() -> None:
    scene = Scene(channel(protocol=R))
    cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    answer = await played(M, scene, answers({**whole(R, "one END two"), **cut}), stop_sequences=["END"])
    assert (text_of(M, answer), answer["stop_reason"]) == ("one ", "stop_sequence")
    assert answer["stop_sequence"] == "END"
    row = scene.row
    assert (row.outcome, row.finish_reason) == ("completed", "stop_sequence")
    assert (row.output_tokens, row.usage_source) == (2, "upstream"), "all that was produced is counted"


@every_cross_pair
async def test_a_refusal_of_the_request_is_told_in_the_caller_s_form(
    client: Protocol, upstream: Protocol
) -> None:
    scene = Scene(channel("a", upstream), channel("b", client))
    answer = await played(client, scene, refuses(400, "bad at a.example.com"))
    assert scene.pipe.status == 400
    assert answer["error"]["message"] == "bad at [redacted]"
    assert answer["error"]["type"] == "invalid_request_error"
    assert answer.get("type") == ("error" if client is M else None)
    assert scene.tries == [("a", "failed", 400)]
    assert scene.row.outcome == "failed"


def _told(param: str) -> Any:
    error = {"message": "bad", "type": "invalid_request_error", "code": "invalid_value", "param": param}
    return lambda call: call.answer(400, json.dumps({"error": error}).encode())


@pytest.mark.parametrize(
    ("client", "upstream", "param", "told"),
    [(C, R, "input[0].content", "messages[0].content"), (R, C, "messages[0]", "input[0]")],
)
async def test_words_of_one_family_are_kept(
    client: Protocol, upstream: Protocol, param: str, told: str
) -> None:
    scene = Scene(channel(protocol=upstream))
    error = (await played(client, scene, _told(param)))["error"]
    assert (error["code"], error["param"]) == ("invalid_value", told)


@pytest.mark.parametrize(
    ("status", "type_", "openai", "anthropic"),
    [
        (401, "authentication_error", (502, "api_error"), (502, "api_error")),
        (429, "rate_limit_error", (429, "rate_limit_error"), (429, "rate_limit_error")),
        (529, "overloaded_error", (503, "overloaded_error"), (529, "overloaded_error")),
        (504, "timeout_error", (504, "api_error"), (504, "timeout_error")),
        (413, "invalid_request_error", (413, "invalid_request_error"), (413, "request_too_large")),
    ],
)
async def test_statuses_are_those_of_the_caller_s_protocol(
    status: int, type_: str, openai: tuple[int, str], anthropic: tuple[int, str]
) -> None:
    body = json.dumps({"error": {"message": "no", "type": type_}}).encode()
    for client, upstream in CROSS:
        scene = Scene(channel(protocol=upstream))
        answer = await played(client, scene, lambda call: call.answer(status, body, retry_after="7"))
        assert (scene.pipe.status, answer["error"]["type"]) == (anthropic if client is M else openai)
        if status in (429, 529):
            assert scene.pipe.headers["retry-after"] == "7"


async def test_warnings_are_those_of_the_channel_that_answers() -> None:
    lossy: dict[str, Any] = {"seed": 7, "temperature": 1.5}
    scene = Scene(channel("a", M), channel("b", R))
    await played(C, scene, breaks(CUT), answers(whole(R, "hello")), **lossy)
    assert scene.pipe.warnings == "dropped:seed"
    assert scene.row.warnings == ("dropped:seed",)
    same = Scene(channel("a", M), channel("b", C))
    await played(C, same, breaks(CUT), answers(whole(C, "hello")), **lossy)
    assert (same.pipe.warnings, same.row.warnings) == (None, ())


async def test_a_refusal_tells_what_the_upstream_was_not_told() -> None:
    for body in ({}, {"stream": True}):
        scene = Scene(channel(protocol=M))
        await played(C, scene, refuses(400), seed=7, **body)
        assert scene.pipe.warnings == "dropped:seed"
        assert scene.row.warnings == ("dropped:seed",)


@every_cross_pair
async def test_a_client_that_leaves_pays_what_was_accepted(client: Protocol, upstream: Protocol) -> None:
    scene = Scene(channel(protocol=upstream))
    await scene.start(BODIES[client], client)
    scene.call.head()
    scene.call.body(b'{"id"')
    await scene.leave()
    row = scene.row
    assert (row.status, row.outcome, row.input_tokens) == (499, "client_closed", 3)
    assert row.usage_source == "estimated"


@pytest.mark.parametrize("client", [M, R])
@pytest.mark.parametrize("rest", [[], [STOP], [STOP, b"data: nonsense\n\n"]])
async def test_a_stream_of_chat_is_whole_with_its_finish(client: Protocol, rest: list[bytes]) -> None:
    scene = Scene(channel(protocol=C))
    answer = await played(client, scene, says(*spoken(C, "hello"), *rest))
    assert scene.pipe.status == (200 if rest else 502)
    if rest:
        assert text_of(client, answer) == "hello"
