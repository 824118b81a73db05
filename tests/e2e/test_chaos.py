"""Everything is killed, stopped and frozen under load, and not a token is lost or charged twice."""

import asyncio
import os
import random
import secrets
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import pytest
from tests.harness import settings
from tests.harness.books_seen import Ask, BooksSeen, RowSeen, in_postgres, in_sqlite, read_books
from tests.harness.chaos import Chaos, Trouble, locked, redis_frozen, redis_gone, stopped, verified
from tests.harness.client import Ended, fetch
from tests.harness.crowd import FRESH, PRICE, Caller, Crowd, Seen, cost
from tests.harness.gateway import Gateway, free_port
from tests.harness.postgres_server import PostgresServer
from tests.harness.redis_server import RedisServer
from tests.harness.simulated import Simulated

from tidegate.observe.tokens import load_vocabulary

SECOND = 1.0
"""Of output may be uncharged when a process is killed."""
ROOM = 0.8
"""Seconds by which a busy machine may be late with everything."""
CLIENTS = 10
OPENING = 10_000_000
"""Nano-USD of the small prepaid account: it is used up on the way."""

CALLERS = (
    Caller("rich", "sk-tg-chaos-rich-1", prepaid=True),
    Caller("small", "sk-tg-chaos-small-1", prepaid=True),
    Caller("later", "sk-tg-chaos-later-1", prepaid=False),
    Caller("limited", "sk-tg-chaos-limited-1", prepaid=False),
)


def seed() -> int:
    return int(os.environ.get("TIDEGATE_CHAOS_SEED") or secrets.randbelow(10_000))


@pytest.fixture
def simulated(tmp_path: Path) -> Iterator[Simulated]:
    running = Simulated(tmp_path)
    yield running
    running.stop()


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path)
    yield server
    server.thaw()
    server.stop()


def config_for(folder: Path, simulated: Simulated, database: str) -> settings.Config:
    config = settings.server(free_port(), str(folder))
    config["database"] = {"url": database}
    config["accounts"] = [
        {"name": "rich", "balance": "100"},
        {"name": "small", "balance": f"{OPENING / 1e9:.9f}"},
        {"name": "later"},
        {"name": "limited"},
    ]
    config["keys"] = [{"name": one.account, "account": one.account, "key": one.key} for one in CALLERS]
    config["accounts"][0] |= {"budget_per_day": "50"}
    config["keys"][1] |= {"budget_per_month": "1"}
    config["keys"][-1] |= {"max_concurrency": 3, "requests_per_minute": 600}
    for tag in ("chat", "resp", "msgs"):
        config["channels"].append(settings.channel(tag, tag, simulated.base, [f"sim{tag}*"]))
        config["models"].append({"name": f"sim{tag}*", "price": PRICE, "max_output_tokens": 200})
    return config


async def test_nothing_is_lost_on_sqlite(tmp_path: Path, simulated: Simulated) -> None:
    path = tmp_path / "tidegate.db"
    config = config_for(tmp_path, simulated, f"sqlite:///{path}")
    await _run(config, tmp_path, [partial(locked, path)], in_sqlite(path))


async def test_nothing_is_lost_on_postgresql_and_redis(
    tmp_path: Path, simulated: Simulated, postgres: PostgresServer, redis: RedisServer
) -> None:
    name = postgres.fresh()
    config = config_for(tmp_path, simulated, postgres.url(name)) | {"redis": {"url": redis.url}}
    troubles: list[Trouble] = [
        partial(stopped, postgres, signal.SIGQUIT),
        postgres.frozen,
        partial(redis_frozen, redis),
        partial(redis_gone, redis),
    ]
    await _run(config, tmp_path, troubles, in_postgres(postgres, name))
    postgres.drop(name)


async def _run(config: settings.Config, folder: Path, troubles: list[Trouble], ask: Ask) -> None:
    number = seed()
    rng = random.Random(number)
    chaos = Chaos(config, folder, rng, troubles)
    try:
        crowd = Crowd(chaos.gateway, CALLERS, random.Random(number + 1), size=CLIENTS)
        await chaos.everything()
        await asyncio.sleep(0.5)
        seen = await crowd.stop()
        await _calm(chaos.gateway)
    finally:
        chaos.gateway.stop()
        sys.stdout.write("\n".join([f"TIDEGATE_CHAOS_SEED={number}", *chaos.told, ""]))
    sys.stdout.write(f"{Counter(f'{one.status} {one.trouble}' for one in seen)}\n")
    assert sum(one.whole for one in seen) > 20, "too little was served to prove anything"
    verified(chaos.gateway)
    _check(read_books(ask), seen, chaos.kills)
    assert not list(folder.glob("*spool/*.spool")), "something waits on the disk still"


