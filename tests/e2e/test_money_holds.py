"""What is held before a call: who is let through, with which limit, and what is left of it after."""

import asyncio
import json
from decimal import Decimal
from typing import Any

import pytest
from tests.harness import notation as n
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, SIDES, Refusal, Side, check_refusal
from tests.harness.notation import Json
from tests.harness.pairs import NINE, Pair
from tests.harness.script import Gate, stream
from tests.harness.stage import Played
from tests.harness.till import LIMIT, NOTHING, SMALL, Till, cost, limited
from tests.harness.together import together

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
every_openai_side = pytest.mark.parametrize("side", [CHAT, RESPONSES], ids=lambda side: side.name)
POOR = Refusal(402, "billing_error", "insufficient_balance", 402, "billing_error")
HELLO = Decimal(cost(fresh=10, read=3, output=7))


def _hold(request: Json, output: int) -> Decimal:
    """The bound of a request: each byte a token of the dearest prompt class, and the output."""
    return (len(json.dumps(request)) * Decimal(20) + output * Decimal(50)) / 1_000_000


@every_side
async def test_b165_parallel_calls_on_a_balance_for_a_few(priced: Till, side: Side) -> None:
    stage = priced.stage

    async def fifty(channel: Side) -> None:
        model = stage.model(channel)
        request = side.request(model, **limited(side, 100))
        purse = await priced.purse(f"{_hold(request, 100) * 3 + Decimal('0.000001'):.9f}")
        gate = Gate()
        script = channel.script(model)
        stage.upstream.always(
            f"{channel.tag}-A", model, stream(script.opening, gate, script.deltas, script.closing)
        )
        calls = [asyncio.create_task(purse.call(side, request)) for _ in range(50)]
        while sum(call.done() for call in calls) < 47:
            await asyncio.sleep(0.02)
        balance, held = await purse.money()
        assert Decimal(held) == _hold(request, 100) * 3
        gate.open()
        replies = await asyncio.gather(*calls)
        good = [reply for reply in replies if reply.status == 200]
        assert len(good) == 3
        for reply in replies:
            if reply.status != 200:
                check_refusal(side, reply, POOR)
        await purse.settled(Decimal(balance) - 3 * HELLO)

    await together({channel.name: fifty(channel) for channel in SIDES})


@every_side
async def test_a_402_says_what_is_needed_and_what_is_there(priced: Till, side: Side) -> None:
    purse = await priced.purse("0.005")
    model = priced.stage.model(side)
    for streamed in (True, False):
        request = side.request(model, stream=streamed, **limited(side, 100))
        error = check_refusal(side, await purse.call(side, request), POOR)
        assert f"${_hold(request, 100):.9f} is needed" in error["message"]
        assert "$0.005000000 is available" in error["message"]
    row = await priced.stage.gateway.row(model, count=2)
    assert (row["status"], row["outcome"], row["cost"]) == (402, "rejected", NOTHING)
    assert row["error"]["type"] == "billing_error"
    await purse.settled("0.005")
    assert [kind for kind, *_ in await purse.postings()] == ["credit"]


async def test_b170_call_1_ends_and_call_2_is_refused(priced: Till) -> None:
    """The balance goes below zero by the excess of call 1 only."""

    async def spent(pair: Pair) -> None:
        stage = priced.stage
        model = stage.model(pair.channel)
        request = pair.client.request(model, **limited(pair.client, 20))
        purse = await priced.purse(f"{_hold(request, 20):.9f}")
        gate = Gate()
        told = pair.channel.script(model, ("word ",) * 900)
        usage = {"chat": "completion_tokens", "responses": "output_tokens", "messages": "output_tokens"}
        name = usage[pair.channel.name].encode()
        closing = [event.replace(b'"%s":7' % name, b'"%s":900' % name) for event in told.closing]
        stage.script(
            pair.channel, model, [stream(told.opening, told.deltas[:1], gate, told.deltas[1:], closing)]
        )
        async with stage.gateway.open(pair.client, request, key=purse.secret) as reply:
            await reply.until(b"word")
            check_refusal(pair.client, await purse.call(pair.client, request), POOR)
            gate.open()
            await reply.finish()
        played = Played(stage, pair.client, model, reply, pair.channel)
        assert pair.client.text(played.stream).count("word") == 900
        row = await stage.gateway.row_of(reply.header("x-request-id"))
        assert (row["outcome"], row["cost"]) == ("completed", cost(fresh=10, read=3, output=900))
        rest = _hold(request, 20) - Decimal(row["cost"])
        assert rest < 0
        await purse.settled(rest)
        check_refusal(pair.client, await purse.call(pair.client, request), POOR)

    await together({pair.name: spent(pair) for pair in NINE})


