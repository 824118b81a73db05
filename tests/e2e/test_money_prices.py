"""Tiers, searches, and counts that cannot be: what is charged, and what is said about it."""

import json
from typing import Any

import pytest
from tests.harness import notation as n
from tests.harness.crossing import MODES
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, SIDES, Side, check_error_form
from tests.harness.notation import Json
from tests.harness.pairs import NINE, Pair
from tests.harness.till import Till, chat_steps, cost, limited, messages_steps, responses_steps
from tests.harness.together import together

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
UNITS = {"input": 1000, "output": 100}
PLAIN = "0.015000000"
"""What `UNITS` cost without a tier."""


def _served(side: Side, tier: str | None) -> list[bytes]:
    """1000 tokens in, 100 out, served at a tier."""
    told = {} if tier is None else {"service_tier": tier}
    match side.name:
        case "chat":
            usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
            return chat_steps(usage, **told)
        case "responses":
            usage = {"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100}
            return responses_steps(usage, **told)
        case _:
            return messages_steps({"input_tokens": 1000, "output_tokens": 1, **told}, {"output_tokens": 100})


TIERS: dict[str, tuple[str | None, str | None, str]] = {
    "asked and told": ("priority", "priority", "0.030000000"),
    "asked, silence": ("priority", None, "0.030000000"),
    "asked, told the default": ("priority", "default", PLAIN),
    "asked, told an unknown one": ("priority", "turbo", "0.030000000"),
    "cheaper": ("flex", "flex", "0.007500000"),
    "auto, served cheaper": ("auto", "flex", "0.007500000"),
    "not asked, told a dear one": (None, "priority", PLAIN),
}


@every_side
async def test_service_tiers(priced: Till, side: Side) -> None:
    """On a pair of one protocol, where the tier goes up as it is."""
    purse = await priced.purse("1000")

    async def charged(asked: str | None, told: str | None, price: str, mode: str) -> None:
        members = {} if asked is None else {"service_tier": asked}
        played = await purse.asked(
            Pair(side, side), mode=mode, kind="tier", steps=_served(side, told), **members
        )
        row = await played.row()
        assert (row["cost"], row["warnings"]) == (price, [])

    await together(
        {f"{name}, {mode}": charged(*case, mode) for name, case in TIERS.items() for mode in MODES}
    )


async def test_a_tier_in_a_pair_is_charged_if_it_went_up(priced: Till) -> None:
    """OpenAI's tier is not Messages' own: what is dropped on the way is not paid for."""
    purse = await priced.purse("1000")

    async def charged(pair: Pair) -> None:
        played = await purse.asked(
            pair, kind="tier", steps=_served(pair.channel, None), service_tier="priority"
        )
        row = await played.row()
        went_up = "service_tier" in played.at_a[0].json()
        assert (row["cost"] == "0.030000000") == went_up, (row, went_up)
        assert (row["cost"] == PLAIN) == ("dropped:service_tier" in row["warnings"])

    await together({pair.name: charged(pair) for pair in NINE})


@every_side
async def test_a_tier_without_a_price(priced: Till, side: Side) -> None:
    """Refused for who pays first; who pays later pays the plain price."""
    prepaid, postpaid = await priced.purse("10"), await priced.purse()
    model = priced.stage.model(side, "tier")
    reply = await prepaid.call(side, side.request(model, service_tier="scale"))
    assert reply.status == 400
    error = check_error_form(side, reply)
    assert "scale" in error["message"]
    if side is not MESSAGES:
        assert (error["param"], error["code"]) == ("service_tier", "unsupported_value")
    row = await priced.stage.gateway.row(model)
    assert (row["outcome"], row["cost"], row["attempts"]) == ("rejected", "0.000000000", [])
    await prepaid.settled("10")
    played = await postpaid.asked(
        Pair(side, side), kind="tier", steps=_served(side, "scale"), service_tier="scale"
    )
    assert (await played.row())["cost"] == PLAIN
    await postpaid.settled("-0.015")


async def test_a_speed_of_messages_is_a_tier(priced: Till) -> None:
    """Fast answers have a price of their own, and an account that has none for them does not get them."""
    prepaid, postpaid = await priced.purse("10"), await priced.purse()
    model = priced.stage.model(MESSAGES)
    reply = await prepaid.call(MESSAGES, MESSAGES.request(model, speed="fast"))
    assert reply.status == 400
    assert "`fast` has no price" in reply.json()["error"]["message"]
    played = await postpaid.asked(Pair(MESSAGES, MESSAGES), steps=_served(MESSAGES, None), speed="fast")
    assert (await played.row())["cost"] == PLAIN

    async def charged(told: str | None, price: str) -> None:
        usage = {"input_tokens": 1000, "output_tokens": 1} | ({} if told is None else {"speed": told})
        played = await prepaid.asked(
            Pair(MESSAGES, MESSAGES),
            kind="tier",
            steps=messages_steps(usage, {"output_tokens": 100}),
            speed="fast",
        )
        assert (await played.row())["cost"] == price

    await together(
        {
            "fast": charged("fast", "0.060000000"),
            "silence": charged(None, "0.060000000"),
            "standard": charged("standard", PLAIN),
        }
    )


async def test_a_long_prompt_reaches_a_tier(priced: Till) -> None:
    purse = await priced.purse("1000")

    async def charged(pair: Pair, read: int, price: str) -> None:
        match pair.channel.name:
            case "chat":
                steps = chat_steps(
                    {"prompt_tokens": read + 1, "completion_tokens": 100}
                    | {"prompt_tokens_details": {"cached_tokens": read}}
                )
            case "responses":
                steps = responses_steps(
                    {"input_tokens": read + 1, "output_tokens": 100, "total_tokens": read + 101}
                    | {"input_tokens_details": {"cached_tokens": read}}
                )
            case _:
                start = {"input_tokens": 1, "cache_read_input_tokens": read, "output_tokens": 1}
                steps = messages_steps(start, {"output_tokens": 100})
        row = await (await purse.asked(pair, kind="tier", steps=steps)).row()
        assert (row["cost"], row["warnings"]) == (price, [])

    # 1 input, cache reads at 1, 100 output; above 200,000 input is 20 and output 75
    below, above = "0.205009000", "0.207520000"
    await together(
        {f"{pair.name} below": charged(pair, 199_999, below) for pair in NINE}
        | {f"{pair.name} above": charged(pair, 200_000, above) for pair in NINE}
    )


async def test_searches_of_every_caller(priced: Till) -> None:
    """Messages tells their number; so does Responses, beside its usage, or else its calls count."""
    purse = await priced.purse("1000")
    usage = {"input_tokens": 10, "output_tokens": 7}
    searched = messages_steps(
        {**usage, "output_tokens": 1}, {"output_tokens": 7, "server_tool_use": {"web_search_requests": 3}}
    )
    item = {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}}
    calls = [{**item, "id": f"ws_{number}"} for number in range(2)]
    message = n.message_item("a", "completed")
    told: Json = {"output": [*calls, message], "usage": {**usage, "total_tokens": 17}}
    opening: list[tuple[str, Json]] = [n.created()]
    for number, call in enumerate(calls):
        opening += [n.added(call, number), n.item_done(call, number)]
    opening += [n.added(n.message_item(), 2), n.part_added(index=2), n.text_delta("a", index=2)]
    opening += n.text_done("a", index=2)
    silent = n.r(*opening, ("response.completed", n.response("completed", **told)))
    told["tool_usage"] = {"web_search": {"num_requests": 2}}
    steps = n.r(*opening, ("response.completed", n.response("completed", **told)))

    async def charged(pair: Pair, told: list[bytes], searches: int, mode: str) -> None:
        row = await (await purse.asked(pair, steps=told, mode=mode)).row()
        assert row["cost"] == cost(fresh=10, output=7, searches=searches), row

    cases = [(MESSAGES, "told", searched, 3), (RESPONSES, "told", steps, 2), (RESPONSES, "silent", silent, 2)]
    await together(
        {
            f"{pair.name} {name} {mode}": charged(pair, said, searches, mode)
            for channel, name, said, searches in cases
            for pair in NINE
            if pair.channel is channel
            for mode in MODES
        }
    )


