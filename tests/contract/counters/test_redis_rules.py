"""Redis decides as the rules in routing.quota do, whatever it finds stored."""

import random
import time

import pytest
from tests.contract.counters.nodes import about, admitted, nodes, scope
from tests.harness.redis_server import RedisServer

from tidegate.routing.quota import Admitted, Scope
from tidegate.storage.counters import LocalCounters
from tidegate.storage.scope_table import ScopeTable

RATE = "tidegate:{limits}:rate:key:k"


def drawn(chance: random.Random, number: int) -> Scope:
    """Limits that refill so slowly that a moment more or less changes nothing."""
    return Scope(
        name=f"{chance.choice(('key', 'account'))}:{number}",
        max_concurrency=chance.choice((None, 1, 2, 5)),
        requests_per_minute=chance.choice((None, 1, 2, 3)),
        tokens_per_minute=chance.choice((None, 1, 2, 3)),
    )


@pytest.mark.parametrize("seed", range(8))
async def test_redis_and_memory_say_the_same(shared_redis: RedisServer, seed: int) -> None:
    shared_redis.command("FLUSHALL")
    chance = random.Random(seed)
    scopes = [drawn(chance, number) for number in range(4)]
    local = LocalCounters(ScopeTable(1, slots=256), None, 0, time.monotonic)
    async with nodes(shared_redis, 1) as [node]:
        running: list[tuple[str, list[Scope], int]] = []
        for number in range(120):
            if running and chance.random() < 0.4:
                request_id, asked, estimated = running.pop(chance.randrange(len(running)))
                used = chance.choice((0, 1, estimated, 2 * estimated))
                node.limits.finish(request_id, asked, estimated, used)
                local.finish(request_id, asked, estimated, used)
                node.limits._tell()  # at once, in order with what is asked next
                continue
            request_id, asked, tokens = f"r{number}", chance.sample(scopes, 2), chance.choice((0, 1, 2, 4))
            theirs = await node.limits.admit(request_id, asked, tokens)
            ours = local.admit_now(request_id, asked, tokens)
            assert node.link.up
            assert type(theirs) is type(ours), (theirs, ours)
            if isinstance(theirs, Admitted):
                running.append((request_id, asked, tokens))
            elif not isinstance(ours, Admitted):
                # Of limits that take equally long either may be told.
                assert theirs.retry_after == pytest.approx(ours.retry_after, abs=0.5)


@pytest.mark.parametrize("spoilt", ["nan", "inf", "-5", "1e300", "words", ""])
async def test_what_cannot_be_true_is_nothing_in_use(shared_redis: RedisServer, spoilt: str) -> None:
    shared_redis.command("FLUSHALL")
    shared_redis.command("HSET", RATE, "s", spoilt, "r", spoilt, "t", spoilt)
    async with nodes(shared_redis, 1) as [node]:
        verdict = admitted(
            await node.limits.admit("r1", [scope(requests_per_minute=10, tokens_per_minute=10)], 1)
        )
        assert verdict.levels.requests == about(10, 9, 6)
        assert verdict.levels.tokens == about(10, 9, 6)
        assert node.link.up


async def test_a_clock_of_redis_that_goes_back_makes_nobody_wait_longer(shared_redis: RedisServer) -> None:
    shared_redis.command("FLUSHALL")
    ahead = f"{time.time() + 3600:.6f}"
    shared_redis.command("HSET", RATE, "s", ahead, "r", "30", "t", "0")
    shared_redis.command("ZADD", "tidegate:{limits}:open:key:k", ahead, "from-then")
    async with nodes(shared_redis, 1) as [node]:
        scopes = [scope(requests_per_minute=60, max_concurrency=1)]
        verdict = admitted(await node.limits.admit("r1", scopes, 1))
        assert verdict.levels.requests == about(60, 29, 31)
        stored = shared_redis.command("ZRANGE", "tidegate:{limits}:open:key:k", "0", "-1")
        assert b"from-then" not in stored