def _without_limit(side: Side, model: str, **members: Any) -> Json:
    request = side.request(model, **members)
    return {name: value for name, value in request.items() if name not in LIMIT.values()}


async def test_who_gives_no_limit_gets_the_one_that_is_covered(priced: Till) -> None:
    """On the channel's own member, with a warning, which no strict caller takes amiss."""

    async def clamped(pair: Pair, key: Json, *, streamed: bool, kind: str = "a") -> None:
        stage = priced.stage
        model = stage.model(pair.channel, kind)
        request = _without_limit(pair.client, model, stream=streamed)
        purse = await priced.purse(f"{_hold(request, 200):.9f}", key=key)
        steps = pair.channel.script(model).all
        stage.script(pair.channel, model, [stream(steps)])
        reply = await purse.call(pair.client, request)
        assert reply.status == 200, reply.body
        asked = stage.upstream.only(f"{pair.channel.tag}-A", model).json()
        member = "max_tokens" if kind == "old" else LIMIT[pair.channel.name]
        assert asked[member] == 200
        assert len({*LIMIT.values()} & asked.keys()) == 1
        warning = f"clamped:{LIMIT[pair.client.name]}"
        assert warning in (reply.header("x-tidegate-warnings") or "").split(", ")
        row = await stage.gateway.row(model)
        assert warning in row["warnings"]
        assert Decimal(row["cost"]) == HELLO
        await purse.settled(_hold(request, 200) - HELLO)
        assert [line[0] for line in await purse.postings()] == ["credit", "hold", "settle", "release"]

    strict = {"conversion": "strict"}
    openai = (CHAT, RESPONSES)  # a Messages request must have a limit
    callers = [pair for pair in NINE if pair.client in openai]
    await together(
        {
            f"{pair.name} {key} {streamed}": clamped(pair, key, streamed=streamed)
            for pair in callers
            for key in ({}, strict)
            for streamed in (True, False)
        }
        | {
            f"{side.tag}->old {streamed}": clamped(Pair(side, CHAT), {}, streamed=streamed, kind="old")
            for side in openai
            for streamed in (True, False)
        }
    )


@every_openai_side
async def test_under_16_tokens_is_a_402(priced: Till, side: Side) -> None:
    model = priced.stage.model(side)
    request = _without_limit(side, model)

    async def refused() -> None:
        purse = await priced.purse(f"{_hold(request, 16) - Decimal('0.000000001'):.9f}")
        error = check_refusal(side, await purse.call(side, request), POOR)
        assert f"${_hold(request, 16):.9f} is needed" in error["message"]

    async def served() -> None:
        purse = await priced.purse(f"{_hold(request, 16):.9f}")
        priced.stage.script(side, model, [stream(side.script(model).all)])
        assert (await purse.call(side, request)).status == 200
        assert priced.stage.upstream.only(f"{side.tag}-A", model).json()[LIMIT[side.name]] == 16

    await together({"under": refused(), "exactly": served()})


@every_side
@pytest.mark.parametrize("given", [0, 100.0])
async def test_a_limit_that_was_given_is_never_replaced(priced: Till, side: Side, given: float) -> None:
    """Zero only warms the cache of Messages; it is no wish for all that the balance allows."""
    model = priced.stage.model(side)
    request = side.request(model, **limited(side, given))
    priced.stage.script(side, model, [stream(side.script(model).all)])
    short = await priced.purse(f"{_hold(request, int(given)) - Decimal('0.000000001'):.9f}")
    check_refusal(side, await short.call(side, request), POOR)
    fits = await priced.purse(f"{_hold(request, int(given)):.9f}")
    reply = await fits.call(side, request)
    assert reply.status == 200
    assert priced.stage.upstream.only(f"{side.tag}-A", model).json()[LIMIT[side.name]] == given
    assert reply.header("x-tidegate-warnings") is None
    await fits.settled(_hold(request, int(given)) - HELLO)


@every_openai_side
async def test_a_maximum_of_the_model_bounds_the_hold(priced: Till, side: Side) -> None:
    """Who sets none has no more held than the model can produce, and nothing is sent that was not asked."""
    model = priced.stage.model(side, "small")
    request = _without_limit(side, model)
    purse = await priced.purse("10")
    gate = Gate()
    script = side.script(model)
    priced.stage.script(
        side, model, [stream(script.opening, script.deltas[:1], gate, script.deltas[1:], script.closing)]
    )
    async with priced.stage.gateway.open(side, request, key=purse.secret) as reply:
        await reply.until(b"Hel")
        assert Decimal((await purse.money())[1]) == _hold(request, SMALL)
        gate.open()
        await reply.finish()
    assert not {*LIMIT.values()} & priced.stage.upstream.only(f"{side.tag}-A", model).json().keys()
    await purse.settled(10 - HELLO)


