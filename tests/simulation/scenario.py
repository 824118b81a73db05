"""What a seed decides before a run begins: channels, requests, manners of clients, weather, crashes."""

import json
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from random import Random
from typing import Any

from tests.simulation import plays
from tests.simulation.client import Manners
from tests.simulation.life import Crash
from tests.simulation.plays import Weather
from tests.simulation.speech import HONEST, ODD, Tastes
from tests.simulation.trace import Trace
from tests.simulation.troubles import Troubles

from tidegate.core.price import Price
from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.ledger.money import NANO
from tidegate.routing.breaker import Rules
from tidegate.routing.catalog import Account, Channel, Key

MODEL = "m"
REAL_EVERY = 10
"""Of so many seeds one plays the real storage."""
PRICE = Price(input=Decimal(3), output=Decimal(15), cache_read=Decimal("0.3"), cache_write=Decimal("3.75"))
LATER_PRICE = Price(
    input=Decimal(6), output=Decimal(30), cache_read=Decimal("0.6"), cache_write=Decimal("7.5")
)
"""Twice as much."""
OUTPUT_PRICE = 15_000
"""nano-USD per token."""
MOST_OUTPUT = 4_000
"""The model's own limit."""
COMMIT_AFTER, KEEPALIVE, FIRST_EVENT, IDLE = 3.0, 2.0, 8.0, 10.0
CHANNEL_PRICE = Price(input=Decimal(2), output=Decimal(8))
_TOOL = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
_LONG = "long " * 8_000
"""Beyond what is looked through on the loop."""


class Errand(Enum):
    """What a request is for."""

    ANSWER = "answer"
    COUNT = "count"
    BAD = "bad"
    """The gateway itself turns it away."""


@dataclass(frozen=True)
class Ask:
    """One request of one caller, `at` seconds after the start."""

    name: str
    at: float
    protocol: Protocol
    errand: Errand
    streams: bool
    wants_usage: bool
    body: bytes
    manners: Manners
    key: Key

    def in_words(self) -> str:
        """For the trace."""
        how = f"{self.protocol.value}, {self.errand.value}, {'streams' if self.streams else 'whole'}"
        return f"{self.name}: at {self.at:.3f}, {self.key.name}, {how}, {self.manners.in_words()}"


@dataclass(frozen=True)
class Scenario:
    """One run."""

    seed: int
    channels: tuple[Channel, ...]
    accounts: tuple[Account, ...]
    balances: dict[str, int]
    keys: tuple[Key, ...]
    asks: tuple[Ask, ...]
    weather: Weather
    tastes: Tastes
    max_attempts: int
    rules: Rules
    drains_at: float | None
    interrupts_at: float | None
    interrupts_on: int | None
    """How many things happen before the process has to end at once, in the same moment as the last."""
    reloads_at: float | None
    """When one channel and one key less are in force, and another price."""
    wall_jump: float
    """Seconds that the wall clock goes ahead or back in the middle of the run."""
    troubles: Troubles
    crashes: tuple[Crash, ...]
    real_storage: bool
    """Whether the gateway's own storage is used, on a database file; every so many seeds, as it is slow."""

    def tell(self, trace: Trace) -> None:
        """What a reader of the trace must know first."""
        for each in self.channels:
            trace.note("channel %s: %s, priority %d", each.name, each.protocol.value, each.priority)
        for account in self.accounts:
            trace.note("%r, balance %r", account, self.balances.get(account.name))
        for key in self.keys:
            trace.note("%r", key)
        for ask in self.asks:
            trace.note("%s", ask.in_words())
        trace.note("crashes %r, drains %r, interrupts %r", self.crashes, self.drains_at, self.interrupts_at)
        trace.note("interrupts %r lines later", self.interrupts_on)
        trace.note("reloads %r, the clock jumps by %r", self.reloads_at, self.wall_jump)
        trace.note("%r, at most %d attempts, %r", self.troubles, self.max_attempts, self.rules)


def drawn(seed: int) -> Scenario:
    """The scenario of a seed."""
    chance = Random(seed)
    real = seed % REAL_EVERY == 0
    keys = tuple(_key(chance, name, account) for name, account in (("laptop", "acme"), ("server", "post")))
    number = chance.choice((1, 1, 2, 3, 4, 6))
    asks = tuple(_ask(chance, f"q{number}", chance.choice(keys)) for number in range(1, number + 1))
    drains_at = chance.uniform(0, 20) if chance.random() < 0.06 else None
    acme = Account(
        name="acme",
        prepaid=True,
        max_concurrency=chance.choice((None, None, 2)),
        budget_per_day=chance.choice((None, None, None, None, 5_000_000)),
    )
    return Scenario(
        seed=seed,
        channels=tuple(_channel(chance, name) for name in "abcd"[: chance.choice((1, 2, 2, 3, 4))]),
        accounts=(acme, Account(name="post")),
        balances={"acme": chance.choice((0, 500_000, 3_000_000, 9_000_000, NANO, 25 * NANO, 25 * NANO))},
        keys=keys,
        asks=asks,
        weather=chance.choice((plays.CALM, plays.MIXED, plays.MIXED, plays.STORM)),
        tastes=chance.choice((HONEST, HONEST, ODD)),
        max_attempts=chance.choice((1, 2, 4, 4)),
        rules=Rules(failures_before_cooldown=chance.choice((1, 2, 3)), cooldown=chance.choice((3.0, 30.0))),
        drains_at=drains_at,
        interrupts_at=None if drains_at is None else drains_at + chance.uniform(0, 5),
        interrupts_on=chance.randint(1, 60) if chance.random() < 0.06 else None,
        reloads_at=chance.uniform(0.01, 20) if chance.random() < 0.15 else None,
        wall_jump=chance.choice((-100_000.0, -3.0, 3.0, 100_000.0)) if chance.random() < 0.1 else 0.0,
        troubles=_troubles(chance) if chance.random() < (0.6 if real else 0.35) else Troubles(),
        crashes=tuple(
            _crash(chance) for _ in range(chance.choice((0, 1, 1, 2) if real else (0, 0, 0, 1, 1, 2)))
        ),
        real_storage=real,
    )


