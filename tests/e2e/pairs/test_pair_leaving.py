"""Callers that leave, upstreams that are slow, and the forms that a caller sees, in every pair."""

import asyncio
import json
import time
from typing import Any

import pytest
from tests.harness import sse
from tests.harness.client import Connection, Ended
from tests.harness.crossing import Crossed, cross
from tests.harness.dialects import CHAT, FAILED, MESSAGES, RESPONSES, Side
from tests.harness.pairs import CROSS, NINE, Pair, by
from tests.harness.script import CUT, HOLD, Answer, Pause, stream
from tests.harness.sse import KEEPALIVE
from tests.harness.stage import Played, Stage
from tests.harness.together import together

every_cross_pair = pytest.mark.parametrize("pair", CROSS, ids=lambda pair: pair.name)


async def test_b160_a_caller_that_leaves_takes_the_upstream_along(crossing: Stage) -> None:
    async def leaves(pair: Pair) -> None:
        model = crossing.model(pair.channel)
        script = pair.channel.script(model, ("tide ", "tide "))
        crossing.script(pair.channel, model, [stream(script.opening, script.deltas, HOLD)])
        async with crossing.gateway.open(pair.client, pair.client.request(model)) as reply:
            await reply.until(b"tide")
            left_at = time.monotonic()
        played = Played(crossing, pair.client, model, reply, pair.channel)
        assert await played.at_a[0].closed(within=3) - left_at < 3
        row = await played.row()
        assert row["outcome"] == "client_closed"
        assert row["input_tokens"] > 0
        assert 0 < row["output_tokens"] < 20

    await together({pair.name: leaves(pair) for pair in CROSS})


async def test_b160_b163_a_caller_that_leaves_before_anything_came(crossing: Stage) -> None:
    """Free of charge, and the upstream is let go."""

    async def leaves(pair: Pair) -> None:
        model = crossing.model(pair.channel)
        answer = Answer(pair.channel.script(model).all, before=(Pause(8),))
        crossing.script(pair.channel, model, [answer])
        connection = await Connection.open(crossing.gateway.port)
        await connection.send(crossing.gateway.request(pair.client, pair.client.request(model, stream=False)))
        seen = await crossing.upstream.arrived(f"{pair.channel.tag}-A", model)
        await asyncio.sleep(0.1)
        left_at = time.monotonic()
        connection.close()
        assert await seen.closed(within=3) - left_at < 3
        row = await crossing.gateway.row(model)
        assert (row["status"], row["outcome"]) == (499, "client_closed")
        assert (row["input_tokens"], row["output_tokens"]) == (0, 0)

    await together({pair.name: leaves(pair) for pair in CROSS})


async def test_s018_silence_before_the_first_output(crossing: Stage) -> None:
    """Status 200 and a comment soon after `commit_after`, then the normal stream."""

    async def silent(pair: Pair) -> None:
        model = crossing.model(pair.channel)
        answer = Answer(pair.channel.script(model).all, before=(Pause(2.8),))
        crossing.script(pair.channel, model, [answer])
        reply = await crossing.gateway.call(pair.client, pair.client.request(model))
        assert 0.9 < reply.head_at < 2.6
        assert reply.arrivals[0][1].startswith(KEEPALIVE)
        assert reply.arrivals[0][0] < 2.6
        played = Played(crossing, pair.client, model, reply, pair.channel)
        assert Crossed(played, {}).heard.text == "Hello"

    await together({pair.name: silent(pair) for pair in NINE})


async def test_s018_a_failure_after_the_comment(crossing: Stage) -> None:
    """The error comes as an event; a Responses stream is opened first."""

    async def failing(pair: Pair) -> None:
        answer = Answer((CUT,), before=(Pause(1.4),))
        played = await crossing.play(pair.client, answer, channel=pair.channel)
        error = pair.client.error_of(played.stream.events[-1])
        assert error is not None
        assert not any(pair.client.is_end(event) for event in played.stream.events)
        if pair.client is RESPONSES:
            names = played.stream.names()
            assert names == ["response.created", "response.failed"]
        else:
            assert len(played.stream.events) == 1
        assert (await played.row())["outcome"] == "failed"

    await together({pair.name: failing(pair) for pair in CROSS})


