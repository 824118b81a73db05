"""Budgets, and what the official SDKs make of limits and empty balances."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import anthropic
import openai
import pytest
from tests.harness.client import Reply
from tests.harness.dialects import MESSAGES, RATE_LIMIT, RESPONSES, SIDES, Side, check_refusal
from tests.harness.script import body, stream
from tests.harness.till import Till, at_once, cost, limited, within_one_day
from tests.harness.together import together

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
HELLO = Decimal(cost(fresh=10, read=3, output=7))
PERIODS = ("day", "month")


@every_side
async def test_budgets(priced: Till, side: Side) -> None:
    """Of key and account, for day and month: the rest is told, and when there is more."""
    await within_one_day()

    async def spent(owner: str, period: str, opening: str | None) -> None:
        budget = {f"budget_per_{period}": "0.02"}
        purse = await priced.purse(opening, **{owner: budget})
        model = purse.stage.model(side)
        steps = side.script(model).all
        purse.stage.script(side, model, [stream(steps)] * 9)
        request = side.request(model, **limited(side, 100))
        assert (await purse.call(side, request)).status == 200
        await purse.settled(Decimal(opening or 0) - HELLO)
        more = side.request(model, **limited(side, 1000))
        refused = await purse.call(side, more)
        error = check_refusal(side, refused, RATE_LIMIT)
        assert f"budget of this {owner} for the {period}" in error["message"]
        assert f"${Decimal('0.02') - HELLO:.9f} of $0.020000000 is left" in error["message"]
        assert abs(int(refused.header("retry-after") or 0) - _until_the_end_of(period)) <= 30
        assert (await purse.call(side, request)).status == 200
        row = await purse.stage.gateway.row_of(refused.header("x-request-id"))
        assert (row["status"], row["outcome"]) == (429, "rejected")
        await purse.settled(Decimal(opening or 0) - 2 * HELLO)

    await together(
        {
            f"{owner} {period} {opening}": spent(owner, period, opening)
            for owner in ("key", "account")
            for period in PERIODS
            for opening in (None, "10")
        }
    )


@every_side
async def test_budgets_of_several_keys(priced: Till, side: Side) -> None:
    """Each key has its own, and all of them that of the account."""
    await within_one_day()
    purse = await priced.purse(account={"budget_per_day": "0.02"}, key={"budget_per_day": "0.01"})
    stage = priced.stage
    model = stage.model(side)
    stage.upstream.always(f"{side.tag}-A", model, stream(side.script(model).all))
    request = side.request(model, **limited(side, 100))

    async def spend(key: str) -> Reply:
        """Call until it is refused."""
        while (reply := await stage.gateway.call(side, request, key=key)).status == 200:
            pass
        check_refusal(side, reply, RATE_LIMIT)
        return reply

    assert "budget of this key" in (await spend(purse.secret)).json()["error"]["message"]
    other = await priced.key(purse.account)
    assert "budget of this account" in (await spend(other)).json()["error"]["message"]
    balance = await purse.at_rest()
    assert Decimal("-0.02") <= balance < Decimal("-0.01")


def _until_the_end_of(period: str) -> float:
    now = datetime.now(UTC)
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "day":
        return day.timestamp() + 86400 - now.timestamp()
    month = day.replace(day=1, month=now.month % 12 + 1, year=now.year + now.month // 12)
    return month.timestamp() - now.timestamp()


async def test_who_gives_no_limit_gets_the_rest_of_the_budget(priced: Till) -> None:
    purse = await priced.purse(key={"budget_per_day": "0.02"})
    model = purse.stage.model(RESPONSES)
    purse.stage.script(RESPONSES, model, [stream(RESPONSES.script().all)])
    request = RESPONSES.request(model)
    assert (await purse.call(RESPONSES, request)).status == 200
    limit = purse.stage.upstream.only("resp-A", model).json()["max_output_tokens"]
    assert limit == (20_000 - 20 * len(json.dumps(request))) // 50


def _openai(priced: Till, secret: str) -> openai.AsyncOpenAI:
    base = f"http://127.0.0.1:{priced.stage.gateway.port}/v1"
    return openai.AsyncOpenAI(base_url=base, api_key=secret, max_retries=0)


def _anthropic(priced: Till, secret: str) -> anthropic.AsyncAnthropic:
    base = f"http://127.0.0.1:{priced.stage.gateway.port}"
    return anthropic.AsyncAnthropic(base_url=base, api_key=secret, max_retries=0)


async def _by_sdk(priced: Till, side: Side, secret: str, model: str) -> Any:
    match side.name:
        case "chat":
            async with _openai(priced, secret) as client:
                return await client.chat.completions.create(
                    model=model, max_tokens=100, messages=[{"role": "user", "content": "hi"}]
                )
        case "responses":
            async with _openai(priced, secret) as client:
                return await client.responses.create(model=model, max_output_tokens=100, input="hi")
        case _:
            async with _anthropic(priced, secret) as client:
                return await client.messages.create(
                    model=model, max_tokens=100, messages=[{"role": "user", "content": "hi"}]
                )


@every_side
async def test_the_official_sdks_know_what_happened(priced: Till, side: Side) -> None:
    package: Any = anthropic if side is MESSAGES else openai
    limited = await priced.purse("10", key={"requests_per_minute": 1})
    model = priced.stage.model(side)
    priced.stage.script(side, model, [body(json.dumps(side.whole(model)).encode())])
    await _by_sdk(priced, side, limited.secret, model)
    with pytest.raises(package.RateLimitError) as caught:
        await _by_sdk(priced, side, limited.secret, model)
    assert 30 <= int(caught.value.response.headers["retry-after"]) <= 60
    poor = await priced.purse("0.001")
    with pytest.raises(package.APIStatusError) as refused:
        await _by_sdk(priced, side, poor.secret, model)
    assert refused.value.status_code == 402
    assert "billing_error" in str(refused.value.body)
    assert "is needed" in str(refused.value)


@at_once
async def test_an_sdk_that_waits_as_it_is_told_is_served(priced: Till, side: Side) -> None:
    """With its own retries: the second call waits for its turn and gets it at the first repetition."""
    purse = await priced.purse("10", key={"requests_per_minute": 60})
    model = priced.stage.model(side)
    priced.stage.upstream.always(f"{side.tag}-A", model, body(json.dumps(side.whole(model)).encode()))
    while (reply := await purse.call(side, side.request(model, stream=False))).status == 200:
        pass
    check_refusal(side, reply, RATE_LIMIT)
    before = len(priced.stage.upstream.requests(f"{side.tag}-A", model))
    if side is MESSAGES:
        async with _anthropic(priced, purse.secret) as client:
            await client.with_options(max_retries=1).messages.create(
                model=model, max_tokens=100, messages=[{"role": "user", "content": "hi"}]
            )
    else:
        async with _openai(priced, purse.secret) as other:
            await other.with_options(max_retries=1).responses.create(
                model=model, input="hi"
            ) if side is RESPONSES else await other.with_options(max_retries=1).chat.completions.create(
                model=model, messages=[{"role": "user", "content": "hi"}]
            )
    assert len(priced.stage.upstream.requests(f"{side.tag}-A", model)) == before + 1
