"""Limits and budgets as a caller meets them: what is refused, what it says, and that waiting helps."""

import asyncio
import json
import time
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest
from tests.conftest import Start
from tests.harness.client import Reply
from tests.harness.dialects import CHAT, MESSAGES, NO_MODEL, RATE_LIMIT, SIDES, Side, check_refusal
from tests.harness.gateway import free_port
from tests.harness.pairs import Pair
from tests.harness.script import Gate, body, stream
from tests.harness.stage import Stage
from tests.harness.till import Purse, Till, at_once, cost, limited
from tests.harness.till import priced as config_with_prices
from tests.harness.upstream import ScriptedUpstream, until

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
HELLO = Decimal(cost(fresh=10, read=3, output=7))


async def _answered(purse: Purse, side: Side, *, streamed: bool = True, **members: object) -> Reply:
    """A call that would be served if it were let through."""
    model = purse.stage.model(side)
    steps = side.script(model).all
    answer = stream(steps) if streamed else body(json.dumps(side.whole(model)).encode())
    purse.stage.script(side, model, [answer])
    return await purse.call(side, side.request(model, stream=streamed, **members))


def _told(side: Side, reply: Reply, what: str) -> tuple[int, int, str]:
    """Limit, remaining and reset from the headers."""
    names = ("limit", "remaining", "reset")
    forms = {
        True: [f"anthropic-ratelimit-{what}-{name}" for name in names],
        False: [f"x-ratelimit-{name}-{what}" for name in names],
    }
    assert not any(reply.header(name) for name in forms[side is not MESSAGES]), "the other family's names"
    limit, remaining, reset = (reply.header(name) for name in forms[side is MESSAGES])
    assert limit
    assert remaining
    assert reset
    return int(limit), int(remaining), reset


def _seconds(side: Side, reset: str) -> float:
    """How far off a reset is."""
    if side is MESSAGES:
        return datetime.fromisoformat(reset).timestamp() - time.time()
    if reset.endswith("ms"):
        return float(reset.removesuffix("ms")) / 1000
    minutes, _, seconds = reset.rpartition("m")
    return 60 * float(minutes or 0) + float(seconds.removesuffix("s"))


@at_once
async def test_requests_per_minute(priced: Till, side: Side) -> None:
    """All of a minute at once, then one a second; the wait that is told is enough."""
    purse = await priced.purse("100", key={"requests_per_minute": 60})
    first = await _answered(purse, side)
    assert _told(side, first, "requests")[:2] == (60, 59)
    whole = await _answered(purse, side, streamed=False)
    assert _told(side, whole, "requests")[:2] == (60, 58)
    while (reply := await _answered(purse, side)).status == 200:
        pass
    error = check_refusal(side, reply, RATE_LIMIT)
    assert "60 requests per minute" in error["message"]
    assert "key" in error["message"]
    assert reply.header("retry-after") == "1"
    limit, remaining, reset = _told(side, reply, "requests")
    assert (limit, remaining) == (60, 0)
    assert 57 < _seconds(side, reset) <= 61
    await asyncio.sleep(1)
    assert (await _answered(purse, side)).status == 200
    row = await purse.stage.gateway.row_of(reply.header("x-request-id"))
    assert (row["status"], row["outcome"], row["cost"], row["attempts"]) == (
        429,
        "rejected",
        "0.000000000",
        [],
    )


@at_once
async def test_tokens_per_minute(priced: Till, side: Side) -> None:
    """Estimated at the start by input and limit, corrected at the end; the wait is true to the second."""
    purse = await priced.purse("100", key={"tokens_per_minute": 6000})
    stage = priced.stage
    model = stage.model(side)
    script = side.script(model)
    gate = Gate()
    stage.script(
        side, model, [stream(script.opening, script.deltas[:1], gate, script.deltas[1:], script.closing)]
    )
    large = side.request(model, **limited(side, 6000))
    async with stage.gateway.open(side, large, key=purse.secret) as reply:
        await reply.until(b"Hel")
        limit, remaining, reset = _told(side, reply, "tokens")
        assert (limit, remaining) == (6000, 0)
        assert 59 < _seconds(side, reset) < 63
        small = limited(side, 100)
        refused = await _answered(purse, side, **small)
        check_refusal(side, refused, RATE_LIMIT)
        assert "6000 tokens per minute" in refused.json()["error"]["message"]
        wait = int(refused.header("retry-after") or 0)
        assert 1 <= wait <= 3
        await asyncio.sleep(max(0, wait - 1.2))
        check_refusal(side, await _answered(purse, side, **small), RATE_LIMIT)
        await asyncio.sleep(1.2)
        assert (await _answered(purse, side, **small)).status == 200
        gate.open()
        await reply.finish()
    await purse.settled(100 - 2 * HELLO)
    after = await _answered(purse, side, **small)
    assert _told(side, after, "tokens")[1] > 5800, "what was not used is there again"


