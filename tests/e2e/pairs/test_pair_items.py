"""Answers of responses channels, and answers as items for responses callers."""

import json
from typing import Any

import pytest
from tests.harness import notation as n
from tests.harness.crossing import MODES, cross
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, Side
from tests.harness.heard import Call, Heard
from tests.harness.notation import Json
from tests.harness.pairs import Pair, by, finish, over
from tests.harness.script import CUT, stream
from tests.harness.stage import Stage

clients_of_responses = pytest.mark.parametrize("client", [CHAT, MESSAGES], ids=lambda side: side.name)
channels_of_responses = pytest.mark.parametrize("channel", [CHAT, MESSAGES], ids=lambda side: side.name)
USAGE = {"input_tokens": 5, "output_tokens": 4, "total_tokens": 9}


def _call(index: int, arguments: str = '{"x":1}') -> list[tuple[str, Json]]:
    item: Json = {"type": "function_call", "id": f"fc_{index}", "call_id": f"call_{index}", "name": "f"}
    place = {"item_id": f"fc_{index}", "output_index": index}
    done = {**item, "arguments": arguments, "status": "completed"}
    return [
        n.added({**item, "arguments": "", "status": "in_progress"}, index),
        ("response.function_call_arguments.delta", {**place, "delta": arguments}),
        ("response.function_call_arguments.done", {**place, "arguments": arguments}),
        n.item_done(done, index),
    ]


def _message(text: str, index: int, id: str = "msg_1") -> list[tuple[str, Json]]:
    return [
        n.added(n.message_item(id=id), index),
        n.part_added(id=id, index=index),
        n.text_delta(text, id, index),
        *n.text_done(text, id, index),
    ]


def _completed(*items: Json) -> tuple[str, Json]:
    return "response.completed", n.response("completed", output=list(items), usage=USAGE)


async def _heard(stage: Stage, pair: Pair, steps: list[bytes], mode: str = "stream") -> Heard:
    return (await cross(stage, pair, steps, mode=mode)).heard


@clients_of_responses
async def test_b040_every_item_at_the_same_output_index(crossing: Stage, client: Side) -> None:
    summary: Json = {"item_id": "rs_1", "output_index": 0, "summary_index": 0}
    part = {"type": "summary_text", "text": "why"}
    reasoning: Json = {"type": "reasoning", "id": "rs_1", "summary": []}
    steps = n.r(
        n.created(),
        *_call(0),
        n.added(reasoning, 0),
        ("response.reasoning_summary_part.added", {**summary, "part": {**part, "text": ""}}),
        ("response.reasoning_summary_text.delta", {**summary, "delta": "why"}),
        ("response.reasoning_summary_text.done", {**summary, "text": "why"}),
        ("response.reasoning_summary_part.done", {**summary, "part": part}),
        n.item_done({**reasoning, "summary": [part]}, 0),
        *_message("hi", 0),
        _completed(),
    )
    for mode in ("stream", "gathered"):
        heard = await _heard(crossing, Pair(client, RESPONSES), steps, mode)
        assert (heard.thought, heard.text) == ("why", "hi")
        assert [json.loads(call.input) for call in heard.calls] == [{"x": 1}]
        assert heard.finish == finish(client, "calls")
        assert client is CHAT or heard.parts == ["call", "thought", "text"]


@clients_of_responses
async def test_b041_a_failed_response(crossing: Stage, client: Side) -> None:
    error = {"code": "rate_limit_exceeded", "message": "slow down"}
    failed = ("response.failed", n.response("failed", error=error))
    steps = n.r(n.created(), n.added(n.message_item()), n.text_delta("par"), failed)
    played = await crossing.play(client, stream(steps), channel=RESPONSES, b=[])
    last = played.stream.events[-1]
    assert played.text == "par"
    told = client.error_of(last)
    assert told is not None
    assert told["message"] == "slow down"
    if client is CHAT:
        assert (told["type"], told["code"]) == ("rate_limit_error", "rate_limit_exceeded")
    else:
        assert told["type"] == "rate_limit_error"
    assert not any(client.is_end(event) for event in played.stream.events)
    row = await played.row()
    assert row["outcome"] == "interrupted"
    assert row["output_tokens"] > 0
    assert played.at_b == []


ENDS: list[tuple[Side, str, str]] = [
    (CHAT, "length", "incomplete:max_output_tokens"),
    (CHAT, "content_filter", "incomplete:content_filter"),
    (MESSAGES, "max_tokens", "incomplete:max_output_tokens"),
    (MESSAGES, "model_context_window_exceeded", "incomplete:max_output_tokens"),
    (MESSAGES, "refusal", "incomplete:content_filter"),
    (MESSAGES, "pause_turn", "completed"),
    (MESSAGES, "end_turn", "completed"),
    (MESSAGES, "stop_sequence", "completed"),
    (MESSAGES, "compaction", "completed"),
]