async def test_keepalives_stand_between_whole_events(crossing: Stage) -> None:
    async def slow(pair: Pair) -> None:
        model = crossing.model(pair.channel)
        script = pair.channel.script(model)
        half = script.deltas[1]
        silence = (Pause(1.3), half[:20], Pause(1.3), half[20:])
        crossing.script(
            pair.channel, model, [stream(script.opening, script.deltas[:1], *silence, script.closing)]
        )
        reply = await crossing.gateway.call(pair.client, pair.client.request(model))
        assert len(sse.read(reply.body).keepalives) >= 2
        played = Played(crossing, pair.client, model, reply, pair.channel)
        assert Crossed(played, {}).heard.text == "Hello"

    await together({pair.name: slow(pair) for pair in CROSS})


@pytest.mark.parametrize("pair", by(CHAT), ids=lambda pair: pair.name)
async def test_s001_chat_form(crossing: Stage, pair: Pair) -> None:
    crossed = await cross(crossing, pair)
    events = crossed.played.stream.events
    assert {event.name for event in events} == {None}
    assert events[-1].data == "[DONE]"
    chunks = crossed.played.stream.json()
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert {chunk["model"] for chunk in chunks} == {crossed.played.model}
    texts = [chunk["choices"][0]["delta"].get("content") for chunk in chunks if chunk["choices"]]
    assert [text for text in texts if text] == ["Hel", "lo"]


@pytest.mark.parametrize("pair", by(RESPONSES), ids=lambda pair: pair.name)
async def test_s002_responses_form(crossing: Stage, pair: Pair) -> None:
    crossed = await cross(crossing, pair)
    names = [name for name in crossed.played.stream.names() if name != "response.in_progress"]
    assert names == [
        "response.created",
        "response.output_item.added",
        "response.content_part.added",
        *["response.output_text.delta"] * 2,
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    final = crossed.played.stream.json()[-1]["response"]
    wanted = {
        "input_tokens",
        "input_tokens_details",
        "output_tokens",
        "output_tokens_details",
        "total_tokens",
    }
    assert wanted <= set(final["usage"])
    assert final["model"] == crossed.played.model
    assert (final["object"], final["status"], final["store"]) == ("response", "completed", False)


@pytest.mark.parametrize("pair", by(MESSAGES), ids=lambda pair: pair.name)
async def test_s003_messages_form(crossing: Stage, pair: Pair) -> None:
    crossed = await cross(crossing, pair)
    names = [name for name in crossed.played.stream.names() if name != "ping"]
    assert names == [
        "message_start",
        "content_block_start",
        *["content_block_delta"] * 2,
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    first, end = crossed.played.stream.json()[0]["message"], crossed.played.stream.json()[-2]
    assert (first["model"], first["role"], first["type"]) == (crossed.played.model, "assistant", "message")
    assert first["id"].startswith("msg_")
    assert end["delta"] == {"stop_reason": "end_turn", "stop_sequence": None}
    assert end["usage"]["output_tokens"] == 7


class LineClient:
    """Splits lines, joins `data:` lines up to a blank line, skips comments, stops at `[DONE]`."""

    def __init__(self) -> None:
        self.text = ""
        self.done = False
        self._lines: list[str] = []

    def read(self, body: bytes) -> str:
        """The whole text. Raises RuntimeError for an error, and for an end without `[DONE]`."""
        for line in body.decode().split("\n"):
            if line.startswith("data:"):
                self._lines.append(line[5:].strip())
            elif not line and self._lines:
                self._take("".join(self._lines))
                self._lines = []
        if not self.done:
            raise RuntimeError("no [DONE]")
        return self.text

    def _take(self, data: str) -> None:
        if data == "[DONE]":
            self.done = True
            return
        value: Any = json.loads(data)
        if "error" in value:
            raise RuntimeError(value["error"]["message"])
        for choice in value["choices"]:
            self.text += choice["delta"].get("content") or ""


async def test_s020_a_line_by_line_client(crossing: Stage) -> None:
    async def good(channel: Side) -> None:
        script = channel.script()
        answer = stream(script.opening, script.deltas[:1], Pause(1.3), script.deltas[1:], script.closing)
        played = await crossing.play(CHAT, answer, channel=channel)
        assert KEEPALIVE in played.reply.body
        assert LineClient().read(played.reply.body) == "Hello"

    async def cut(channel: Side) -> None:
        script = channel.script()
        played = await crossing.play(CHAT, stream(script.opening, script.deltas, CUT), channel=channel)
        assert played.reply.ended is Ended.WHOLE
        with pytest.raises(RuntimeError, match=FAILED):
            LineClient().read(played.reply.body)

    channels = [pair.channel for pair in by(CHAT)]
    await together(
        {f"good {side.name}": good(side) for side in channels}
        | {f"cut {side.name}": cut(side) for side in channels}
    )
