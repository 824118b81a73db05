"""A gateway whose models have prices, accounts with money of their own, and what their books say."""

import asyncio
import itertools
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.harness import notation as n
from tests.harness import settings
from tests.harness.client import BOUND, Reply
from tests.harness.crossing import whole_of
from tests.harness.dialects import SIDES, Side
from tests.harness.gateway import Gateway, environment
from tests.harness.notation import Json
from tests.harness.pairs import Pair
from tests.harness.script import Answer, stream
from tests.harness.stage import Played, Stage
from tests.harness.together import together

PRICE = {
    "input": "10",
    "cache_read": "1",
    "cache_write": "12.5",
    "cache_write_1h": "20",
    "output": "50",
    "web_search": "10",
}
TIERS = {
    "price": PRICE,
    "price_tiers": [{"above_input_tokens": 200_000, "input": "20", "output": "75"}],
    "service_tiers": {"priority": "2.0", "flex": "0.5", "fast": "4"},
}
COST_AT_A = {"input": "2", "output": "8"}
"""What channel A costs the operator; channel B tells nothing."""
SMALL = 1_000
"""The most output of the models `TAG-small-…`."""
NOTHING = "0.000000000"

Going = Coroutine[object, object, None]
LIMIT = {"chat": "max_completion_tokens", "responses": "max_output_tokens", "messages": "max_tokens"}
"""The member by which each protocol's callers limit the output."""

_numbers = itertools.count(1)


def priced(port: int, folder: str, base: Callable[[str], str]) -> settings.Config:
    """Channels A and B of every protocol. Kinds of models: `a` and `ab` as elsewhere, `tier` with tiers,
    `small` with a maximum of output, `free` without a price; `TAG-alias` has a name of its own on each.
    """
    config = settings.server(port, folder)
    config["routing"]["failures_before_cooldown"] = 1000
    config["streaming"] |= {"first_event_timeout": "20s", "idle_timeout": "20s"}  # nothing here is to stall
    for side in SIDES:
        tag = side.tag
        both = [f"{tag}-ab-*"]
        kinds = [f"{tag}-{kind}-*" for kind in ("a", "tier", "small", "free")]
        a, b, alias = base(f"{tag}-A"), base(f"{tag}-B"), f"{tag}-alias"
        config["channels"] += [
            settings.channel(f"{tag}-A", tag, a, both + kinds, priority=20, price=COST_AT_A),
            settings.channel(f"{tag}-B", tag, b, both, priority=10),
            settings.channel(f"{tag}-alias-A", tag, a, {alias: f"{tag}-up-a"}, priority=20),
            settings.channel(f"{tag}-alias-B", tag, b, {alias: f"{tag}-up-b"}, priority=10),
        ]
        config["models"] += [
            {"name": f"{tag}-a-*", "price": PRICE},
            {"name": f"{tag}-ab-*", "price": PRICE},
            {"name": alias, "price": PRICE},
            {"name": f"{tag}-tier-*", **TIERS},
            {"name": f"{tag}-small-*", "price": PRICE, "max_output_tokens": SMALL},
        ]
    old = settings.channel(
        "chat-old", "chat", base("chat-A"), ["chat-old-*"], capabilities={"max_tokens_field": "max_tokens"}
    )
    config["channels"].append(old)
    config["models"].append({"name": "chat-old-*", "price": PRICE, "max_output_tokens": SMALL})
    return config


@dataclass
class Purse:
    """An account of a test's own with one key."""

    stage: Stage
    account: str
    secret: str

    async def money(self) -> tuple[str, str]:
        """Balance and what is held of it."""
        reply = await self.stage.gateway.admin(f"accounts/{self.account}")
        assert reply.status == 200, reply.body
        told = reply.json()
        return told["balance"], told["held"]

    async def settled(self, balance: Decimal | str | int, within: float = 30.0) -> None:
        """Nothing is held any more, and the balance is this one."""
        wanted = (f"{Decimal(balance):.9f}", NOTHING)
        deadline = time.monotonic() + within
        while (money := await self.money()) != wanted:
            assert time.monotonic() < deadline, f"{money} is not {wanted}; {await self.postings()}"
            await asyncio.sleep(0.02)

    async def at_rest(self, within: float = 30.0) -> Decimal:
        """The balance once nothing is held."""
        deadline = time.monotonic() + within
        while (money := await self.money())[1] != NOTHING:
            assert time.monotonic() < deadline, f"{money}; {await self.postings()}"
            await asyncio.sleep(0.02)
        return Decimal(money[0])

    async def credit(self, amount: str) -> None:
        body = {"amount": amount, "reference": f"payment-{next(_numbers)}"}
        reply = await self.stage.gateway.admin(f"accounts/{self.account}/credit", method="POST", body=body)
        assert reply.status == 200, reply.body

    async def change(self, **settings_: object) -> None:
        """Change settings of the account."""
        target = f"accounts/{self.account}"
        reply = await self.stage.gateway.admin(target, method="PATCH", body=settings_)
        assert reply.status == 200, reply.body

    async def postings(self) -> list[tuple[str, str, str, str]]:
        """Kind, source, target and amount of all movements, the first one first."""
        reply = await self.stage.gateway.admin(f"ledger?account={self.account}&limit=500")
        names = ("kind", "source", "target", "amount")
        return [tuple(line[name] for name in names) for line in reversed(reply.json()["data"])]

    async def call(self, side: Side, body: Json | bytes, within: float = BOUND) -> Reply:
        return await self.stage.gateway.call(side, body, key=self.secret, within=within)

    async def play(self, side: Side, *a: Answer, **options: Any) -> Played:
        """See `Stage.play`."""
        return await self.stage.play(side, *a, key=self.secret, **options)

    async def asked(
        self,
        pair: Pair,
        *,
        mode: str = "stream",
        kind: str = "a",
        steps: Sequence[bytes] | None = None,
        model: str | None = None,
        **members: object,
    ) -> Played:
        """One request through a pair in a mode of `crossing.MODES`, answered with `steps` or hello."""
        model = model or self.stage.model(pair.channel, kind)
        told = pair.channel.script(model).all if steps is None else steps
        answer = whole_of(pair.channel, told) if mode == "whole" else stream(told)
        return await self.play(
            pair.client, answer, channel=pair.channel, model=model, stream=mode == "stream", members=members
        )


