"""What processes share: memory between the workers of one machine, Redis between nodes."""

import mmap
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from tidegate.admin.throttle import SLOTS as FAILURE_SLOTS
from tidegate.core.secret import Secret
from tidegate.exchange.ports import Limits
from tidegate.observe.board import CountsBoard
from tidegate.routing.breaker import Health
from tidegate.storage.cooldown_board import CooldownBoard
from tidegate.storage.cooldowns import CooldownSharing
from tidegate.storage.counters import LocalCounters
from tidegate.storage.process_lock import ProcessLock
from tidegate.storage.scope_table import ScopeTable

if TYPE_CHECKING:
    from tidegate.storage.redis_counters import RedisCounters
    from tidegate.storage.redis_link import RedisLink


class Place(Struct, frozen=True):
    """A worker's place in what it shares with the others."""

    memory: "SharedMemory"
    number: int

    @property
    def workers(self) -> int:
        """How many there are."""
        return self.memory.workers


def alone() -> Place:
    """The place of a process that shares with nobody."""
    return SharedMemory(1).place(0)


class SharedMemory:
    """Made once before the fork; a process that is alone needs no locks, and nobody to tell anything."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.made_at = time.time()
        self.table = ScopeTable(workers)
        self._served = mmap.mmap(-1, 1)
        self.lock = ProcessLock() if workers > 1 else None
        self.counts = CountsBoard(workers)
        self.failures = ScopeTable(1, FAILURE_SLOTS)
        self.board = CooldownBoard(ProcessLock()) if workers > 1 else None

    @property
    def served(self) -> bool:
        """Whether any worker has ever accepted connections."""
        return self._served[0] != 0

    def note_served(self) -> None:
        """A worker accepts connections."""
        self._served[0] = 1

    def place(self, number: int) -> Place:
        """The place of a worker, by its number from 0."""
        return Place(self, number)

    def wipe(self, number: int) -> None:
        """A worker has died: what it had open is free again."""
        self.counters(number)
        self.counts.bury(number)

    def counters(self, number: int) -> LocalCounters:
        """A worker's counters; what an earlier one left open under the number is wiped out."""
        return LocalCounters(self.table, self.lock, number, time.monotonic)


class Sharing:
    """One process's limits and cooldowns, shared with whom there is to share with."""

    def __init__(self, health: Health, redis: Secret | None, place: Place) -> None:
        local = place.memory.counters(place.number)
        self.health = health
        self._redis = None if redis is None else _on_redis(redis, local)
        self.limits: Limits = local if self._redis is None else self._redis.counters
        link = None if self._redis is None else self._redis.link
        self._cooldowns = CooldownSharing(health, time.monotonic, board=place.memory.board, link=link)

    def redis_up(self) -> bool | None:
        """Whether Redis is in use; None where none is configured."""
        return None if self._redis is None else self._redis.link.up

    def redis_trouble(self) -> str | None:
        """Why Redis is not in use, in words for the operator."""
        return None if self._redis is None else self._redis.link.state.why

    async def open(self, serves: Callable[[str, str], bool]) -> None:
        """Begin; a Redis that is away is looked for in the background.

        `serves` says whether a channel with an upstream model is known here: other nodes may know more.
        """
        if self._redis is not None:
            await self._redis.counters.open()
            await self._redis.link.open()
        self._cooldowns.open(serves)

    async def close(self) -> None:
        """Tell the others what is left to be told, and stop."""
        await self._cooldowns.close()
        if self._redis is not None:
            await self._redis.counters.close()
            await self._redis.link.close()


class _OnRedis(Struct, frozen=True):
    link: "RedisLink"
    counters: "RedisCounters"


def _on_redis(url: Secret, local: LocalCounters) -> _OnRedis:
    # The library takes 150 ms to load and 6 MB of each process: only those pay for it that use it.
    from tidegate.storage.redis_counters import RedisCounters
    from tidegate.storage.redis_link import RedisLink

    link = RedisLink(url)
    return _OnRedis(link, RedisCounters(link, local))
