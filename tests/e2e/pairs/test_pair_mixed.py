"""One model on channels of two protocols: the switch between them does not show."""

import itertools
import json

import pytest
from tests.harness import settings
from tests.harness.crossing import Crossed
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, SIDES, Side
from tests.harness.notation import Json
from tests.harness.pairs import CROSS, Pair
from tests.harness.script import CUT, Answer, Pause, body, stream
from tests.harness.stage import Played, Stage
from tests.harness.thinking import native, next_turn, replayed, thinking_then_call
from tests.harness.together import together

_numbers = itertools.count(1)
every_two = pytest.mark.parametrize(
    "two", CROSS, ids=lambda pair: f"{pair.client.tag} then {pair.channel.tag}"
)
"""The first channel speaks what `client` names, the second what `channel` names."""


async def _play(
    stage: Stage,
    client: Side,
    two: Pair,
    first: Answer | None,
    second: Answer | None,
    *,
    streamed: bool = True,
    key: str = settings.KEY,
    **members: object,
) -> Crossed:
    model = f"mixed-{two.client.tag}-{two.channel.tag}-{next(_numbers)}"
    stage.upstream.script(f"{two.client.tag}-A", model, *[first] if first else [])
    stage.upstream.script(f"{two.channel.tag}-B", model, *[second] if second else [])
    reply = await stage.gateway.call(client, client.request(model, stream=streamed, **members), key=key)
    return Crossed(Played(stage, client, model, reply, two.client), {})


def _asked(stage: Stage, crossed: Crossed, two: Pair) -> tuple[int, int]:
    """How many requests each of the two channels got."""
    model = crossed.played.model
    first = stage.upstream.requests(f"{two.client.tag}-A", model)
    return len(first), len(stage.upstream.requests(f"{two.channel.tag}-B", model))


@every_two
async def test_a_failure_before_output_moves_to_the_other_protocol(crossing: Stage, two: Pair) -> None:
    """For callers of all three protocols; the stream is opened once."""

    async def moved(client: Side, *, streamed: bool) -> None:
        failing = stream(two.client.script().opening, CUT)
        good = two.channel.script(pieces=("from", " B")).all
        second = stream(good) if streamed else body(json.dumps(two.channel.whole(text="from B")).encode())
        crossed = await _play(crossing, client, two, failing, second, streamed=streamed)
        assert crossed.heard.text == "from B"
        assert _asked(crossing, crossed, two) == (1, 1)
        row = await crossed.played.row()
        assert [attempt["outcome"] for attempt in row["attempts"]] == ["failed", "served"]
        assert (row["input_tokens"], row["cache_read_tokens"], row["output_tokens"]) == (10, 3, 7)

    await together(
        {
            f"{client.name}, stream {streamed}": moved(client, streamed=streamed)
            for client in SIDES
            for streamed in (True, False)
        }
    )


@every_two
async def test_after_output_nothing_moves(crossing: Stage, two: Pair) -> None:
    async def stays(client: Side) -> None:
        script = two.client.script()
        failing = stream(script.opening, script.deltas[:1], CUT)
        crossed = await _play(crossing, client, two, failing, stream(two.channel.script().all))
        assert client.error_of(crossed.played.stream.events[-1])
        assert crossed.played.text == "Hel"
        assert _asked(crossing, crossed, two) == (1, 0)

    await together({client.name: stays(client) for client in SIDES})


@every_two
async def test_the_warnings_are_those_of_the_channel_that_served(crossing: Stage, two: Pair) -> None:
    """A parameter that only one of the two lacks."""
    refused = body(json.dumps(two.client.error_body("boom", "server_error")).encode(), 500)
    good = stream(two.channel.script().all)
    crossed = await _play(crossing, CHAT, two, refused, good, metadata={"k": "v"})
    assert crossed.warnings == (["dropped:metadata"] if two.channel is MESSAGES else [])
    row = await crossed.played.row()
    assert row["warnings"] == crossed.warnings


async def test_a_keepalive_before_the_switch_leaves_one_stream(crossing: Stage) -> None:
    """Status 200 and a comment have gone out, then the first channel fails."""

    async def late(client: Side, two: Pair) -> None:
        slow = Answer((CUT,), before=(Pause(1.3),))
        crossed = await _play(crossing, client, two, slow, stream(two.channel.script().all))
        assert crossed.played.stream.keepalives
        assert crossed.heard.text == "Hello"

    await together({f"{client.name}: {two.name}": late(client, two) for client in SIDES for two in CROSS})


@pytest.mark.parametrize("second", [RESPONSES, MESSAGES], ids=lambda side: side.name)
async def test_what_one_channel_cannot_say_the_other_may(crossing: Stage, second: Side) -> None:
    """No call is made on the channel that cannot be told."""
    two = Pair(second, CHAT)
    whole = CHAT.whole()
    whole["choices"].append({**whole["choices"][0], "index": 1})
    answer = body(json.dumps(whole).encode())
    crossed = await _play(crossing, CHAT, two, None, answer, streamed=False, n=2)
    assert crossed.played.reply.status == 200
    assert _asked(crossing, crossed, two) == (0, 1)


async def test_a_strict_key_is_served_where_nothing_is_lost(crossing: Stage) -> None:
    two = Pair(MESSAGES, CHAT)
    answer = stream(CHAT.script().all)
    crossed = await _play(crossing, CHAT, two, None, answer, key=settings.STRICT_KEY, seed=7)
    assert crossed.played.text == "Hello"
    assert _asked(crossing, crossed, two) == (0, 1)


@every_two
async def test_reasoning_goes_back_to_the_channel_that_made_it(crossing: Stage, two: Pair) -> None:
    """Even where the other one has the higher priority."""
    if two.channel is CHAT:
        return
    client = next(side for side in SIDES if side not in (two.client, two.channel))
    refused = body(json.dumps(two.client.error_body("boom", "server_error")).encode(), 500)
    first = await _play(crossing, client, two, refused, stream(thinking_then_call(two.channel)))
    members: Json = next_turn(client, first.heard)
    again = await _play(crossing, client, two, None, stream(two.channel.script().all), **members)
    assert again.heard.text == "Hello"
    assert _asked(crossing, again, two) == (0, 1)
    (seen,) = crossing.upstream.requests(f"{two.channel.tag}-B", again.played.model)
    assert replayed(two.channel, seen.json()) == native(two.channel)
