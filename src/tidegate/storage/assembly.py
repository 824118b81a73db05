"""Opens the storage as one thing and closes it in order."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import NoReturn

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from tidegate.storage.database import Database
from tidegate.storage.journal import BatchedJournal
from tidegate.storage.journal_query import JournalReader
from tidegate.storage.migrate import bring_up_to_date
from tidegate.storage.ownership import RememberedOwnership
from tidegate.storage.purge import Purge
from tidegate.storage.schema import requests
from tidegate.storage.writer import Writer

_READY_SECONDS = 1.0


class Storage:
    """The open database of one process. Open it after a fork, in the process that uses it."""

    def __init__(self, database: Database, retention: float, clock: Callable[[], float]) -> None:
        """Needs a running event loop; the database must be up to date (`open_storage` sees to both)."""
        self._database = database
        self._writer = Writer(database)
        # Long reads of operators must not hold up the look-ups of requests.
        self._reads = ThreadPoolExecutor(2, "tidegate-reads")
        self._lookups = ThreadPoolExecutor(1, "tidegate-lookups")
        self.journal = BatchedJournal(self._writer)
        self.ownership = RememberedOwnership(database, self._writer, self._lookups, clock=clock)
        self.requests = JournalReader(database, self._reads, self._writer.flush)
        self._purge: asyncio.Task[NoReturn] = asyncio.create_task(Purge(self._writer, retention, clock).run())

    @property
    def lost(self) -> int:
        """Rows that could not be kept since the start."""
        return self._writer.lost

    @property
    def waiting(self) -> int:
        """Rows that are not in the database yet."""
        return self._writer.waiting

    async def ready(self) -> bool:
        """Whether the database answers within a second."""
        try:
            look = asyncio.get_running_loop().run_in_executor(self._lookups, self._look)
            await asyncio.wait_for(look, _READY_SECONDS)
        except (SQLAlchemyError, TimeoutError):
            return False
        return True

    def _look(self) -> None:
        with self._database.engine.connect() as connection:
            connection.execute(select(requests.c.seq).limit(1)).first()

    async def close(self, patience: float = 10.0) -> None:
        """Write what waits, for `patience` seconds at most, then let go of the database."""
        self._purge.cancel()
        with suppress(asyncio.CancelledError):
            await self._purge
        await self._writer.close(patience)
        self._reads.shutdown(wait=False, cancel_futures=True)
        self._lookups.shutdown(wait=False, cancel_futures=True)
        self._database.close()


async def open_storage(url: str, retention: float, *, clock: Callable[[], float] = time.time) -> Storage:
    """Open the database that `url` names and bring its tables up to date.

    `retention` is how many seconds a request's row is kept, 0 for ever. A database that cannot be used raises
    DatabaseUnusable with a text for the operator.
    """
    database = Database(url)
    await asyncio.to_thread(bring_up_to_date, database)
    return Storage(database, retention, clock)