def _counts(side: Side, prompt: Any, output: Any) -> list[bytes]:
    match side.name:
        case "chat":
            return chat_steps({"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": 1})
        case "responses":
            return responses_steps({"input_tokens": prompt, "output_tokens": output, "total_tokens": 1})
        case _:
            return messages_steps({"input_tokens": prompt, "output_tokens": 1}, {"output_tokens": output})


ABSURD = 900_000_000
NOT_TOLD = {"negative": -5, "fraction": 2.5, "word": "many", "beyond": 10**18, "list": [7], "true": True}


async def test_counts_that_are_none_are_estimated(priced: Till) -> None:
    purse = await priced.purse("1000")

    async def estimated(pair: Pair, value: object, mode: str) -> None:
        row = await (await purse.asked(pair, steps=_counts(pair.channel, value, value), mode=mode)).row()
        assert row["usage_source"] == "estimated", row
        assert 0 < row["input_tokens"] < 100
        assert 0 < row["output_tokens"] < 100
        assert row["cost"] == cost(fresh=row["input_tokens"], output=row["output_tokens"])

    await together(
        {
            f"{name}, {pair.name}, {mode}": estimated(pair, value, mode)
            for name, value in NOT_TOLD.items()
            for pair in NINE
            for mode in ("stream", "whole")
        }
    )


