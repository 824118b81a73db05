"""What one node finds out about a channel holds for all nodes on its Redis within a second."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.contract.counters.nodes import WITHIN, Node, nodes, told
from tests.harness.redis_server import RedisServer

from tidegate.routing.breaker import Cooling, Health, MayProbe, Ready, Rules
from tidegate.storage.cooldowns import CooldownSharing


class Teller:
    """A node's health and its sharing; its clock has nothing to do with any other's."""

    def __init__(self, node: Node, ahead: float, cooldown: float = 10) -> None:
        self.ahead = ahead
        self.health = Health(Rules(failures_before_cooldown=1, cooldown=cooldown))
        self.sharing = CooldownSharing(self.health, self.clock, link=node.link)
        self.sharing.open(lambda channel, model: channel != "unknown")

    def clock(self) -> float:
        return time.monotonic() + self.ahead

    def fail(self, channel: str = "a", retry_after: float | None = None) -> None:
        turn = self.health.begin(channel, "m", self.clock())
        assert turn is not None
        self.health.failed(turn, self.clock(), "timeout", retry_after)

    def standing(self, channel: str = "a") -> object:
        return self.health.standing(channel, "m", self.clock())

    async def until(self, kind: type, channel: str = "a") -> None:
        deadline = time.monotonic() + WITHIN
        while not isinstance(self.standing(channel), kind):
            assert time.monotonic() < deadline, self.standing(channel)
            await asyncio.sleep(0.02)


@asynccontextmanager
async def tellers(
    server: RedisServer, *, cooldown: float = 10
) -> AsyncIterator[tuple[Teller, Teller, list[Node]]]:
    async with nodes(server) as made:
        one, other = Teller(made[0], 0, cooldown), Teller(made[1], 1e6, cooldown)
        yield one, other, made
        await one.sharing.close()
        await other.sharing.close()


async def test_a_rest_and_its_end_reach_the_other_node(redis: RedisServer) -> None:
    async with tellers(redis, cooldown=4) as (one, other, _):
        one.fail("unknown")
        one.fail()
        await other.until(Cooling)
        standing = other.standing()
        assert isinstance(standing, Cooling)
        assert standing.until - other.clock() <= 4
        assert standing.why == "of 1 failure in a row, last: timeout"
        assert other.standing("unknown") == Ready()
        await other.until(MayProbe)
        probe = other.health.begin("a", "m", other.clock())
        assert probe is not None
        other.health.succeeded(probe)
        await one.until(Ready)


async def test_one_that_starts_later_hears_what_still_holds(redis: RedisServer) -> None:
    async with tellers(redis, cooldown=1) as (one, _, made):
        one.fail(retry_after=60)
        one.fail("b")
        await asyncio.sleep(1.4)
        late = Teller(made[1], -500)
        await late.until(Cooling)
        assert late.standing("b") == Ready()
        await late.sharing.close()


async def test_routing_goes_on_without_it_and_sharing_goes_on_with_it(redis: RedisServer) -> None:
    async with tellers(redis) as (one, other, made):
        redis.kill()
        while any(node.link.up for node in made):
            await asyncio.sleep(0.02)
        one.fail()
        assert isinstance(one.standing(), Cooling)
        await asyncio.sleep(0.4)
        assert other.standing() == Ready()
        redis.start()
        for node in made:
            await node.in_use()
        one.fail("b")
        await other.until(Cooling, "b")


async def test_the_stream_of_notices_ends_by_itself_and_stays_small(redis: RedisServer) -> None:
    async with tellers(redis) as (one, other, made):
        one.fail()
        await other.until(Cooling)
        assert int(redis.command("PTTL", "tidegate:{limits}:cooldowns")[1:]) <= 3_600_000
        for number in range(3000):
            one.fail(f"c{number}")
        one.sharing.look()
        await told(made[0].limits)
        assert int(redis.command("XLEN", "tidegate:{limits}:cooldowns")[1:]) < 1300


async def test_a_spoilt_notice_hurts_nobody(redis: RedisServer) -> None:
    async with tellers(redis) as (one, other, _):
        redis.command("XADD", "tidegate:{limits}:cooldowns", "*", "from", "x", "change", "garbage")
        redis.command("XADD", "tidegate:{limits}:cooldowns", "*", "other", "x")
        one.fail()
        await other.until(Cooling)