@pytest.mark.parametrize(
    ("channel", "reason", "status"), ENDS, ids=lambda value: getattr(value, "name", value)
)
async def test_b043_how_a_responses_answer_ends(
    crossing: Stage, channel: Side, reason: str, status: str
) -> None:
    if channel is CHAT:
        steps = [n.k({"content": "a"}), n.k({}, reason), n.DONE]
    else:
        steps = [n.ms(), n.bs(0, "text"), n.bd(0, n.text("a")), n.be(0), n.md(reason), n.me]
    for mode in MODES:
        crossed = await cross(crossing, Pair(RESPONSES, channel), steps, mode=mode)
        assert crossed.heard.finish == status
        if mode == "stream":
            assert crossed.played.stream.events[-1].name == "response." + status.split(":", maxsplit=1)[0]
        row = await crossed.played.row()
        assert row["outcome"] == ("incomplete" if status.endswith("max_output_tokens") else "completed")


@channels_of_responses
async def test_b044_a_call_is_a_completed_function_call(crossing: Stage, channel: Side) -> None:
    for mode in MODES:
        crossed = await cross(crossing, Pair(RESPONSES, channel), _tool_use(channel), mode=mode)
        (item,) = crossed.heard.whole["output"]
        assert (item["type"], item["status"], crossed.heard.finish) == (
            "function_call",
            "completed",
            "completed",
        )
        if mode == "stream":
            names = crossed.played.stream.names()
            assert "response.function_call_arguments.delta" in names
            assert not any("custom" in str(name) for name in names)


def _tool_use(channel: Side) -> list[bytes]:
    if channel is CHAT:
        call = n.k(n.t(0, "toolu_1", "test_tool", '{"x":5}'))
        return [call, n.k({}, "tool_calls"), n.DONE]
    start: Json = {"type": "tool_use", "id": "toolu_1", "name": "test_tool", "input": {}}
    return [n.ms(), n.bs(0, start), n.bd(0, n.args('{"x":5}')), n.be(0), n.md("tool_use"), n.me]


@channels_of_responses
async def test_b045_names_and_ids_in_added_and_done(crossing: Stage, channel: Side) -> None:
    crossed = await cross(crossing, Pair(RESPONSES, channel), _tool_use(channel))
    values = {value["type"]: value for value in crossed.played.stream.json()}
    assert crossed.heard.calls == [Call("toolu_1", "test_tool", '{"x":5}')]
    for kind in ("response.output_item.added", "response.output_item.done"):
        assert (values[kind]["item"]["name"], values[kind]["item"]["call_id"]) == ("test_tool", "toolu_1")
    assert values["response.output_item.done"]["item"]["arguments"] == '{"x":5}'
    assert values["response.completed"]["response"]["output"] == [values["response.output_item.done"]["item"]]


@channels_of_responses
async def test_b046_the_whole_text_in_every_done_event(crossing: Stage, channel: Side) -> None:
    values = {
        value["type"]: value
        for value in (await cross(crossing, Pair(RESPONSES, channel))).played.stream.json()
    }
    assert values["response.output_text.done"]["text"] == "Hello"
    assert values["response.content_part.done"]["part"]["text"] == "Hello"
    assert values["response.output_item.done"]["item"]["content"][0]["text"] == "Hello"
    assert values["response.completed"]["response"]["output"][0]["content"][0]["text"] == "Hello"


@clients_of_responses
@pytest.mark.parametrize("mode", ["stream", "gathered"])
async def test_b048_text_that_only_one_side_tells(crossing: Stage, client: Side, mode: str) -> None:
    only_final = n.r(n.created(), _completed(n.message_item("hi", "completed")))
    only_deltas = n.r(n.created(), *_message("hi", 0), _completed())
    bare = n.r(n.created(), n.text_delta("h"), n.text_delta("i"), _completed())
    for steps in (only_final, only_deltas, bare):
        heard = await _heard(crossing, Pair(client, RESPONSES), steps, mode)
        assert heard.text == "hi"
        assert heard.counts is not None
        assert (heard.counts.fresh, heard.counts.output) == (5, 4)


