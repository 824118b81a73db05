"""Who pays when a request ends otherwise than well: failures, failovers, clients that leave."""

import asyncio
import json
import time
from decimal import Decimal
from typing import Any

import pytest
from tests.harness import notation as n
from tests.harness.client import Connection
from tests.harness.crossing import whole_of
from tests.harness.dialects import CHAT, FRESH, MESSAGES, NO_MODEL, SIDES, Side, check_refusal
from tests.harness.pairs import NINE, Pair, over
from tests.harness.script import CUT, HOLD, JSON, Answer, Pause, Step, body, silence, stream
from tests.harness.till import NOTHING, Purse, Till, cost, cost_of
from tests.harness.together import together

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
HELLO = cost(fresh=10, read=3, output=7)
"""What every good answer costs."""
PROSE = "The river runs past the mill and on to the sea. "


async def _leaves(purse: Purse, pair: Pair, answer: Answer, *, streamed: bool, until: bytes | None) -> Any:
    """The row of a client that leaves, which the upstream sees within a second, and after it a good call."""
    stage = purse.stage
    model = stage.model(pair.channel)
    stage.script(pair.channel, model, [answer, _good(pair.channel, streamed=streamed)])
    request = pair.client.request(model, stream=streamed)
    connection = await Connection.open(stage.gateway.port)
    await connection.send(stage.gateway.request(pair.client, request, key=purse.secret))
    seen = await stage.upstream.arrived(f"{pair.channel.tag}-A", model)
    if until is None:
        await asyncio.sleep(0.15)
    else:
        await (await connection.reply()).until(until)
    left_at = time.monotonic()
    connection.vanish()
    assert await seen.closed(within=3) - left_at < 3
    row = await stage.gateway.row(model)
    assert row["outcome"] == "client_closed"
    assert [attempt["outcome"] for attempt in row["attempts"]] == ["abandoned"]
    again = await purse.call(pair.client, request)
    assert again.status == 200, "its place is free again"
    rows = await stage.gateway.row(model, count=2)
    assert rows["cost"] == HELLO
    await purse.settled(10 - Decimal(row["cost"]) - Decimal(HELLO))
    return row


def _unanswered(row: Any, *, streamed: bool) -> bool:
    """Left before there was an answer; a stream that is left late had a 200 and a comment."""
    status: int = row["status"]
    commented: bool = streamed and row["duration_ms"] > 900
    return status == 499 or (status == 200 and commented)


def _good(side: Side, *, streamed: bool) -> Answer:
    steps = side.script().all
    return stream(steps) if streamed else whole_of(side, steps)


async def test_b160_a_client_that_leaves_pays_its_input_and_what_was_produced(priced: Till) -> None:
    async def amid(pair: Pair) -> None:
        purse = await priced.purse("10", key={"max_concurrency": 1})
        script = pair.channel.script(pieces=(PROSE,) * 5)
        answer = stream(script.opening, script.deltas, HOLD)
        row = await _leaves(purse, pair, answer, streamed=True, until=PROSE.encode())
        assert row["status"] == 200
        assert 20 <= row["output_tokens"] <= 200
        assert row["usage_source"] == "estimated"
        assert row["cost"] == cost_of(row)
        if pair.channel is MESSAGES:
            assert (row["input_tokens"], row["cache_read_tokens"]) == (FRESH, 3)
        assert row["attempts"][0]["upstream_cost"] is not None

    async def accepted(pair: Pair, *, streamed: bool) -> None:
        purse = await priced.purse("10", key={"max_concurrency": 1})
        answer = stream(HOLD) if streamed else Answer((b"{", HOLD), 200, JSON)
        row = await _leaves(purse, pair, answer, streamed=streamed, until=None)
        assert _unanswered(row, streamed=streamed)
        assert row["output_tokens"] == 0
        assert row["cost"] == cost(fresh=row["input_tokens"]) != NOTHING

    async def not_accepted(pair: Pair, *, streamed: bool) -> None:
        purse = await priced.purse("10", key={"max_concurrency": 1})
        row = await _leaves(purse, pair, silence(), streamed=streamed, until=None)
        assert _unanswered(row, streamed=streamed)
        assert (row["cost"], row["input_tokens"]) == (NOTHING, 0)
        assert row["attempts"][0]["upstream_cost"] is None

    await together(
        {f"{pair.name} amid": amid(pair) for pair in NINE}
        | {f"{pair.name} accepted": accepted(pair, streamed=True) for pair in NINE}
        | {f"{pair.name} accepted, whole": accepted(pair, streamed=False) for pair in NINE}
        | {f"{pair.name} before": not_accepted(pair, streamed=True) for pair in NINE}
        | {f"b163 {pair.name}": not_accepted(pair, streamed=False) for pair in NINE}
    )