@every_side
async def test_what_was_used_beyond_the_estimate_is_owed(priced: Till, side: Side) -> None:
    purse = await priced.purse("100", key={"tokens_per_minute": 6000})
    told = {"chat": "completion_tokens", "responses": "output_tokens", "messages": "output_tokens"}[side.name]
    steps = [
        event.replace(b'"%s":7' % told.encode(), b'"%s":6500' % told.encode()) for event in side.script().all
    ]
    await purse.asked(Pair(side, side), steps=steps, **limited(side, 100))

    refused = await _answered(purse, side, **limited(side, 10))
    check_refusal(side, refused, RATE_LIMIT)
    assert 4 <= int(refused.header("retry-after") or 0) <= 7
    assert _told(side, refused, "tokens")[1] == 0


@every_side
async def test_a_request_above_the_limit_waits_for_a_full_one(priced: Till, side: Side) -> None:
    """It is not refused for ever, and what it did not use comes back."""
    purse = await priced.purse("100", key={"tokens_per_minute": 50})
    assert (await _answered(purse, side, **limited(side, 100_0))).status == 200
    refused = await _answered(purse, side, **limited(side, 1000))
    check_refusal(side, refused, RATE_LIMIT)
    assert 15 <= int(refused.header("retry-after") or 0) <= 30, "20 tokens of 50 were used"


@every_side
async def test_concurrency(priced: Till, side: Side) -> None:
    purse = await priced.purse("100", account={"max_concurrency": 2})
    stage = priced.stage
    model = stage.model(side)
    script = side.script(model)
    gate = Gate()
    stage.script(side, model, [stream(script.opening, gate, script.deltas, script.closing)] * 2)
    open_calls = [asyncio.create_task(purse.call(side, side.request(model))) for _ in range(2)]
    await stage.upstream.arrived(f"{side.tag}-A", model, 2)
    refused = await _answered(purse, side)
    error = check_refusal(side, refused, RATE_LIMIT)
    assert "account is 2 requests at the same time" in error["message"]
    assert refused.header("retry-after") == "1"
    gate.open()
    assert {reply.status for reply in await asyncio.gather(*open_calls)} == {200}
    assert (await _answered(purse, side)).status == 200


@every_side
async def test_one_request_after_the_other_never_meets_itself(priced: Till, side: Side) -> None:
    """Also where the tokens of a long answer must be counted after its end."""
    purse = await priced.purse("1000", key={"max_concurrency": 1})
    model = purse.stage.model(side)
    silent = [event.replace(b'"usage"', b'"other"') for event in side.script(model, ("word " * 9000,)).all]
    purse.stage.script(side, model, [stream(silent)] * 6)
    replies = [await purse.call(side, side.request(model)) for _ in range(6)]
    assert [reply.status for reply in replies] == [200] * 6


async def test_counting_tokens_is_a_request(priced: Till) -> None:
    """It costs no money and no tokens, but a place: an upstream may be asked for it."""
    purse = await priced.purse("0", key={"requests_per_minute": 1, "tokens_per_minute": 1000})
    stage = priced.stage
    model = stage.model(MESSAGES)
    stage.script(MESSAGES, model, [body(b'{"input_tokens":4711}')])
    request = {"model": model, "messages": [{"role": "user", "content": "hi"}]}
    target = "/v1/messages/count_tokens"
    reply = await stage.gateway.call(MESSAGES, request, key=purse.secret, target=target)
    assert reply.json() == {"input_tokens": 4711}
    assert _told(MESSAGES, reply, "requests")[:2] == (1, 0)
    refused = await stage.gateway.call(MESSAGES, request, key=purse.secret, target=target)
    check_refusal(MESSAGES, refused, RATE_LIMIT)
    assert _told(MESSAGES, refused, "tokens")[:2] == (1000, 1000)


@every_side
async def test_several_limits(priced: Till, side: Side) -> None:
    """The key's and the account's both hold; what is refused counts in none, and the longest wait is told."""
    purse = await priced.purse(
        "100",
        account={"requests_per_minute": 3},
        key={"requests_per_minute": 600, "tokens_per_minute": 600_000, "max_concurrency": 5},
    )
    replies = [await _answered(purse, side) for _ in range(3)]
    assert {reply.status for reply in replies} == {200}
    assert _told(side, replies[-1], "requests")[:2] == (3, 0)
    refused = await _answered(purse, side)
    error = check_refusal(side, refused, RATE_LIMIT)
    assert "limit of this account is 3 requests per minute" in error["message"]
    assert 19 <= int(refused.header("retry-after") or 0) <= 20
    other = await priced.key(purse.account)
    again = await purse.stage.gateway.call(side, side.request(purse.stage.model(side)), key=other)
    check_refusal(side, again, RATE_LIMIT)