async def test_counts_in_other_clothes_are_taken(priced: Till) -> None:
    purse = await priced.purse("1000")

    async def taken(pair: Pair, value: object, mode: str) -> None:
        row = await (await purse.asked(pair, steps=_counts(pair.channel, value, value), mode=mode)).row()
        assert (row["usage_source"], row["input_tokens"], row["output_tokens"]) == ("upstream", 12, 12)
        assert row["cost"] == cost(fresh=12, output=12)

    await together(
        {
            f"{value!r}, {pair.name}, {mode}": taken(pair, value, mode)
            for value in ("12", 12.0)
            for pair in NINE
            for mode in ("stream", "whole")
        }
    )


async def test_more_than_possible_is_kept_and_not_charged(priced: Till) -> None:
    """The row has what was told, and a flag; the bound of the hold is charged in its place."""
    purse = await priced.purse("1000")

    async def flagged(pair: Pair, mode: str) -> None:
        body = limited(pair.client, 100)
        played = await purse.asked(pair, steps=_counts(pair.channel, ABSURD, ABSURD), mode=mode, **body)
        row = await played.row()
        assert (row["input_tokens"], row["output_tokens"]) == (ABSURD, ABSURD)
        assert row["warnings"][-2:] == ["clamped:usage.input_tokens", "clamped:usage.output_tokens"]
        request = pair.client.request(played.model, stream=mode == "stream", **body)
        assert row["cost"] == cost(fresh=len(json.dumps(request)), output=100)

    await together({f"{pair.name}, {mode}": flagged(pair, mode) for pair in NINE for mode in MODES})


async def test_an_absurd_limit_does_not_make_an_absurd_count_credible(priced: Till) -> None:
    purse = await priced.purse()
    played = await purse.asked(Pair(CHAT, CHAT), steps=_counts(CHAT, 12, 9 * 10**17), max_tokens=10**25)
    row = await played.row()
    assert (row["output_tokens"], row["warnings"]) == (9 * 10**17, ["clamped:usage.output_tokens"])
    assert row["cost"] == cost(fresh=12, output=10_000_000)
