"""Keeps the sums of requests up to date in the background, beside all other processes that do the same."""

import asyncio
import logging
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NoReturn

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from tidegate.storage.buckets import forget_buckets, oldest_bucket, unused_combinations
from tidegate.storage.counting import (
    STEP,
    Counted,
    count_backlog,
    count_new,
    forget_unused,
    write_counted,
)
from tidegate.storage.database import Database, DatabaseUnusable, reason
from tidegate.storage.spans import LEVELS, Level
from tidegate.storage.uncounted import known, newest_number

log = logging.getLogger("tidegate.storage")

POLL = 1.0
"""Seconds between two looks whether there is anything to do."""

PATIENCE = 5.0
"""Seconds for which a few rows wait for more; until they are counted they are read with each question."""

PAUSE = 0.2
"""Seconds between two steps of a backlog: 5,000 rows a second at most.

A step takes half as many rows as others. They are of many minutes, so there are more buckets to write.
"""

_HURRY = 0.02
_AGAIN = 5.0
_FORGETTING = 600.0
_BUCKETS_AT_ONCE = 20
_COMBINATIONS_AT_ONCE = 500


class FigureKeeper:
    """Counts while it runs. Of several processes one at a time does the work, whichever comes first."""

    def __init__(self, database: Database, clock: Callable[[], float], *, step: int = STEP) -> None:
        """`clock` tells Unix seconds; `step` is how many new rows are counted at once."""
        self._database = database
        self._clock = clock
        self._step = step
        self._thread = ThreadPoolExecutor(1, "tidegate-figures")
        self._version: int | None = None
        self._counted_at = clock()
        self._forgotten_at = clock()
        self._failing = False

    async def run(self) -> NoReturn:
        """Count until cancelled."""
        while True:
            pause = await asyncio.get_running_loop().run_in_executor(self._thread, self._work)
            await asyncio.sleep(pause)

    def close(self) -> None:
        """Let go of the thread; a step that runs is written whole or not at all."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _work(self) -> float:
        try:
            pause = self.work()
        except (SQLAlchemyError, DatabaseUnusable) as error:
            if not self._failing:
                log.warning("figures: rows cannot be added up now, it is tried again: %s", reason(error))
            self._failing = True
            return _AGAIN
        except Exception:  # figures that stand still are less bad than a gateway without them
            log.exception("figures: unexpected error, it is tried again")
            return _AGAIN
        self._failing = False
        return pause

    def work(self) -> float:
        """Do one step of what is to be done, and tell how many seconds the next may wait."""
        now = self._clock()
        with self._database.connect_reader() as connection:
            found, newest = known(connection), newest_number(connection)
        waiting = newest - found.progress.reached
        others = self._version not in (None, found.version)
        self._version = found.version
        if others and waiting < 3 * self._step:
            return POLL + random.random() * POLL  # so that processes do not keep in step
        patient = now - self._counted_at < PATIENCE
        if waiting >= self._step or (not patient and (waiting > 0 or found.progress.gaps)):
            self._counted_at = now
            self._write(self._read(lambda connection: count_new(connection, now, self._step)), now)
            return _HURRY if waiting >= 2 * self._step else POLL
        if found.progress.backlog:
            counted = self._read(lambda connection: count_backlog(connection, now, self._step // 2))
            if counted is not None:
                self._write(counted, now)
                return PAUSE
        if now - self._forgotten_at > _FORGETTING:
            return self._forget(now)
        return POLL

    def _read(self, query: Callable[[Connection], Counted | None]) -> Counted | None:
        with self._database.connect_reader() as connection:
            return query(connection)

    def _write(self, counted: Counted | None, now: float) -> None:
        if counted is None or (not counted.rows and counted.after == counted.before):
            return
        with self._database.connect_writer() as connection, connection.begin():
            written = write_counted(connection, counted, now)
        self._version = counted.version + 1 if written else None

    def _forget(self, now: float) -> float:
        """Delete some of what is too old, the next level's with the next step."""
        for level in LEVELS:
            if self._forget_level(level, now):
                return PAUSE
        self._forgotten_at = now
        with self._database.connect_reader() as connection:
            found = known(connection)
            unused = unused_combinations(connection)
        if unused:
            with self._database.connect_writer() as connection, connection.begin():
                forget_unused(connection, unused[:_COMBINATIONS_AT_ONCE], found.version)
        return POLL

    def _forget_level(self, level: Level, now: float) -> bool:
        """Whether there was anything to delete."""
        with self._database.connect_reader() as connection:
            oldest = oldest_bucket(connection, level)
        if oldest is None or oldest >= level.oldest(now):
            return False
        before = min(level.oldest(now), oldest + level.seconds * _BUCKETS_AT_ONCE)
        with self._database.connect_writer() as connection, connection.begin():
            forget_buckets(connection, level, before)
        return True