async def test_choices_are_held_for_each(priced: Till) -> None:
    stage = priced.stage
    model = stage.model(CHAT)
    request = CHAT.request(model, n=3, max_tokens=100)
    fits = await priced.purse(f"{_hold(request, 300):.9f}")
    short = await priced.purse(f"{_hold(request, 300) - Decimal('0.000000001'):.9f}")
    check_refusal(CHAT, await short.call(CHAT, request), POOR)
    three = [n.k({"role": "assistant", "content": "a"}, index=index) for index in range(3)]
    ends = [n.k({}, "stop", index=index) for index in range(3)]
    stage.script(CHAT, model, [stream(three, ends, CHAT.script(model).closing[1:])])
    assert (await fits.call(CHAT, request)).status == 200
    await fits.settled(_hold(request, 300) - HELLO)


async def test_absurd_limits_break_nothing(priced: Till) -> None:
    """Who pays later is let through with what was asked, and the books hold no more than they can."""
    purse = await priced.purse()
    stage = priced.stage
    model = stage.model(CHAT)
    script = CHAT.script(model)
    gate = Gate()
    stage.upstream.always("chat-A", model, stream(script.opening, gate, script.deltas, script.closing))
    request = CHAT.request(model, max_tokens=10**25)
    calls = [asyncio.create_task(purse.call(CHAT, request)) for _ in range(15)]
    try:
        await stage.upstream.arrived("chat-A", model, 15)
        assert await purse.money() == (NOTHING, "1000000000.000000000")
    finally:
        gate.open()
    assert {reply.status for reply in await asyncio.gather(*calls)} == {200}
    assert {seen.json()["max_tokens"] for seen in stage.upstream.requests("chat-A", model)} == {10**25}
    await purse.settled(-15 * HELLO)


async def test_what_a_conversion_refuses_is_held_for_nothing(priced: Till) -> None:
    async def refused(channel: Side, key: Json, members: Json) -> None:
        purse = await priced.purse("10", key=key)
        model = priced.stage.model(channel)
        reply = await purse.call(CHAT, CHAT.request(model, **members))
        assert reply.status == 400, reply.body
        row = await priced.stage.gateway.row(model)
        assert (row["outcome"], row["cost"], row["attempts"]) == ("rejected", NOTHING, [])
        await purse.settled("10")

    strict = {"conversion": "strict"}
    await together(
        {f"{side.name} n": refused(side, {}, {"n": 3}) for side in (RESPONSES, MESSAGES)}
        | {f"{side.name} strict": refused(side, strict, {"seed": 7}) for side in (RESPONSES, MESSAGES)}
    )


async def test_debts_and_free_models(priced: Till) -> None:
    """Who owes something may still use what costs nothing."""

    async def free(side: Side) -> None:
        purse = await priced.purse("0.001")
        await purse.change(prepaid=False)
        await purse.asked(Pair(side, side), steps=side.script(pieces=("x" * 400,)).all)
        await purse.change(prepaid=True)
        played = await purse.asked(Pair(side, side), kind="free")
        assert played.reply.status == 200, played.reply.body

    async def owing(side: Side) -> None:
        purse = await priced.purse()
        await (await purse.asked(Pair(side, side))).row()
        await purse.settled(-HELLO)
        await purse.change(prepaid=True)
        model = priced.stage.model(side)
        error = check_refusal(side, await purse.call(side, side.request(model)), POOR)
        assert "$0.000000000 is available" in error["message"]
        played = await purse.asked(Pair(side, side), kind="free")
        assert played.reply.status == 200, played.reply.body
        await purse.credit("10")
        assert (await purse.asked(Pair(side, side))).reply.status == 200
        await purse.settled(10 - 2 * HELLO)

    await together(
        {f"{side.name} free": free(side) for side in SIDES}
        | {f"{side.name} owing": owing(side) for side in SIDES}
    )


async def test_the_postings_of_a_request(priced: Till) -> None:
    purse = await priced.purse("1")
    model = priced.stage.model(CHAT)
    request = CHAT.request(model, max_tokens=100)
    priced.stage.script(CHAT, model, [stream(CHAT.script().all)])
    await purse.call(CHAT, request)
    await purse.settled(1 - HELLO)
    held = _hold(request, 100)
    assert await purse.postings() == [
        ("credit", "outside", "available", "1.000000000"),
        ("hold", "available", "held", f"{held:.9f}"),
        ("settle", "held", "income", f"{HELLO:.9f}"),
        ("release", "held", "available", f"{held - HELLO:.9f}"),
    ]
