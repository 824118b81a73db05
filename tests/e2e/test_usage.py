"""Usage: asked for always, counted once in four classes, estimated where the upstream gave none."""

import asyncio
import json
from typing import Any

import pytest
from tests.harness import notation as n
from tests.harness.dialects import CACHED, CHAT, FRESH, MESSAGES, OUTPUT, RESPONSES, SIDES, Side
from tests.harness.notation import Json
from tests.harness.script import Answer, Gate, Pause, body, stream
from tests.harness.stage import Stage
from tests.harness.together import together

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
Counts = tuple[int, int, int, int]
PROSE = "The river runs past the mill and on to the sea. " * 20
"""Some 240 tokens."""


def _counts(row: Any) -> Counts:
    return (
        row["input_tokens"],
        row["cache_read_tokens"],
        row["cache_write_tokens"],
        row["output_tokens"],
    )


def _chat(usage: Json) -> Json:
    return {**CHAT.whole(), "usage": usage}


CHAT_USAGES: dict[str, tuple[Json, Counts]] = {
    "plain": ({"prompt_tokens": 5, "completion_tokens": 4, "total_tokens": 9}, (5, 0, 0, 4)),
    "cached": (
        {
            "prompt_tokens": 10000,
            "completion_tokens": 100,
            "total_tokens": 10100,
            "prompt_tokens_details": {"cached_tokens": 9000},
        },
        (1000, 9000, 0, 100),
    ),
    "cache write": (
        {
            "prompt_tokens": 1000,
            "completion_tokens": 1,
            "prompt_tokens_details": {"cached_tokens": 300, "cache_write_tokens": 500},
        },
        (200, 300, 500, 1),
    ),
    "reasoning is inside": (
        {
            "prompt_tokens": 5,
            "completion_tokens": 50,
            "completion_tokens_details": {"reasoning_tokens": 30},
        },
        (5, 0, 0, 50),
    ),
    "no total, odd numbers": ({"prompt_tokens": 10.0, "completion_tokens": "7"}, (10, 0, 0, 7)),
    "vendor spelling": (
        {"prompt_tokens": 10, "completion_tokens": 2, "prompt_cache_hit_tokens": 8},
        (2, 8, 0, 2),
    ),
    "another vendor": ({"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 4}, (6, 4, 0, 2)),
}


@pytest.mark.parametrize("what", CHAT_USAGES)
async def test_b070_b081_b084_chat_counts(stage: Stage, what: str) -> None:
    usage, counts = CHAT_USAGES[what]

    async def streamed() -> None:
        script = CHAT.script()
        steps = stream(script.opening, script.deltas, n.k({}, "stop"), n.u(usage), n.DONE)
        played = await stage.play(CHAT, steps)
        assert played.stream.json()[-1]["usage"] == usage
        row = await played.row()
        assert (_counts(row), row["usage_source"]) == (counts, "upstream")

    async def whole() -> None:
        played = await stage.play(CHAT, body(json.dumps(_chat(usage)).encode()), stream=False)
        assert _counts(await played.row()) == counts

    await together({"stream": streamed(), "whole": whole()})


async def test_b072_s006_the_usage_chunk_is_for_those_who_asked(stage: Stage) -> None:
    async def asked() -> None:
        model = stage.model(CHAT)
        script = CHAT.script(model)
        played = await stage.play(CHAT, stream(script.all), model=model)
        assert [bool(value.get("usage")) for value in played.stream.json()][-1]
        assert played.reply.said == script.bytes()

    async def not_asked(options: Json | None) -> None:
        model = stage.model(CHAT)
        script = CHAT.script(model)
        played = await stage.play(CHAT, stream(script.all), model=model, members={"stream_options": options})
        kept = [event for event in script.all if b'"usage"' not in event]
        assert played.reply.said == b"".join(kept)
        assert _counts(await played.row()) == (FRESH, CACHED, 0, OUTPUT)

    async def in_the_finish_chunk() -> None:
        model = stage.model(CHAT)
        script = CHAT.script(model)
        finish = n.chunk([{"index": 0, "delta": {}, "finish_reason": "stop"}], model)
        last = n.data({**finish, "usage": {"prompt_tokens": 4, "completion_tokens": 2}})
        played = await stage.play(
            CHAT,
            stream(script.opening, script.deltas, last, n.DONE),
            model=model,
            members={"stream_options": None},
        )
        assert played.text == "Hello"
        assert played.stream.events[-1].data == "[DONE]"
        assert _counts(await played.row()) == (4, 0, 0, 2)

    await together(
        {
            "asked": asked(),
            "no options": not_asked(None),
            "false": not_asked({"include_usage": False}),
            "finish chunk": in_the_finish_chunk(),
        }
    )


async def test_b073_chunks_without_choices_do_no_harm(stage: Stage) -> None:
    model = stage.model(CHAT)
    script = CHAT.script(model)
    filters = {"id": "", "object": "", "model": "", "prompt_filter_results": [{}], "choices": []}
    nothing = {**n.chunk(None, model), "usage": None}
    played = await stage.play(CHAT, stream(n.data(filters), n.data(nothing), script.all), model=model)
    choices = [choice for value in played.stream.json() for choice in value["choices"] or ()]
    assert "".join(choice["delta"].get("content") or "" for choice in choices) == "Hello"
    assert _counts(await played.row()) == (FRESH, CACHED, 0, OUTPUT)


MESSAGES_USAGES: dict[str, tuple[Json, Json, Counts]] = {
    "repeated": (
        {"input_tokens": 27, "cache_read_input_tokens": 100, "output_tokens": 1},
        {"input_tokens": 27, "cache_read_input_tokens": 100, "output_tokens": 47},
        (27, 100, 0, 47),
    ),
    "true input last": (
        {"input_tokens": 2230, "output_tokens": 1},
        {"input_tokens": 12284, "output_tokens": 9, "server_tool_use": {"web_search_requests": 1}},
        (12284, 0, 0, 9),
    ),
    "input zero at the start": (
        {"input_tokens": 0, "output_tokens": 0},
        {"input_tokens": 100, "cache_read_input_tokens": 900, "output_tokens": 7},
        (100, 900, 0, 7),
    ),
    "cache write": (
        {"input_tokens": 6, "cache_creation_input_tokens": 159217, "cache_read_input_tokens": 0},
        {"output_tokens": 2745},
        (6, 0, 159217, 2745),
    ),
    "nulls do not replace": (
        {"input_tokens": 5, "cache_read_input_tokens": 4, "output_tokens": 1},
        {"input_tokens": None, "cache_read_input_tokens": None, "output_tokens": 3},
        (5, 4, 0, 3),
    ),
}


@pytest.mark.parametrize("what", MESSAGES_USAGES)
async def test_b075_b076_b078_messages_counts(stage: Stage, what: str) -> None:
    first, last, counts = MESSAGES_USAGES[what]
    model = stage.model(MESSAGES)
    sent = [
        n.ms(first, model=model),
        n.bs(0, "text"),
        n.bd(0, n.text("Hello")),
        n.be(0),
        n.md("end_turn", last),
        n.me,
    ]
    played = await stage.play(MESSAGES, stream(sent), model=model)
    assert played.reply.said == b"".join(sent)
    row = await played.row()
    assert (_counts(row), row["usage_source"]) == (counts, "upstream")


async def test_responses_counts(stage: Stage) -> None:
    usage = {
        "input_tokens": 1000,
        "input_tokens_details": {"cached_tokens": 900, "cache_write_tokens": 50},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 30},
        "total_tokens": 1050,
    }
    answer = {**RESPONSES.whole(), "usage": usage}

    async def whole() -> None:
        played = await stage.play(RESPONSES, body(json.dumps(answer).encode()), stream=False)
        assert _counts(await played.row()) == (50, 900, 50, 50)

    async def streamed() -> None:
        script = RESPONSES.script()
        end = n.r(("response.completed", {"response": answer}), start=len(script.all) - 1)
        played = await stage.play(RESPONSES, stream(script.all[:-1], end))
        assert _counts(await played.row()) == (50, 900, 50, 50)

    await together({"whole": whole(), "stream": streamed()})


@every_side
async def test_b082_no_usage_is_estimated(stage: Stage, side: Side) -> None:
    def check(row: Any) -> None:
        assert row["usage_source"] == "estimated"
        assert 120 <= row["output_tokens"] <= 480
        assert row["input_tokens"] > 0

    async def streamed() -> None:
        played = await stage.play(side, stream(_without_usage(side)))
        row = await played.row()
        check(row)
        if side.name == "chat":
            *_, last = played.stream.json()
            assert last["choices"] == []
            assert last["usage"]["completion_tokens"] == row["output_tokens"]
            assert last["usage"]["prompt_tokens"] == row["input_tokens"]
            total = row["input_tokens"] + row["output_tokens"]
            assert last["usage"]["total_tokens"] == total

    async def whole() -> None:
        answer = side.whole("up", PROSE)
        del answer["usage"]
        played = await stage.play(side, body(json.dumps(answer).encode()), stream=False)
        assert played.reply.status == 200
        check(await played.row())

    await together({"stream": streamed(), "whole": whole()})


def _without_usage(side: Side) -> list[bytes]:
    script = side.script("up", (PROSE,))
    if side.name == "messages":
        start = json.loads(script.opening[0].split(b"data: ")[1])
        del start["message"]["usage"]
        end = n.named("message_delta", {"type": "message_delta", "delta": {"stop_reason": "end_turn"}})
        return [n.named("message_start", start), *script.opening[1:], *script.deltas, n.be(0), end, n.me]
    if side.name == "chat":
        return [event for event in script.all if b'"usage"' not in event]
    last = json.loads(script.closing[-1].split(b"data: ")[1])
    last["response"]["usage"] = None
    return [*script.all[:-1], n.named("response.completed", last)]


async def test_b082_a_chat_caller_who_did_not_ask_gets_no_estimate(stage: Stage) -> None:
    model = stage.model(CHAT)
    sent = [event for event in CHAT.script(model).all if b'"usage"' not in event]
    played = await stage.play(CHAT, stream(sent), model=model, members={"stream_options": None})
    assert played.reply.said == b"".join(sent)
    assert (await played.row())["usage_source"] == "estimated"


async def test_b083_usage_is_always_asked_for(stage: Stage) -> None:
    async def asks(options: Json | None) -> None:
        members = {"stream_options": options}
        played = await stage.play(CHAT, stream(CHAT.script().all), members=members)
        asked = played.at_a[0].json()["stream_options"]
        assert asked == {**(options or {}), "include_usage": True}

    await together(
        {
            "absent": asks(None),
            "other options": asks({"include_obfuscation": False, "vendor": 1}),
            "false": asks({"include_usage": False}),
        }
    )


async def test_b083_no_stream_options_where_nothing_streams(stage: Stage) -> None:
    played = await stage.play(CHAT, body(json.dumps(CHAT.whole()).encode()), stream=False)
    assert "stream_options" not in played.at_a[0].json()


async def test_b083_an_upstream_that_refuses_stream_options_is_asked_without(stage: Stage) -> None:
    refusal = CHAT.error_body("Unrecognized request argument: stream_options", "invalid_request_error")
    model = stage.model(CHAT, "ab")
    script = CHAT.script(model)
    played = await stage.play(
        CHAT, body(json.dumps(refusal).encode(), 400), stream(script.all), b=[], model=model
    )
    assert played.reply.said == script.bytes()
    assert ["stream_options" in seen.json() for seen in played.at_a] == [True, False]
    assert played.at_b == []
    row = await played.row()
    assert [attempt["outcome"] for attempt in row["attempts"]] == ["repaired", "served"]
    assert [attempt["status"] for attempt in row["attempts"]] == [400, 200]


async def test_b083_the_repair_is_tried_once(stage: Stage) -> None:
    refusal = CHAT.error_body("stream_options is not supported", "invalid_request_error")
    answer = body(json.dumps(refusal).encode(), 400)
    played = await stage.play(CHAT, answer, answer, b=[])
    assert played.reply.status == 400
    assert (len(played.at_a), len(played.at_b)) == (2, 0)


async def test_b168_a_broken_answer_counts_what_was_told_and_estimates_the_rest(stage: Stage) -> None:
    usage = {"input_tokens": 321, "cache_read_input_tokens": 12, "output_tokens": 1}
    steps = [
        n.ms(usage),
        n.bs(0, "text"),
        *(n.bd(0, n.text(PROSE[:48])) for _ in range(20)),
        n.aerr("overloaded_error", "Overloaded"),
    ]
    played = await stage.play(MESSAGES, stream(steps))
    row = await played.row()
    assert row["outcome"] == "interrupted"
    assert row["finish_reason"] is None
    assert (row["input_tokens"], row["cache_read_tokens"]) == (321, 12)
    assert 120 <= row["output_tokens"] <= 480


@every_side
async def test_b162_b167_what_failed_before_output_costs_nothing(stage: Stage, side: Side) -> None:
    async def error_text(status: int) -> None:
        content = json.dumps(side.error_body("word " * 800, "server_error")).encode()
        played = await stage.play(side, body(content, status))
        row = await played.row()
        assert (row["outcome"], _counts(row)) == ("failed", (0, 0, 0, 0))
        assert row["usage_source"] == "none"

    async def usage_of_the_loser() -> None:
        opening = side.script().opening
        if side.name == "messages":
            opening = [n.ms({"input_tokens": 1000, "output_tokens": 0}), *opening[1:]]
        played = await stage.play(side, stream(opening, side.error_event()), b=[stream(side.script().all)])
        assert _counts(await played.row()) == (FRESH, CACHED, 0, OUTPUT)

    await together({"500": error_text(500), "200": error_text(200), "failover": usage_of_the_loser()})


async def test_first_token_time_is_of_the_first_useful_event(stage: Stage) -> None:
    async def timed(side: Side, noise: list[bytes]) -> None:
        model, gate = stage.model(side), Gate()
        script = side.script(model)
        answer: Answer = stream(script.opening, noise, Pause(0.5), script.deltas, gate, script.closing)
        stage.script(side, model, [answer])
        async with stage.gateway.open(side, side.request(model)) as reply:
            seen_at = await reply.until(script.deltas[0])
            await asyncio.sleep(0.3)
            gate.open()
            await reply.finish()
        row = await stage.gateway.row(model)
        assert 450 <= row["first_token_ms"] <= 1000 * seen_at, "before the client had it"
        assert row["duration_ms"] >= row["first_token_ms"] + 250

    too_much_to_hold = [n.named("vendor_note", {"type": "vendor_note", "pad": "x" * 65536})] * 20
    await together(
        {side.name: timed(side, []) for side in SIDES}
        | {f"{side.name}, after a large preamble": timed(side, too_much_to_hold) for side in SIDES}
    )
