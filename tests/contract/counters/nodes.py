"""Two counters that share, of every kind there is."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.harness.redis_server import RedisServer

from tidegate.core.secret import Secret
from tidegate.exchange.ports import Limits
from tidegate.routing.quota import Admitted, Level, Limited, Scope, Verdict
from tidegate.storage.counters import LocalCounters
from tidegate.storage.process_lock import ProcessLock
from tidegate.storage.redis_counters import RedisCounters
from tidegate.storage.redis_link import RedisLink
from tidegate.storage.scope_table import ScopeTable

WITHIN = 30.0
"""Seconds in which things come about, on a machine that is busy with something else."""


class Node:
    """A process with its counters on a Redis; its own memory is nobody else's."""

    def __init__(self, url: str) -> None:
        self.link = RedisLink(Secret(url))
        table = ScopeTable(1, slots=1024)
        self.limits = RedisCounters(self.link, LocalCounters(table, None, 0, time.monotonic))

    async def open(self) -> None:
        await self.limits.open()
        await self.link.open()

    async def in_use(self) -> None:
        """Wait until Redis is."""
        async with asyncio.timeout(WITHIN):
            while not self.link.up:
                await asyncio.sleep(0.01)

    async def close(self) -> None:
        await self.limits.close()
        await self.link.close()


@asynccontextmanager
async def nodes(server: RedisServer, count: int = 2) -> AsyncIterator[list[Node]]:
    """So many nodes on one Redis, which is in use."""
    made = [Node(server.url) for _ in range(count)]
    try:
        for node in made:
            await node.open()
            await node.in_use()
        yield made
    finally:
        for node in made:
            await node.close()


async def told(*pair: Limits) -> None:
    """Return when everybody knows what has ended: Redis is told in batches."""
    for one in pair:
        if isinstance(one, RedisCounters):
            async with asyncio.timeout(WITHIN):
                while one._telling is not None or one._link._asked:
                    await asyncio.sleep(0.01)


def siblings() -> tuple[Limits, Limits]:
    """Two workers of one machine."""
    table, lock = ScopeTable(2, slots=1024), ProcessLock()
    one, other = (LocalCounters(table, lock, worker, time.monotonic) for worker in range(2))
    return one, other


def alone() -> tuple[Limits, Limits]:
    """One process without a lock, under two names."""
    one = LocalCounters(ScopeTable(1, slots=1024), None, 0, time.monotonic)
    return one, one


def scope(name: str = "key:k", **limits: int) -> Scope:
    return Scope(name=name, **limits)


def admitted(verdict: Verdict) -> Admitted:
    assert isinstance(verdict, Admitted), verdict
    return verdict


def limited(verdict: Verdict) -> Limited:
    assert isinstance(verdict, Limited), verdict
    return verdict


def about(limit: int, remaining: int, reset: float, within: float = 5) -> Level:
    """A level that is equal to all with that reset, or one of some seconds later."""
    return Level(limit, remaining, pytest.approx(reset, abs=within))  # type: ignore[arg-type]
