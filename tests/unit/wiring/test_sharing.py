"""What processes share, and who is alone."""

import asyncio
import time
from pathlib import Path

import pytest
from tests.harness.gateway import free_port
from tests.harness.redis_server import RedisServer

from tidegate.core.secret import Secret
from tidegate.routing.breaker import Cooling, Health, Rules
from tidegate.routing.quota import Admitted, Limited, Scope
from tidegate.storage.cooldowns import EVERY
from tidegate.wiring.sharing import SharedMemory, Sharing, alone

PLACES = [Scope(name="key:k", max_concurrency=2)]


def sharing(memory: SharedMemory | None = None, number: int = 0, redis: Secret | None = None) -> Sharing:
    rules = Rules(failures_before_cooldown=1)
    return Sharing(Health(rules), redis, memory.place(number) if memory else alone())


def everything(_channel: str, _model: str) -> bool:
    return True


async def test_one_process_alone_has_limits_and_no_redis() -> None:
    one = sharing()
    await one.open(everything)
    assert isinstance(await one.limits.admit("r1", PLACES, 0), Admitted)
    assert isinstance(await one.limits.admit("r2", PLACES, 0), Admitted)
    assert isinstance(await one.limits.admit("r3", PLACES, 0), Limited)
    assert (one.redis_up(), one.redis_trouble()) == (None, None)
    await one.close()


async def test_workers_share_limits_and_cooldowns() -> None:
    memory = SharedMemory(2)
    one, other = sharing(memory, 0), sharing(memory, 1)
    await one.open(everything)
    await other.open(everything)
    await one.limits.admit("r1", PLACES, 0)
    await other.limits.admit("r2", PLACES, 0)
    assert isinstance(await one.limits.admit("r3", PLACES, 0), Limited)
    turn = one.health.begin("a", "m", time.monotonic())
    assert turn is not None
    one.health.failed(turn, time.monotonic(), "timeout")
    async with asyncio.timeout(60):
        while not isinstance(other.health.standing("a", "m", time.monotonic()), Cooling):
            await asyncio.sleep(EVERY / 5)
    memory.wipe(0)
    assert isinstance(await other.limits.admit("r3", PLACES, 0), Admitted)
    await one.close()
    await other.close()


async def test_a_redis_that_is_away_is_told_and_costs_no_request(tmp_path: Path) -> None:
    port = free_port()
    one = sharing(redis=Secret(f"redis://:hunter2@127.0.0.1:{port}/0"))
    await one.open(everything)
    assert one.redis_up() is False
    trouble = one.redis_trouble()
    assert trouble is not None
    assert "hunter2" not in trouble
    assert isinstance(await one.limits.admit("r1", PLACES, 0), Admitted)
    server = RedisServer(tmp_path, "--requirepass", "hunter2", port=port)
    try:
        async with asyncio.timeout(60):
            while not one.redis_up():
                await asyncio.sleep(0.02)
        assert one.redis_trouble() is None
        await one.close()
    finally:
        server.stop()


@pytest.mark.parametrize("workers", [1, 8])
def test_memory_is_made_once_and_small(workers: int) -> None:
    memory = SharedMemory(workers)
    assert (memory.lock is None) is (workers == 1)
    assert (memory.board is None) is (workers == 1)