def _reasoning(*, summary: bool, content: bool) -> list[bytes]:
    item: Json = {"type": "reasoning", "id": "rs_1", "summary": []}
    place: Json = {"item_id": "rs_1", "output_index": 0}
    events: list[tuple[str, Json]] = [n.added(dict(item))]
    done = dict(item)
    if summary:
        at = {**place, "summary_index": 0}
        part = {"type": "summary_text", "text": "why"}
        events += [
            ("response.reasoning_summary_part.added", {**at, "part": {**part, "text": ""}}),
            ("response.reasoning_summary_text.delta", {**at, "delta": "why"}),
            ("response.reasoning_summary_text.done", {**at, "text": "why"}),
            ("response.reasoning_summary_part.done", {**at, "part": part}),
        ]
        done["summary"] = [part]
    if content:
        at = {**place, "content_index": 0}
        part = {"type": "reasoning_text", "text": "because"}
        events += [
            ("response.reasoning_text.delta", {**at, "delta": "because"}),
            ("response.reasoning_text.done", {**at, "text": "because"}),
        ]
        done["content"] = [part]
    return n.r(n.created(), *events, n.item_done(done), *_message("hi", 1), _completed(done))


@clients_of_responses
@pytest.mark.parametrize(
    ("form", "thought"),
    [((True, False), "why"), ((False, True), "because"), ((True, True), None)],
    ids=["summary", "content", "both"],
)
async def test_b049_reasoning_is_told_once(
    crossing: Stage, client: Side, form: tuple[bool, bool], thought: str | None
) -> None:
    steps = _reasoning(summary=form[0], content=form[1])
    for mode in ("stream", "gathered"):
        heard = await _heard(crossing, Pair(client, RESPONSES), steps, mode)
        assert heard.text == "hi"
        assert heard.parts.count("thought") == 1
        assert heard.thought == thought if thought else heard.thought in ("why", "because")


@channels_of_responses
async def test_b051_numbers_and_ids_up_to_a_failure(crossing: Stage, channel: Side) -> None:
    script = channel.script(pieces=tuple(f"w{number} " for number in range(40)))
    played = await crossing.play(RESPONSES, stream(script.opening, script.deltas, CUT), channel=channel)
    values = played.stream.json()
    assert [value["sequence_number"] for value in values] == list(range(len(values)))
    assert len({value["response"]["id"] for value in values if "response" in value}) == 1
    last = values[-1]["response"]
    assert (values[-1]["type"], last["status"]) == ("response.failed", "failed")
    (item,) = last["output"]
    assert item["content"][0]["text"] == "".join(f"w{number} " for number in range(40))


@pytest.mark.parametrize("mode", MODES)
async def test_b052_text_followed_by_a_call_is_tool_use(crossing: Stage, mode: str) -> None:
    chat = [n.k({"role": "assistant", "content": "Let me look"}), n.k(n.t(0, "a", "f", "{}"))]
    chat += [n.k({}, "tool_calls"), n.DONE]
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": '{"x":1}'}
    call["status"] = "completed"
    final = _completed(n.message_item("Let me look", "completed"), call)
    responses = n.r(n.created(), *_message("Let me look", 0), *_call(1), final)
    for channel, steps in ((CHAT, chat), (RESPONSES, responses)):
        heard = await _heard(crossing, Pair(MESSAGES, channel), steps, mode)
        assert (heard.parts, heard.text, heard.finish) == (["text", "call"], "Let me look", "tool_use")


@pytest.mark.parametrize("mode", ["stream", "gathered"])
@clients_of_responses
async def test_interleaved_items_come_one_after_the_other(crossing: Stage, client: Side, mode: str) -> None:
    first, second = _call(0, '{"a":1}'), _call(1, '{"b":2}')
    woven = [first[0], second[0], second[1], first[1], *second[2:], *first[2:]]
    steps = n.r(n.created(), *woven, _completed())
    heard = await _heard(crossing, Pair(client, RESPONSES), steps, mode)
    assert [json.loads(call.input) for call in heard.calls] == [{"a": 1}, {"b": 2}]
    assert [call.id for call in heard.calls] == ["call_0", "call_1"]


@pytest.mark.parametrize("mode", ["stream", "gathered"])
@clients_of_responses
async def test_hosted_items_are_not_told(crossing: Stage, client: Side, mode: str) -> None:
    """And events that nobody knows are nothing at all."""
    search: Json = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    steps = n.r(
        n.created(),
        ("response.something.new", {"x": 1}),
        n.added({**search, "status": "in_progress"}),
        ("response.web_search_call.searching", {"item_id": "ws_1", "output_index": 0}),
        n.item_done(search),
        *_message("hi", 1),
        _completed(search, n.message_item("hi", "completed")),
    )
    heard = await _heard(crossing, Pair(client, RESPONSES), steps, mode)
    assert (heard.text, heard.calls, heard.finish) == ("hi", [], finish(client, "stop"))


def test_the_pairs_of_this_file() -> None:
    clients: list[Any] = [pair.client for pair in over(RESPONSES)]
    channels: list[Any] = [pair.channel for pair in by(RESPONSES)]
    assert clients == channels == [CHAT, MESSAGES]