async def test_b160_what_was_gathered_for_a_client_that_leaves_is_paid(priced: Till) -> None:
    """A whole answer that is fetched as a stream: half of it had been produced."""

    async def gathered(pair: Pair) -> None:
        purse = await priced.purse("10", key={"max_concurrency": 1})
        script = pair.channel.script(pieces=(PROSE,) * 5)
        answer = stream(script.opening, script.deltas, HOLD)
        row = await _leaves(purse, pair, answer, streamed=False, until=None)
        assert row["status"] == 499
        assert 20 <= row["output_tokens"] <= 200, row
        assert row["cost"] == cost_of(row)

    await together({pair.name: gathered(pair) for pair in NINE})


async def test_b162_errors_cost_nothing_and_parts_cost_once(priced: Till) -> None:
    async def error(pair: Pair, answer: Answer, *, streamed: bool) -> None:
        purse = await priced.purse("10")
        played = await purse.play(pair.client, answer, channel=pair.channel, stream=streamed)
        assert played.reply.status == 502
        row = await played.row()
        assert (row["outcome"], row["cost"], row["items"]) == ("failed", NOTHING, [])
        await purse.settled("10")

    async def part(pair: Pair, end: Step) -> None:
        purse = await priced.purse("10")
        script = pair.channel.script(pieces=(PROSE,) * 5)
        played = await purse.play(
            pair.client, stream(script.opening, script.deltas, end, CUT), channel=pair.channel
        )
        row = await played.row()
        assert row["outcome"] == "interrupted"
        assert 40 <= row["output_tokens"] <= 90, "the text once, and not that of the error"
        assert row["cost"] == cost_of(row)
        await purse.settled(10 - Decimal(row["cost"]))

    text = body(b"x" * 4096, 200, (("content-type", "text/plain"),))
    scenarios: dict[str, Any] = {}
    for pair in NINE:
        said = pair.channel.error_event("boom " * 800)
        named = body(json.dumps(pair.channel.error_body("boom " * 800, "server_error")).encode())
        for streamed in (True, False):
            scenarios |= {
                f"{pair.name} text {streamed}": error(pair, text, streamed=streamed),
                f"{pair.name} json {streamed}": error(pair, named, streamed=streamed),
                f"{pair.name} event {streamed}": error(pair, stream(said), streamed=streamed),
            }
        scenarios |= {f"{pair.name} part, event": part(pair, said), f"{pair.name} part": part(pair, Pause(0))}
    await together(scenarios)


async def test_b167_the_attempt_that_failed_is_free(priced: Till) -> None:
    """And what it cost the operator is told beside it."""

    async def moved(pair: Pair, *, streamed: bool) -> None:
        purse = await priced.purse("10")
        side = pair.channel
        opening = (
            [n.ms({"input_tokens": 1000, "output_tokens": 0})] if side is MESSAGES else side.script().opening
        )
        failing = stream(opening, side.error_event())
        played = await purse.play(
            pair.client, failing, channel=side, b=[_good(side, streamed=streamed)], stream=streamed
        )
        assert played.reply.status == 200
        row = await played.row()
        assert (row["cost"], row["channel"]) == (HELLO, f"{side.tag}-B")
        assert [attempt["outcome"] for attempt in row["attempts"]] == ["failed", "served"]
        first, second = row["attempts"]
        assert second["upstream_cost"] is None, "channel B has no price"
        if side is MESSAGES and streamed:
            assert first["upstream_cost"] == "0.002000000"
        await purse.settled(10 - Decimal(HELLO))

    await together(
        {
            f"{pair.name} {streamed}": moved(pair, streamed=streamed)
            for pair in NINE
            for streamed in (True, False)
        }
    )


async def test_b168_a_failure_amid_the_stream(priced: Till) -> None:
    async def broken(pair: Pair) -> None:
        purse = await priced.purse("10")
        deltas = [n.bd(0, n.text("tide ")) for _ in range(20)]
        start = n.ms({"input_tokens": 321, "cache_read_input_tokens": 12, "output_tokens": 1})
        steps = stream(start, n.bs(0, "text"), deltas, n.aerr("overloaded_error", "boom " * 100))
        row = await (await purse.play(pair.client, steps, channel=MESSAGES)).row()
        assert (row["outcome"], row["finish_reason"]) == ("interrupted", None)
        assert 15 <= row["output_tokens"] <= 60
        assert row["cost"] == cost(fresh=321, read=12, output=row["output_tokens"])
        await purse.settled(10 - Decimal(row["cost"]))

    await together({pair.name: broken(pair) for pair in NINE if pair.channel is MESSAGES})


