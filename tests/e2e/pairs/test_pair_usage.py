"""Tokens in every pair: each counted once, in four classes, streamed and not, for caller and row."""

import json
from typing import Any

import pytest
from tests.harness import notation as n
from tests.harness.client import Reply
from tests.harness.crossing import MODES, Crossed, cross
from tests.harness.dialects import CHAT, MESSAGES, NO_MODEL, RESPONSES, Side, check_refusal
from tests.harness.heard import Counts
from tests.harness.notation import Json
from tests.harness.pairs import CROSS, NINE, Pair, over
from tests.harness.script import body, stream
from tests.harness.stage import Stage
from tests.harness.together import together

every_cross_pair = pytest.mark.parametrize("pair", CROSS, ids=lambda pair: pair.name)
clients_of_chat = pytest.mark.parametrize("client", [MESSAGES, RESPONSES], ids=lambda side: side.name)
clients_of_messages = pytest.mark.parametrize("client", [CHAT, RESPONSES], ids=lambda side: side.name)


def _chat(usage: Json | None) -> list[bytes]:
    told = [] if usage is None else [n.u(usage)]
    return [n.k({"role": "assistant", "content": "a"}), n.k({}, "stop"), *told, n.DONE]


def _messages(start: Json, end: Json) -> list[bytes]:
    return [n.ms(start), n.bs(0, "text"), n.bd(0, n.text("a")), n.be(0), n.md("end_turn", end), n.me]


def _responses(usage: Json) -> list[bytes]:
    item = n.message_item("a", "completed")
    final = n.response("completed", output=[item], usage=usage)
    return n.r(n.created(), n.item_done(item), ("response.completed", final))


async def _counted(stage: Stage, pair: Pair, steps: list[bytes], mode: str) -> tuple[Counts | None, Any]:
    crossed = await cross(stage, pair, steps, mode=mode)
    return crossed.heard.counts, await crossed.played.row()


def _check_row(row: Any, counts: Counts) -> None:
    told = (row["input_tokens"], row["cache_read_tokens"], row["cache_write_tokens"], row["output_tokens"])
    assert told == (counts.fresh, counts.read, counts.write, counts.output)
    assert row["usage_source"] == "upstream"


