"""Keeps the catalog in force the one that file and database say, on every worker and node."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, TypeVar

from tidegate.config import Config
from tidegate.core.failure import TidegateError
from tidegate.managed.sealing import Vault
from tidegate.managed.state import Reading, State
from tidegate.storage.catalog import NOTHING_STORED, StoredCatalog, Task

log = logging.getLogger("tidegate.managed")

POLL_SECONDS = 1.0
"""How often each process looks whether another has changed something."""

T = TypeVar("T")


class Store(Protocol):
    """The stored catalog. A database that is away raises TidegateError."""

    async def version(self) -> int:
        """The number that every change raises."""

    async def all(self) -> StoredCatalog:
        """Every row."""

    async def change(self, task: Task[T]) -> T:
        """Do it in one transaction."""


class LiveCatalog:
    """The catalog of this process. `load` comes before everything else."""

    def __init__(self, config: Config, vault: Vault | None, store: Store, poll: float = POLL_SECONDS) -> None:
        self._file = config
        self._store = store
        self._poll = poll
        self._stored = NOTHING_STORED
        self._reading = Reading(vault)
        self._told: frozenset[str] = frozenset()
        self._apply: Callable[[Config], None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._away = False
        self.state: State = self._reading.merge(config, self._stored)

    @property
    def stored(self) -> StoredCatalog:
        """The rows that are in force."""
        return self._stored

    @property
    def reading(self) -> Reading:
        """What can open the sealed part of a row."""
        return self._reading

    async def load(self) -> None:
        """Read everything and put it in force. A database that is away raises TidegateError."""
        async with self._turn:  # what is read later is put in force later
            stored = await self._store.all()
            state, file = self.state, None
            while file is not self._file:  # the config file may be read again meanwhile
                file = self._file
                # Many new rows take a while to read: not on the event loop.
                state = await asyncio.to_thread(self._reading.merge, file, stored)
            self._stored = stored
            self._put_in_force(state)

    def watch(self, apply: Callable[[Config], None]) -> None:
        """Call `apply` with each config that comes into force, and look for changes from now on."""
        self._apply = apply
        self._watching = asyncio.create_task(self._watch())

    def reload(self, config: Config) -> None:
        """Put another config file in force at once."""
        self._file = config
        self._put_in_force(self._reading.merge(config, self._stored))

    async def change(self, task: Task[T]) -> T:
        """Do a change, and put it in force here before this returns."""
        done = await self._store.change(task)
        with suppress(TidegateError):  # it is done: that this process sees it a moment later is no failure
            await self.load()
        return done

    async def refresh(self) -> None:
        """See what others have changed; while the database is away nothing changes."""
        try:
            if await self._store.version() != self._stored.version:
                await self.load()
        except TidegateError as error:
            self._tell_away(error)
        else:
            self._tell_back()

    async def close(self) -> None:
        """Look no more."""
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._poll)
            try:
                await self.refresh()
            except Exception:
                log.exception("the stored catalog: unexpected error; the one in force stays")

    def _put_in_force(self, state: State) -> None:
        self.state = state
        for note in state.notes:
            if note not in self._told:
                log.warning("%s", note)
        self._told = frozenset(state.notes)
        if self._apply is not None:
            self._apply(state.config)

    def _tell_away(self, error: TidegateError) -> None:
        if not self._away:
            log.warning("the stored catalog cannot be read, the one in force stays: %s", error.failure.detail)
        self._away = True

    def _tell_back(self) -> None:
        if self._away:
            log.warning("the stored catalog can be read again")
        self._away = False
