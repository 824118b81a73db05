"""Upstreams that never end, blow up or hold back: bounded memory, bounded time, another channel."""

import asyncio
import gzip
import itertools
import json

import pytest
from tests.harness.dialects import CHAT, MESSAGES, SIDES, UPSTREAM, Side, check_error_form, check_refusal
from tests.harness.script import EVENT_STREAM, HOLD, JSON, Answer, Pause, Step, body, stream
from tests.harness.stage import Stage
from tests.harness.together import all_sides_at_once, together

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
MIB = 1024 * 1024


@all_sides_at_once
async def test_a_refusal_whose_body_never_ends_moves_on(stage: Stage, side: Side) -> None:
    async def moves_on(status: int, *steps: Step) -> None:
        answer = Answer((*steps, HOLD), status, JSON)
        played = await stage.play(side, answer, b=[stream(side.script().all)], kind="qab")
        assert played.text == "Hello"
        await played.at_a[0].closed(within=20)

    await together(
        {
            "nothing": moves_on(500),
            "a part": moves_on(503, b'{"error":'),
            "rate limit": moves_on(429, b'{"error":'),
            "endless": moves_on(500, *[b"x" * 65536] * 400),
        }
    )


@all_sides_at_once
async def test_a_refusal_whose_body_never_ends_counts_by_its_status(stage: Stage, side: Side) -> None:
    """Its status says whose fault it is: nobody waits for the first-event time-out of 4 s, or asks B."""

    async def refused(*steps: Step, status: int) -> None:
        answer = Answer((*steps, HOLD), status, [*JSON, ("retry-after", "17")])
        played = await stage.play(side, answer, b=[], stream=False, within=20)
        assert played.reply.status == status
        assert played.reply.header("retry-after") == "17"
        assert check_error_form(side, played.reply)["type"] == "invalid_request_error"
        await played.at_a[0].closed(within=20)

    async def refused_stream(status: int) -> None:
        played = await stage.play(side, Answer((HOLD,), status, JSON), b=[], within=20)
        assert side.error_of(played.stream.events[-1])
        row = await played.row()
        assert [attempt["status"] for attempt in row["attempts"]] == [status]
        assert row["error"]["type"] == "invalid_request_error"

    part = b'{"error":{"message":"the very'
    await together(
        {
            "400": refused(status=400),
            "422 with a part": refused(part, status=422),
            "a stream": refused_stream(400),
        }
    )


async def test_an_endless_whole_answer_costs_bounded_memory(stage: Stage) -> None:
    model = stage.model(CHAT, "ab")
    steps: list[Step] = [b'{"x":"', *[b"a" * 65536] * 4000, HOLD]
    stage.script(CHAT, model, [Answer(steps, 200, JSON)], [body(json.dumps(CHAT.whole()).encode())])
    before = stage.gateway.resident_bytes()
    reply = await stage.gateway.call(CHAT, CHAT.request(model, stream=False), within=30)
    assert reply.status == 200
    assert CHAT.whole_text(reply.json()) == "Hello"
    assert stage.gateway.resident_bytes() - before < 150 * MIB


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "whole"])
async def test_a_compressed_bomb_costs_bounded_memory(stage: Stage, streamed: bool) -> None:
    bomb = gzip.compress(b'data: {"x":"' + b"a" * (600 * MIB), compresslevel=1)
    model = stage.model(CHAT, "ab")
    good = stream(CHAT.script().all) if streamed else body(json.dumps(CHAT.whole()).encode())
    headers = [*(EVENT_STREAM if streamed else JSON), ("content-encoding", "gzip")]
    stage.script(CHAT, model, [Answer((bomb, HOLD), 200, headers)], [good])
    before = stage.gateway.resident_bytes()
    reply = await stage.gateway.call(CHAT, CHAT.request(model, stream=streamed), within=30)
    assert reply.status == 200
    assert len(stage.upstream.requests("chat-B", model)) == 1
    assert stage.gateway.resident_bytes() - before < 150 * MIB


def _flooded(stage: Stage) -> str:
    """A model whose first channel sends 7.5 MB of comments as fast as they are taken, then nothing."""
    model = stage.model(CHAT, "qab")
    flood = stream([b": x\n\n" * 5000] * 300, HOLD)
    stage.script(CHAT, model, [flood], [stream(CHAT.script(model).all)])
    return model


async def test_a_flood_of_comments_is_silence(stage: Stage) -> None:
    """It does not commit, and the attempt stalls when a silent one would."""
    model = _flooded(stage)
    reply = await stage.gateway.call(CHAT, CHAT.request(model))
    assert CHAT.script(model).deltas[0] in reply.body
    row = await stage.gateway.row(model)
    assert row["attempts"][0]["duration_ms"] < 1500


async def test_a_flood_disturbs_no_neighbour(stage: Stage) -> None:
    """A stream of another channel keeps its pace beside it."""
    flooded = _flooded(stage)
    model = stage.model(MESSAGES)
    script = MESSAGES.script(model, tuple(str(number) for number in range(100)))
    paced: list[Step] = [step for event in script.all for step in (event, Pause(0.01))]
    flood = asyncio.create_task(stage.gateway.call(CHAT, CHAT.request(flooded)))
    played = await stage.play(MESSAGES, stream(paced), model=model)
    await flood
    times = [at for at, _ in played.reply.arrivals]
    assert len(times) > 20, "it came in one lump"
    assert max(later - earlier for earlier, later in itertools.pairwise(times)) < 1.5


@every_side
async def test_a_stream_of_nothing_but_garbage_is_refused(stage: Stage, side: Side) -> None:
    garbage = bytes(range(256)) * 200
    played = await stage.play(side, stream(garbage, garbage))
    check_refusal(side, played.reply, UPSTREAM)