@dataclass
class Till:
    """The gateway with the prices."""

    stage: Stage

    async def purse(
        self, balance: str | None = None, *, account: Json | None = None, key: Json | None = None
    ) -> Purse:
        """A new account, prepaid if it has a balance, and a key of it; with further settings of either."""
        name = f"purse-{next(_numbers)}"
        opening = {} if balance is None else {"balance": balance}
        await self._made("accounts", {"name": name, **opening, **(account or {})})
        return Purse(self.stage, name, await self.key(name, **(key or {})))

    async def key(self, account: str, **members: object) -> str:
        """A further key of an account: its secret."""
        made = await self._made("keys", {"name": f"key-{next(_numbers)}", "account": account, **members})
        secret: str = made["secret"]
        return secret

    async def _made(self, kind: str, body: Json) -> Any:
        reply = await self.stage.gateway.admin(kind, method="POST", body=body)
        assert reply.status == 201, reply.body
        return reply.json()


async def within_one_day(seconds: float = 60) -> None:
    """Return when the day, by which budgets count, goes on for so long."""
    left = 86_400 - time.time() % 86_400
    if left < seconds:
        await asyncio.sleep(left + 0.5)


def limited(side: Side, tokens: float) -> Json:
    """Members of a request that limit its output."""
    return {LIMIT[side.name]: tokens}


def check_books(gateway: Gateway) -> None:
    """`tidegate ledger verify` finds no difference in the books of a gateway."""
    done = subprocess.run(
        [sys.executable, "-m", "tidegate", "ledger", "verify", "--config", str(gateway.config_path)],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(),
        cwd=gateway.config_path.parent,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def cost(
    fresh: int = 0, read: int = 0, write: int = 0, output: int = 0, hour: int = 0, searches: int = 0
) -> str:
    """What counts cost at PRICE, worked out by hand: `write` without the `hour` ones."""
    millionths = 10 * fresh + read + Decimal("12.5") * write + 50 * output + 20 * hour
    return f"{millionths / 1_000_000 + Decimal(searches) / 100:.9f}"


def cost_of(row: Any) -> str:
    """What the counts of a row cost that tells of no cache writes."""
    return cost(fresh=row["input_tokens"], read=row["cache_read_tokens"], output=row["output_tokens"])


def chat_steps(usage: Json | None, *, text: str = "a", **extra: Any) -> list[bytes]:
    """A whole Chat stream; `extra` members stand in every chunk."""

    def chunk(delta: Json, finish: str | None = None) -> bytes:
        return n.data(n.chunk([{"index": 0, "delta": delta, "finish_reason": finish}], **extra))

    told = [] if usage is None else [n.data(n.chunk([], usage=usage, **extra))]
    return [chunk({"role": "assistant", "content": text}), chunk({}, "stop"), *told, n.DONE]


def messages_steps(start: Json, end: Json, *, text: str = "a") -> list[bytes]:
    """A whole Messages stream with the usage of its start and of its end."""
    return [n.ms(start), n.bs(0, "text"), n.bd(0, n.text(text)), n.be(0), n.md("end_turn", end), n.me]


def responses_steps(usage: Json | None, *, text: str = "a", **extra: Any) -> list[bytes]:
    """A whole Responses stream; `extra` members stand in the final response."""
    opening = [n.created(), n.added(n.message_item()), n.part_added(), n.text_delta(text)]
    final = n.response("completed", output=[n.message_item(text, "completed")], usage=usage, **extra)
    return n.r(*opening, *n.text_done(text), ("response.completed", final))


def at_once(
    test: Callable[[Till, Side], Coroutine[object, object, None]],
) -> Callable[[Till], Coroutine[object, object, None]]:
    """For tests that mostly wait: the three protocols side by side, as one test."""

    async def run(priced: Till) -> None:
        await together({side.name: test(priced, side) for side in SIDES})

    run.__name__, run.__qualname__, run.__module__ = test.__name__, test.__qualname__, test.__module__
    run.__doc__ = test.__doc__
    return run