async def _calm(gateway: Gateway, within: float = 20.0) -> None:
    """Both workers are there and the database is well; rows that wait have been written."""
    deadline = time.monotonic() + within
    good = 0
    while good < 6:
        reply = await fetch(gateway.port, "GET", "/readyz")
        good = good + 1 if reply.status == 200 and len(gateway.workers()) == 2 else 0
        assert time.monotonic() < deadline, reply.body
        await asyncio.sleep(0.2)


def _check(books: BooksSeen, seen: list[Seen], kills: list[float]) -> None:
    assert books.intents == []
    assert {name: held for name, (_, held) in books.balances.items() if held} == {}
    assert books.balances["rich"][0] >= 0
    assert books.balances["small"][0] >= 0
    assert sum(books.charges.values()) == sum(row.cost for row in books.rows.values())
    wrong = [wrong for one in seen for wrong in _wrong(books, one, kills)]
    assert not wrong, f"{len(wrong)} of {len(seen)}:\n" + "\n".join(wrong[:20])


def _wrong(books: BooksSeen, seen: Seen, kills: list[float]) -> Iterator[str]:
    """What is wrong with one request, in words."""
    if seen.reply is None:
        return
    seen.check()
    row = books.rows.get(seen.id)
    if row is None:
        late = [kill for kill in kills if -0.1 < kill - seen.ended_at < 3]
        if seen.status == 200 or not late:
            yield f"no row: {_words(seen, kills)}"
        return
    if row.cost != books.charges.get(row.id, 0):
        yield f"the row says {row.cost}, the books {books.charges.get(row.id, 0)}: {row}"
    if row.cost != (cost(row.output, row.input) if row.source != "none" else 0):
        yield f"the cost is not that of the counts: {row}"
    if seen.status == 200:
        yield from (f"{what}: {row}\n   {_words(seen, kills)}" for what in _miscounted(row, seen, kills))


def _miscounted(row: RowSeen, seen: Seen, kills: list[float]) -> Iterator[str]:
    ask = seen.ask
    match row.outcome:
        case "completed":
            if (row.input, row.output, row.source) != (FRESH, ask.words, "upstream"):
                yield f"not {FRESH} and {ask.words} tokens"
        case "interrupted" if row.killed:
            killed_at = min((kill for kill in kills if kill > seen.ended_at - ROOM), default=seen.ended_at)
            least = tokens(seen.text(min(seen.ended_at, killed_at) - SECOND - ROOM))
            if killed_at - seen.ended_at > SECOND + ROOM and seen.whole:
                least = ask.words
            if ask.stream and killed_at - seen.sent_at > SECOND + 2 * ROOM and not row.input:
                yield "its prompt is free"
            if not least <= row.output <= tokens(seen.text()) + ask.rate * ROOM + 2:
                yield f"not {least} to {tokens(seen.text())} tokens"
        case "interrupted":
            if ask.cut_after is None or abs(row.output - tokens(seen.text())) > 2:
                yield f"not {tokens(seen.text())} tokens"
        case "client_closed":
            left_at = seen.left_at or seen.ended_at
            if ask.stream and not tokens(seen.text()) <= row.output <= ask.words * 2:
                yield f"not at least {tokens(seen.text())} tokens; the client left at {left_at}"
        case _:
            yield f"{row.outcome} with status 200"
    if seen.whole and row.outcome != "completed" and not row.killed:
        yield "the client has a whole answer"


_vocabulary = cache(load_vocabulary)


@cache
def tokens(text: str) -> int:
    return _vocabulary().count(text)


def _words(seen: Seen, kills: list[float]) -> str:
    reply = seen.reply
    assert reply is not None
    ended = "left" if seen.left_at else (reply.ended or Ended.TRUNCATED).value
    after = [f"{kill - seen.sent_at:.2f}" for kill in kills if kill > seen.sent_at - 1][:4]
    return (
        f"{seen.id} {seen.ask.caller.account} {seen.ask.side.name} {seen.ask.model} stream={seen.ask.stream}"
        f" status={seen.status} head after {reply.head_at:.2f},"
        f" {ended} after {seen.ended_at - seen.sent_at:.2f}; killed after {after}"
    )