def _troubles(chance: Random) -> Troubles:
    start = chance.uniform(0, 20)
    return Troubles(
        away=chance.choice(((), ((start, start + chance.uniform(0.5, 60)),))),
        fails=chance.choice((0.0, 0.3)),
        loses_answers=chance.choice((0.0, 0.3)),
        windows=chance.choice(((0.002, 0.03), (0.002, 0.03), (0.01, 1.0), (1.0, 5.0))),
    )


def _crash(chance: Random) -> Crash:
    if chance.random() < 0.7:
        return Crash(effect=chance.randint(1, chance.choice((8, 25, 80))))
    return Crash(at=chance.uniform(0, 25))


def _key(chance: Random, name: str, account: str) -> Key:
    limited = chance.random() < 0.3
    return Key(
        name=name,
        account=account,
        max_concurrency=chance.choice((None, 1, 2)) if limited else None,
        requests_per_minute=chance.choice((None, 2, 60)) if limited else None,
        tokens_per_minute=chance.choice((None, 500, 100_000)) if limited else None,
    )


def _channel(chance: Random, name: str) -> Channel:
    return Channel(
        name=name,
        protocol=chance.choice(list(Protocol)),
        base_url=f"https://{name}.example.com/v1",
        api_key=Secret(f"credential-of-channel-{name}"),
        models={MODEL: "up"},
        price=chance.choice((None, CHANNEL_PRICE)),
        priority=chance.choice((0, 0, 1)),
        weight=chance.choice((1, 2)),
        group=name,
    )


def _ask(chance: Random, name: str, key: Key) -> Ask:
    errand = chance.choices(list(Errand), (20, 1, 1))[0]
    protocol = Protocol.MESSAGES if errand is Errand.COUNT else chance.choice(list(Protocol))
    streams = chance.random() < 0.8
    wants_usage = protocol is not Protocol.CHAT or chance.random() < 0.5
    value = _body(protocol, f"ask-{name}z " + (_LONG if chance.random() < 0.02 else "Say something."))
    value["stream"] = streams
    if protocol is Protocol.CHAT and streams and wants_usage:
        value["stream_options"] = {"include_usage": True}
    if protocol is Protocol.CHAT and chance.random() < 0.5:
        value["max_completion_tokens"] = 50
    body = json.dumps(value).encode()
    if errand is Errand.BAD:
        body = chance.choice((b"{", b"[]", json.dumps({**value, "model": "unknown"}).encode()))
    return Ask(
        name=name,
        at=chance.choice((0.0, 0.0, chance.uniform(0, 3), chance.uniform(0, 40))),
        protocol=protocol,
        errand=errand,
        streams=streams,
        wants_usage=wants_usage,
        body=body,
        manners=_manners(chance),
        key=key,
    )


def _body(protocol: Protocol, prompt: str) -> dict[str, Any]:
    turns = [{"role": "user", "content": prompt}]
    match protocol:
        case Protocol.CHAT:
            function = {"name": "look", "parameters": _TOOL}
            return {"model": MODEL, "messages": turns, "tools": [{"type": "function", "function": function}]}
        case Protocol.RESPONSES:
            tool = {"type": "function", "name": "look", "parameters": _TOOL, "strict": False}
            return {"model": MODEL, "input": prompt, "tools": [tool]}
        case Protocol.MESSAGES:
            tools = [{"name": "look", "input_schema": _TOOL}]
            return {"model": MODEL, "max_tokens": 100, "messages": turns, "tools": tools}


def _manners(chance: Random) -> Manners:
    if chance.random() < 0.4:
        return Manners()
    slow = chance.random() < 0.4
    leaves = chance.choice(("", "", "at", "after", "on"))
    return Manners(
        slow_after=chance.randint(0, 2000) if slow else None,
        slow_for=chance.choice((0.1, 1.0, 8.0, 30.0)) if slow else 0.0,
        slow_times=chance.randint(1, 6) if slow else 0,
        leaves_at=chance.choice((0.0, chance.uniform(0, 2), chance.uniform(0, 30)))
        if leaves == "at"
        else None,
        leaves_after=chance.randint(1, 8) if leaves == "after" else None,
        leaves_on=chance.randint(1, chance.choice((8, 20, 60))) if leaves == "on" else None,
    )
