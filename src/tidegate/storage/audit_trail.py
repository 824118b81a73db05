"""Reads and adds to the audit log of a running gateway."""

import asyncio
import logging
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any

from tidegate.storage import reading
from tidegate.storage.audit import Author, Deed, Noted, Wanted, note, read
from tidegate.storage.database import Database
from tidegate.storage.writer import Writer

log = logging.getLogger("tidegate.storage")


class AuditTrail:
    """The audit log of one process."""

    def __init__(self, database: Database, writer: Writer, threads: Executor) -> None:
        """`threads` read; what is written goes through the process's one writer."""
        self._database = database
        self._writer = writer
        self._threads = threads
        self.retention = 0.0
        """Seconds for which a row is kept; zero: for ever."""

    async def page(self, wanted: Wanted, *, limit: int, before: int | None) -> tuple[Noted, ...]:
        """As `read`; raises DatabaseUnusable while the database is away."""
        query = partial(read, wanted=wanted, limit=limit, before=before)
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, reading.read, self._database, query, reading.no_database
        )

    def tell(self, author: Author, deed: Deed) -> None:
        """Add a row soon, and return at once. What cannot be written stands in the log of the process."""
        done = self._writer.do(partial(note, author=author, deed=deed))
        done.add_done_callback(partial(_tell_failure, author, deed))


def _tell_failure(author: Author, deed: Deed, done: "Future[Any]") -> None:
    """With all that the row would have said: it stands nowhere else."""
    error = None if done.cancelled() else done.exception()
    if error is not None:
        who = f"{author.operator} (by {author.via.value}, from {author.address})"
        what = f"{deed.action} of {deed.kind}, name {deed.name}, {dict(deed.changes)}"
        log.warning("audit: a row is lost: %s: %s: %s", who, what, error)