WRITTEN = Counts(6, 0, 159217, 2745)
TOLD: dict[str, dict[str, tuple[list[bytes], Counts]]] = {
    "chat": {
        "b070": (
            _chat(
                {"prompt_tokens": 1000, "completion_tokens": 7, "total_tokens": 1007}
                | {"prompt_tokens_details": {"cached_tokens": 900}}
            ),
            Counts(100, 900, 0, 7),
        ),
        "b078": (
            _chat(
                {"prompt_tokens": 10000, "completion_tokens": 100, "total_tokens": 10100}
                | {"prompt_tokens_details": {"cached_tokens": 9000}}
            ),
            Counts(1000, 9000, 0, 100),
        ),
        "b081": (
            _chat(
                {"prompt_tokens": 9, "completion_tokens": 50, "total_tokens": 59}
                | {"completion_tokens_details": {"reasoning_tokens": 30}}
            ),
            Counts(9, 0, 0, 50, 30),
        ),
        "b084 a wrong total": (
            _chat({"prompt_tokens": 5, "completion_tokens": 4, "total_tokens": 999}),
            Counts(5, 0, 0, 4),
        ),
        "b084 floats": (
            _chat({"prompt_tokens": 5.0, "completion_tokens": 4.0, "total_tokens": 9.0}),
            Counts(5, 0, 0, 4),
        ),
        "more cached than there was": (
            _chat(
                {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
                | {"prompt_tokens_details": {"cached_tokens": 99}}
            ),
            Counts(0, 10, 0, 4),
        ),
        "null details": (
            _chat(
                {"prompt_tokens": 5, "completion_tokens": 4, "total_tokens": 9}
                | {"prompt_tokens_details": None, "completion_tokens_details": None}
            ),
            Counts(5, 0, 0, 4),
        ),
    },
    "messages": {
        "b075": (
            _messages(
                {"input_tokens": 27, "cache_read_input_tokens": 100, "output_tokens": 1},
                {"input_tokens": 27, "cache_read_input_tokens": 100, "output_tokens": 47},
            ),
            Counts(27, 100, 0, 47),
        ),
        "b076": (
            _messages(
                {"input_tokens": 2230, "output_tokens": 1},
                {"input_tokens": 12284, "output_tokens": 9, "server_tool_use": {"web_search_requests": 1}},
            ),
            Counts(12284, 0, 0, 9),
        ),
        "b078": (
            _messages(
                {"input_tokens": 6, "cache_creation_input_tokens": 159217, "cache_read_input_tokens": 0}
                | {"output_tokens": 1},
                {"output_tokens": 2745},
            ),
            WRITTEN,
        ),
        "nulls at the end": (
            _messages(
                {"input_tokens": 6, "cache_read_input_tokens": 4, "output_tokens": 1},
                {"input_tokens": None, "cache_read_input_tokens": None, "output_tokens": 5},
            ),
            Counts(6, 4, 0, 5),
        ),
        "thinking": (
            _messages(
                {"input_tokens": 6, "output_tokens": 1},
                {"output_tokens": 50, "output_tokens_details": {"thinking_tokens": 30}},
            ),
            Counts(6, 0, 0, 50, 30),
        ),
    },
    "responses": {
        "b081": (
            _responses(
                {"input_tokens": 1000, "output_tokens": 50, "total_tokens": 1050}
                | {"input_tokens_details": {"cached_tokens": 900}}
                | {"output_tokens_details": {"reasoning_tokens": 30}}
            ),
            Counts(100, 900, 0, 50, 30),
        ),
        "no details": (_responses({"input_tokens": 5, "output_tokens": 4}), Counts(5, 0, 0, 4)),
    },
}


@every_cross_pair
async def test_counts_are_the_upstreams_in_every_pair(crossing: Stage, pair: Pair) -> None:
    async def counted(steps: list[bytes], counts: Counts, mode: str) -> None:
        told, row = await _counted(crossing, pair, steps, mode)
        assert told == counts
        _check_row(row, counts)

    cases = TOLD[pair.channel.name]
    await together(
        {
            f"{name}, {mode}": counted(steps, counts, mode)
            for name, (steps, counts) in cases.items()
            for mode in MODES
        }
    )


@pytest.mark.parametrize("pair", NINE, ids=lambda pair: pair.name)
async def test_b072_s006_the_usage_chunk_on_request(crossing: Stage, pair: Pair) -> None:
    """Exactly one, right before the end; without the request none, and the same charge."""
    if pair.client is not CHAT:
        return
    asked = await cross(crossing, pair)
    chunks = asked.played.stream.json()
    with_usage = [chunk for chunk in chunks if chunk.get("usage")]
    assert with_usage == chunks[-1:]
    assert chunks[-1]["choices"] == []
    silent = await cross(crossing, pair, members={"stream_options": None})
    assert not any(chunk.get("usage") for chunk in silent.played.stream.json())
    rows = [await crossed.played.row() for crossed in (asked, silent)]
    for name in ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"):
        assert rows[0][name] == rows[1][name]


@clients_of_chat
async def test_b077_the_final_usage_holds_the_input(crossing: Stage, client: Side) -> None:
    """message_start may only guess; message_delta tells all."""
    steps, counts = TOLD["chat"]["b070"]
    crossed = await cross(crossing, Pair(client, CHAT), steps)
    last = crossed.played.stream.json()[-2 if client is MESSAGES else -1]
    if client is MESSAGES:
        wanted = {"input_tokens": 100, "cache_read_input_tokens": 900, "output_tokens": 7}
        assert last["usage"].items() >= wanted.items()
    else:
        assert last["response"]["usage"]["input_tokens"] == counts.fresh + counts.read


@pytest.mark.parametrize("channel", [CHAT, RESPONSES], ids=lambda side: side.name)
async def test_b077_input_is_estimated_at_the_start(crossing: Stage, channel: Side) -> None:
    prompt = "The tide comes in twice a day. " * 200
    body_ = {"max_tokens": 100, "messages": [{"role": "user", "content": prompt}]}
    crossed = await cross(crossing, Pair(MESSAGES, channel), body=body_)
    first = crossed.played.stream.json()[0]
    assert 800 < first["message"]["usage"]["input_tokens"] < 3500
    assert crossed.heard.counts == Counts(10, 3, 0, 7)


@every_cross_pair
async def test_b082_without_usage_there_is_an_estimate(crossing: Stage, pair: Pair) -> None:
    """In the caller's form, and marked in the row; a chat caller who did not ask is told nothing."""
    text = "The tide comes in twice a day, and it goes out again. "
    if pair.channel is CHAT:
        silent = [n.k({"role": "assistant", "content": text}), *_chat(None)[1:]]
    else:
        told = pair.channel.script(pieces=(text,)).all
        silent = [event.replace(b'"usage"', b'"other"') for event in told]
    for mode in MODES if pair.channel is not MESSAGES else ("stream", "gathered"):
        crossed = await cross(crossing, pair, silent, mode=mode)
        counts = crossed.heard.counts
        assert counts is not None
        assert 6 < counts.output < 30
        assert counts.fresh > 0
        row = await crossed.played.row()
        assert (row["usage_source"], row["output_tokens"]) == ("estimated", counts.output)


@clients_of_chat
async def test_b083_usage_is_asked_for_and_left_out_where_it_is_refused(
    crossing: Stage, client: Side
) -> None:
    crossed = await cross(crossing, Pair(client, CHAT))
    assert crossed.asked["stream_options"] == {"include_usage": True}
    error = CHAT.error_body("Unknown parameter: 'stream_options'.", "invalid_request_error")
    error["error"]["param"] = "stream_options"
    refused = body(json.dumps(error).encode(), 400)
    model = crossing.model(CHAT)
    played = await crossing.play(client, refused, stream(CHAT.script(model).all), channel=CHAT, model=model)
    assert Crossed(played, {}).heard.text == "Hello"
    assert "stream_options" not in played.at_a[1].json()
    row = await played.row()
    assert [attempt["outcome"] for attempt in row["attempts"]] == ["repaired", "served"]


@pytest.mark.parametrize("channel", [CHAT, RESPONSES], ids=lambda side: side.name)
async def test_b184_count_tokens_is_never_zero(crossing: Stage, channel: Side) -> None:
    """A local estimate that counts tools, system text and images, and charges nothing."""
    prose = "The tide comes in twice a day, and twice a day it goes out again, as everyone here knows. " * 50

    async def counted(**members: Any) -> int:
        model = crossing.model(channel)
        request = {"model": model, "messages": [{"role": "user", "content": prose}], **members}
        reply: Reply = await crossing.gateway.call(
            MESSAGES, request, target="/v1/messages/count_tokens?beta=true"
        )
        assert reply.status == 200, reply.body
        assert crossing.upstream.requests(f"{channel.tag}-A", model) == []
        tokens: int = reply.json()["input_tokens"]
        return tokens

    tool = {"name": "f", "description": prose, "input_schema": {"type": "object", "properties": {}}}
    image = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    plain = await counted()
    truth = 1050
    assert 0.6 * truth < plain < 2.1 * truth
    assert await counted(tools=[tool]) > 1.6 * plain
    assert await counted(system=prose) > 1.6 * plain
    asked = [{"role": "user", "content": [{"type": "text", "text": prose}, image]}]
    assert await counted(messages=asked) > plain + 50


async def test_b184_a_messages_channel_counts_itself(crossing: Stage) -> None:
    model = crossing.model(MESSAGES)
    crossing.script(MESSAGES, model, [body(b'{"input_tokens":4711}')])
    request = {"model": model, "messages": [{"role": "user", "content": "hi"}]}
    reply = await crossing.gateway.call(MESSAGES, request, target="/v1/messages/count_tokens")
    assert reply.json() == {"input_tokens": 4711}
    unknown = {**request, "model": "nothing-of-that-name"}
    refused = await crossing.gateway.call(MESSAGES, unknown, target="/v1/messages/count_tokens")
    check_refusal(MESSAGES, refused, NO_MODEL)


@clients_of_messages
async def test_b168_a_failure_after_output_pays_input_and_what_was_said(
    crossing: Stage, client: Side
) -> None:
    deltas = [n.bd(0, n.text("tide ")) for _ in range(20)]
    start = n.ms({"input_tokens": 321, "output_tokens": 1})
    steps = stream(start, n.bs(0, "text"), deltas, n.aerr("api_error", "boom " * 1000))
    played = await crossing.play(client, steps, channel=MESSAGES, b=[])
    assert played.text == "tide " * 20
    row = await played.row()
    assert (row["outcome"], row["finish_reason"], row["input_tokens"]) == ("interrupted", None, 321)
    assert 15 <= row["output_tokens"] <= 60


@every_cross_pair
async def test_b162_the_text_of_an_error_costs_nothing(crossing: Stage, pair: Pair) -> None:
    answer = body(b"x" * 4096, 200, (("content-type", "text/plain"),))
    error = body(json.dumps(pair.channel.error_body("boom " * 800, "server_error")).encode())
    for failing in (answer, error):
        for streamed in (True, False):
            played = await crossing.play(pair.client, failing, channel=pair.channel, stream=streamed)
            assert played.reply.status == 502
            row = await played.row()
            assert (row["outcome"], row["input_tokens"], row["output_tokens"]) == ("failed", 0, 0)


def test_the_cases_are_for_all_channels() -> None:
    assert all(over(side) for side in (CHAT, RESPONSES, MESSAGES))
    assert set(TOLD) == {"chat", "responses", "messages"}
