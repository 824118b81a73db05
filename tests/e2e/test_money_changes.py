"""What changes while a request runs: keys, channels, prices, accounts. It ends as it began."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.conftest import Start
from tests.harness.dialects import AUTH, CHAT, MESSAGES, NO_MODEL, check_refusal
from tests.harness.gateway import Gateway, free_port
from tests.harness.pairs import NINE, Pair
from tests.harness.script import Gate, Step, stream
from tests.harness.stage import Stage
from tests.harness.till import COST_AT_A, NOTHING, PRICE, Purse, Till, cost
from tests.harness.till import priced as config_with_prices
from tests.harness.together import together
from tests.harness.upstream import ScriptedUpstream, until

HELLO = Decimal(cost(fresh=10, read=3, output=7))
Change = Callable[[], Awaitable[None]]


async def _amid(
    purse: Purse, pair: Pair, change: Change, *, streamed: bool = True, model: str | None = None
) -> Any:
    """The row of a request during which something changes."""
    stage = purse.stage
    model = model or stage.model(pair.channel)
    script = pair.channel.script(model)
    gate = Gate()
    steps: list[Step] = [*script.opening, *script.deltas[:1], gate, *script.deltas[1:], *script.closing]
    stage.script(pair.channel, model, [stream(steps)])
    request = pair.client.request(model, stream=streamed)
    call = asyncio.create_task(purse.call(pair.client, request))
    try:
        await stage.upstream.arrived(f"{pair.channel.tag}-A", model)
        await asyncio.sleep(0.1)
        assert (await purse.money())[1] != NOTHING
        await change()
    finally:
        gate.open()
    reply = await call
    assert reply.status == 200, reply.body
    row = await stage.gateway.row_of(reply.header("x-request-id"))
    assert row["outcome"] == "completed"
    return row


async def _deleted(gateway: Gateway, target: str) -> None:
    reply = await gateway.admin(target, method="DELETE")
    assert reply.status == 204, reply.body


async def test_a_key_that_is_deleted_amid_an_answer_pays_for_it(priced: Till) -> None:
    async def paid(pair: Pair, *, streamed: bool) -> None:
        purse = await priced.purse("10")

        async def change() -> None:
            keys = (await priced.stage.gateway.admin("keys?limit=500")).json()["data"]
            [name] = [key["name"] for key in keys if key["account"] == purse.account]
            await _deleted(priced.stage.gateway, f"keys/{name}")
            check_refusal(pair.client, await purse.call(pair.client, {}), AUTH)

        row = await _amid(purse, pair, change, streamed=streamed)
        assert row["cost"] == f"{HELLO:.9f}"
        await purse.settled(10 - HELLO)

    await together(
        {
            f"{pair.name} {streamed}": paid(pair, streamed=streamed)
            for pair in NINE
            for streamed in (True, False)
        }
    )


async def test_an_account_that_is_deleted_amid_an_answer_still_pays(priced: Till) -> None:
    """Its postings stay, and so does its row; one of the same name that comes later finds them."""
    purse = await priced.purse("10")
    gateway = priced.stage.gateway

    async def change() -> None:
        assert (await gateway.admin(f"accounts/{purse.account}", method="DELETE")).status == 409
        await _deleted(gateway, f"accounts/{purse.account}?force=true")

    row = await _amid(purse, Pair(CHAT, CHAT), change)
    assert (row["cost"], row["account"]) == (f"{HELLO:.9f}", purse.account)
    await until_async(lambda: _last(purse), "release")
    kinds = [kind for kind, *_ in await purse.postings()]
    assert kinds == ["credit", "hold", "settle", "release"]


async def _last(purse: Purse) -> str:
    return (await purse.postings())[-1][0]


async def until_async(ask: Callable[[], Awaitable[str]], wanted: str) -> None:
    async with asyncio.timeout(20):
        while await ask() != wanted:
            await asyncio.sleep(0.02)


async def test_a_channel_that_is_deleted_amid_an_answer(priced: Till) -> None:
    """What it cost the operator is worked out by the price that it had."""
    gateway, upstream = priced.stage.gateway, priced.stage.upstream

    async def gone(pair: Pair) -> None:
        side = pair.channel
        name, model = f"going-{pair.client.tag}-{side.tag}", f"going-{pair.client.tag}-{side.tag}"
        base = upstream.base(f"{side.tag}-A")
        channel = {
            "name": name,
            "protocol": side.name,
            "base_url": base if side is MESSAGES else f"{base}/v1",
            "api_key": "sk-upstream-managed-1",
            "models": [model],
            "price": COST_AT_A,
        }
        assert (await gateway.admin("channels", method="POST", body=channel)).status == 201
        priced_model = {"name": model, "price": PRICE}
        assert (await gateway.admin("models", method="POST", body=priced_model)).status == 201
        purse = await priced.purse("10")

        async def change() -> None:
            await _deleted(gateway, f"channels/{name}")
            await _deleted(gateway, f"models/{model}")
            check_refusal(pair.client, await purse.call(pair.client, pair.client.request(model)), NO_MODEL)

        row = await _amid(purse, pair, change, model=model)
        assert (row["cost"], row["channel"]) == (f"{HELLO:.9f}", name)
        assert row["attempts"][0]["upstream_cost"] == f"{(13 * 2 + 7 * 8) / 1_000_000:.9f}"
        await purse.settled(10 - HELLO)

    await together({pair.name: gone(pair) for pair in NINE})


async def test_a_price_that_changes_amid_an_answer(
    start: Start, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """A request keeps the price it was let through with; the next one has the new price."""
    config = config_with_prices(free_port(), str(tmp_path), upstream.base)
    gateway = start(config)
    till = Till(Stage(gateway, upstream))
    purse = await till.purse("10")
    model = till.stage.model(CHAT)

    async def change() -> None:
        dear = deepcopy(config)
        for declared in dear["models"]:
            declared["price"] = {"input": "1000", "output": "1000"}
        dear["channels"][0]["price"] = {"input": "500", "output": "500"}
        gateway.write_config(dear)
        gateway.signal(signal.SIGHUP)
        await until(lambda: "the config was reloaded" in gateway.log, 30, "the config is read anew")

    row = await _amid(purse, Pair(CHAT, CHAT), change, model=model)
    assert row["cost"] == f"{HELLO:.9f}"
    assert row["attempts"][0]["upstream_cost"] == "0.000082000"
    played = await purse.asked(Pair(CHAT, CHAT), model=till.stage.model(CHAT), max_tokens=100)
    after = await played.row()
    assert after["cost"] == "0.020000000"
    assert after["attempts"][0]["upstream_cost"] == "0.010000000"
    await purse.settled(10 - HELLO - Decimal("0.02"))


async def test_an_account_that_pays_later_from_now_on_and_back(priced: Till) -> None:
    purse = await priced.purse("0.001")
    pair = Pair(CHAT, CHAT)
    model = priced.stage.model(CHAT)
    assert (await purse.call(CHAT, CHAT.request(model, max_tokens=100))).status == 402
    await purse.change(prepaid=False)

    async def change() -> None:
        await purse.change(prepaid=True)

    row = await _amid(purse, pair, change)
    assert row["cost"] == f"{HELLO:.9f}"
    await purse.settled(Decimal("0.001") - HELLO)
    assert (await purse.call(CHAT, CHAT.request(model, max_tokens=100))).status == 402
    await purse.change(prepaid=False)
    assert (await purse.asked(pair, max_tokens=100)).reply.status == 200
    await purse.settled(Decimal("0.001") - 2 * HELLO)


async def test_limits_that_are_taken_away_amid_an_answer(priced: Till) -> None:
    """The place that a request took is given back, whatever its key's limits are by then."""
    purse = await priced.purse("10", account={"max_concurrency": 1})

    async def change() -> None:
        await purse.change(max_concurrency=None)
        assert (await purse.asked(Pair(CHAT, CHAT))).reply.status == 200
        await purse.change(max_concurrency=1)
        assert (await purse.asked(Pair(CHAT, CHAT))).reply.status == 429

    await _amid(purse, Pair(CHAT, CHAT), change)
    assert (await purse.asked(Pair(CHAT, CHAT))).reply.status == 200


async def test_an_account_that_a_reload_brings(
    start: Start, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """It has its opening balance, once; one that the file raises later is a matter for a payment."""
    config = config_with_prices(free_port(), str(tmp_path), upstream.base)
    gateway = start(config)
    purse = Purse(Stage(gateway, upstream), "late", "sk-tg-e2e-late-key")
    config["keys"].append({"name": "late", "account": "late", "key": purse.secret})
    config["accounts"].append({"name": "late", "balance": "5"})

    async def reload() -> None:
        before = gateway.log.count("the config was reloaded")
        gateway.write_config(config)
        gateway.signal(signal.SIGHUP)
        await until(lambda: gateway.log.count("the config was reloaded") > before, 30, "the config is read")

    await reload()
    await purse.settled("5")
    assert (await purse.asked(Pair(CHAT, CHAT))).reply.status == 200
    await purse.settled(5 - HELLO)
    config["accounts"][-1]["balance"] = "50"
    await reload()
    await purse.settled(5 - HELLO)
    told = "its opening balance was credited as 5.000000000 USD before"
    await until(lambda: told in gateway.log, 30, "the first opening balance stands, and the log says so")