@every_side
async def test_headers_are_on_every_answer_that_was_let_through(priced: Till, side: Side) -> None:
    limits = {"requests_per_minute": 100, "tokens_per_minute": 100_000}
    purse = await priced.purse("1", key=limits)

    async def upstream_refuses() -> None:
        model = purse.stage.model(side)
        refusal = json.dumps(side.error_body("no", "invalid_request_error")).encode()
        purse.stage.script(side, model, [body(refusal, 400)])
        reply = await purse.call(side, side.request(model))
        assert reply.status == 400
        assert _told(side, reply, "requests")[0] == 100
        assert _told(side, reply, "tokens")[0] == 100_000

    async def too_dear() -> None:
        reply = await _answered(purse, side, **limited(side, 50_000))
        assert reply.status == 402
        assert _told(side, reply, "requests")[0] == 100

    async def unknown() -> None:
        """Turned away before limits are looked at: it costs none of them."""
        reply = await purse.call(side, side.request("nothing-of-that-name"))
        check_refusal(side, reply, NO_MODEL)
        assert not any("ratelimit" in name for name, _ in reply.headers)

    async def served(*, streamed: bool) -> None:
        reply = await _answered(purse, side, streamed=streamed, **limited(side, 100))
        assert reply.status == 200
        assert _told(side, reply, "requests")[0] == 100
        assert _told(side, reply, "tokens")[0] == 100_000

    await upstream_refuses()
    await too_dear()
    await unknown()
    await served(streamed=True)
    await served(streamed=False)
    no_limits = await _answered(await priced.purse("1"), side, **limited(side, 100))
    assert not any("ratelimit" in name for name, _ in no_limits.headers)


async def test_two_workers_count_together(start: Start, upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """Limits and holds of one account over connections that land on either."""
    model = "chat-a-shared"
    request = CHAT.request(model, max_tokens=100)
    hold = (len(json.dumps(request)) * Decimal(20) + 100 * Decimal(50)) / 1_000_000
    config = config_with_prices(free_port(), str(tmp_path), upstream.base)
    config["accounts"].append({"name": "few", "balance": f"{hold * 4:.9f}"})
    config["keys"] += [
        {"name": "ten", "key": "sk-tg-e2e-ten-a-minute", "requests_per_minute": 10},
        {"name": "four", "key": "sk-tg-e2e-four-calls", "account": "few"},
    ]
    stage = Stage(start(config, "--workers", "2"), upstream)
    ten = Purse(stage, "default", "sk-tg-e2e-ten-a-minute")
    few = Purse(stage, "few", "sk-tg-e2e-four-calls")
    upstream.always("chat-A", model, stream(CHAT.script(model).all))
    replies = await asyncio.gather(*(ten.call(CHAT, request) for _ in range(40)))
    statuses = sorted(reply.status for reply in replies)
    assert statuses in ([200] * 10 + [429] * 30, [200] * 11 + [429] * 29)
    gate = Gate()
    script = CHAT.script(model)
    upstream.always("chat-A", model, stream(script.opening, gate, script.deltas, script.closing))
    calls = [asyncio.create_task(few.call(CHAT, request)) for _ in range(40)]
    try:
        await until(lambda: sum(call.done() for call in calls) >= 36, 30, "36 are refused")
    finally:
        gate.open()
    assert sorted(reply.status for reply in await asyncio.gather(*calls)) == [200] * 4 + [402] * 36
    await few.settled(4 * hold - 4 * HELLO)


async def test_one_call_after_the_other_finds_its_money_on_either_worker(
    start: Start, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """What the last call held is free for the next one, though another process may book its end later."""
    model, calls = "chat-a-in-turn", 40
    request = CHAT.request(model, max_tokens=100)
    hold = (len(json.dumps(request)) * Decimal(20) + 100 * Decimal(50)) / 1_000_000
    config = config_with_prices(free_port(), str(tmp_path), upstream.base)
    config["accounts"].append({"name": "few", "balance": f"{hold + calls * HELLO:.9f}"})
    config["keys"].append({"name": "four", "key": "sk-tg-e2e-in-turn", "account": "few"})
    stage = Stage(start(config, "--workers", "2"), upstream)
    few = Purse(stage, "few", "sk-tg-e2e-in-turn")
    upstream.always("chat-A", model, stream(CHAT.script(model).all))
    for _ in range(calls):
        reply = await few.call(CHAT, request)
        assert reply.status == 200, reply.body
    await few.settled(hold)