async def test_b169_the_price_is_that_of_the_model_asked_for(priced: Till) -> None:
    async def served(pair: Pair) -> None:
        purse = await priced.purse("10")
        stage, tag = purse.stage, pair.channel.tag
        stage.upstream.script(f"{tag}-A", f"{tag}-up-a", *[body(b"{}", 500)] * 9)
        stage.upstream.script(f"{tag}-B", f"{tag}-up-b", *[stream(pair.channel.script().all)] * 9)
        reply = await purse.call(pair.client, pair.client.request(f"{tag}-alias"))
        row = await stage.gateway.row_of(reply.header("x-request-id"))
        assert (row["model"], row["channel"], row["cost"]) == (f"{tag}-alias", f"{tag}-alias-B", HELLO)
        assert [attempt["upstream_model"] for attempt in row["attempts"]] == [f"{tag}-up-a", f"{tag}-up-b"]

    for client in SIDES:  # the answers of a model are scripted for one caller at a time
        await together({pair.name: served(pair) for pair in NINE if pair.client is client})


async def test_b192_a_cut_after_the_finish_is_an_end(priced: Till) -> None:
    async def complete(pair: Pair) -> None:
        purse = await priced.purse("10")
        said = [n.k({"role": "assistant", "content": PROSE}), n.k({}, "stop")]
        played = await purse.play(pair.client, stream(said, CUT), channel=CHAT)
        assert any(pair.client.is_end(event) for event in played.stream.events)
        assert not any(pair.client.error_of(event) for event in played.stream.events)
        row = await played.row()
        assert (row["outcome"], row["usage_source"]) == ("completed", "estimated")
        assert row["cost"] == cost(fresh=row["input_tokens"], output=row["output_tokens"]) != NOTHING
        await purse.settled(10 - Decimal(row["cost"]))

    await together(
        {pair.name: complete(pair) for pair in over(CHAT)} | {"chat->chat": complete(Pair(CHAT, CHAT))}
    )


async def test_b082_what_nobody_counted_is_estimated_and_charged(priced: Till) -> None:
    purse = await priced.purse("1000")

    async def estimated(pair: Pair, mode: str) -> None:
        silent = [
            event.replace(b'"usage"', b'"other"') for event in pair.channel.script(pieces=(PROSE,) * 4).all
        ]
        if pair.channel is MESSAGES and mode == "whole":
            return
        row = await (await purse.asked(pair, steps=silent, mode=mode)).row()
        assert row["usage_source"] == "estimated"
        assert 30 <= row["output_tokens"] <= 70
        assert row["cost"] == cost(fresh=row["input_tokens"], output=row["output_tokens"])

    await together(
        {
            f"{pair.name}, {mode}": estimated(pair, mode)
            for pair in NINE
            for mode in ("stream", "gathered", "whole")
        }
    )


async def test_what_costs_nothing(priced: Till) -> None:
    purse = await priced.purse("10")
    stage = priced.stage

    async def rejected(side: Side) -> None:
        check_refusal(side, await purse.call(side, side.request("nothing-of-that-name")), NO_MODEL)

    async def refused(pair: Pair) -> None:
        """400 of the upstream."""
        answer = body(json.dumps(pair.channel.error_body("no", "invalid_request_error")).encode(), 400)
        played = await purse.play(pair.client, answer, channel=pair.channel)
        assert played.reply.status == 400
        assert (await played.row())["cost"] == NOTHING

    async def counted(side: Side) -> None:
        model = stage.model(side)
        stage.script(side, model, [body(b'{"input_tokens":4711}')])
        request = {"model": model, "messages": [{"role": "user", "content": "hi"}]}
        reply = await stage.gateway.call(
            MESSAGES, request, key=purse.secret, target="/v1/messages/count_tokens"
        )
        assert reply.status == 200
        assert (await stage.gateway.row(model))["cost"] == NOTHING

    async def free(side: Side) -> None:
        row = await (await purse.asked(Pair(side, side), kind="free")).row()
        assert (row["cost"], row["output_tokens"]) == (NOTHING, 7)

    scenarios: dict[str, Any] = {}
    for side in SIDES:
        scenarios |= {f"{side.tag} 404": rejected(side), f"{side.tag} count": counted(side)}
        scenarios |= {f"{side.tag} free": free(side)}
    scenarios |= {f"{pair.name} 400": refused(pair) for pair in NINE}
    await together(scenarios)
    await purse.settled("10")
