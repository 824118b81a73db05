"""What can be done to a gateway, its database and its Redis while people use it."""

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from functools import partial
from pathlib import Path
from typing import TypeVar

from tests.harness import settings
from tests.harness.gateway import Gateway, environment
from tests.harness.postgres_server import PostgresServer
from tests.harness.redis_server import RedisServer

_HANDS = ThreadPoolExecutor(1, "chaos")
"""One thread to the end: the servers that it starts end with the thread that started them."""

Step = Callable[[], Awaitable[None]]
Result = TypeVar("Result")

Trouble = Callable[[], AbstractContextManager[None]]
"""Begins some trouble, and ends it again."""


def kill_everything(gateway: Gateway) -> None:
    """The supervisor first, so that nobody is replaced."""
    for pid in (gateway.process.pid, *gateway.workers()):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    gateway.process.wait(30)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another process has the write lock of a SQLite file."""
    other = sqlite3.connect(path, isolation_level=None, timeout=30, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


@contextmanager
def stopped(server: PostgresServer, number: signal.Signals) -> Iterator[None]:
    server.stop(number)
    try:
        yield
    finally:
        server.start()


@contextmanager
def redis_frozen(server: RedisServer) -> Iterator[None]:
    server.freeze()
    try:
        yield
    finally:
        server.thaw()


@contextmanager
def redis_gone(server: RedisServer) -> Iterator[None]:
    server.kill()
    try:
        yield
    finally:
        server.start()


async def _nothing() -> None:
    """The trouble alone is enough."""


async def by_hand(task: Callable[[], Result]) -> Result:
    """Do what blocks beside the event loop."""
    return await asyncio.get_running_loop().run_in_executor(_HANDS, task)


class Chaos:
    """One thing after another, chosen by `rng`, and when processes were killed."""

    def __init__(
        self, config: settings.Config, folder: Path, rng: random.Random, troubles: list[Trouble]
    ) -> None:
        self.kills: list[float] = []
        """Monotonic."""
        self.told: list[str] = []
        self.gateway = self._start(config, folder)
        self._began = time.monotonic()
        self._again = lambda: self._start(config, folder)
        self._rng = rng
        self._troubles = troubles

    @staticmethod
    def _start(config: settings.Config, folder: Path) -> Gateway:
        gateway = Gateway(config, folder, "--workers", "2")
        try:
            return gateway.wait_ready()
        except AssertionError:
            kill_everything(gateway)
            raise

    def tell(self, what: str) -> None:
        self.told.append(f"{time.monotonic() - self._began:6.2f} {what}")

    async def everything(self) -> None:
        """Kills without trouble; each trouble alone, with a killed worker, or with all killed."""
        steps: list[Step] = [self._worker, self._all]
        kinds: list[Step] = [_nothing, self._worker, self._all_but_start]
        self._rng.shuffle(kinds)
        for number in range(max(len(kinds), len(self._troubles))):
            trouble = self._troubles[number % len(self._troubles)]
            steps.append(partial(self._trouble, trouble, kinds[number % len(kinds)]))
        self._rng.shuffle(steps)
        for step in steps:
            await asyncio.sleep(self._rng.uniform(0.2, 1.0))
            await step()

    async def _worker(self) -> None:
        with suppress(ProcessLookupError, IndexError):
            os.kill(self._rng.choice(self.gateway.workers()), signal.SIGKILL)
            self.kills.append(time.monotonic())
            self.tell("a worker is killed")

    async def _all_but_start(self) -> None:
        self.kills.append(time.monotonic())
        self.tell("all is killed")
        await by_hand(lambda: kill_everything(self.gateway))

    async def _all(self) -> None:
        await self._all_but_start()
        await self._restart()

    async def _restart(self) -> None:
        self.gateway = await by_hand(self._again)
        self.tell("all is started again")

    async def _trouble(self, trouble: Trouble, meanwhile: Step) -> None:
        async with self._within(trouble):
            await asyncio.sleep(self._rng.uniform(0.1, 2.5))
            await meanwhile()
            await asyncio.sleep(self._rng.uniform(0.0, 0.7))
        if self.gateway.process.poll() is not None:
            await self._restart()

    def _within(self, trouble: Trouble) -> AbstractAsyncContextManager[None]:
        @asynccontextmanager
        async def within() -> AsyncIterator[None]:
            context = trouble()
            name = getattr(trouble, "func", trouble).__name__
            await by_hand(context.__enter__)
            self.tell(f"trouble: {name}")
            try:
                yield
            finally:
                await by_hand(lambda: context.__exit__(None, None, None))
                self.tell("the trouble is over")

        return within()


def verified(gateway: Gateway) -> None:
    """`tidegate ledger verify` finds that the books add up."""
    command = [sys.executable, "-m", "tidegate", "ledger", "verify", "--config", str(gateway.config_path)]
    checked = subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
