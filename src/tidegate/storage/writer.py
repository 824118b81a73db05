"""Writes holds and rows in batches on a thread of its own, so that no request waits longer than it must."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from sqlalchemy import Connection

from tidegate.exchange.ports import RequestRecord
from tidegate.storage.accounting import Accounting
from tidegate.storage.batches import Batches, pace_of
from tidegate.storage.booking import Wanted
from tidegate.storage.database import Database, DatabaseUnusable
from tidegate.storage.items import Job, Noted, Release, Row, Sheet, Ticket
from tidegate.storage.probe import Probe
from tidegate.storage.refuge import Refuge
from tidegate.storage.scribe import Scribe
from tidegate.storage.waiting import Waiting
from tidegate.storage.watch import Watch

log = logging.getLogger("tidegate.storage")

WINDOW = 0.06
"""Seconds for which rows are gathered before they are written together. A hold does not wait for it."""

BOUND = 50_000
"""Rows that may wait in memory, some 60 MB; those beyond are lost, counted and logged."""

SLOW = 2.0
"""Seconds after which a database that does not answer counts as away."""

_LAST_TRIES = 10


class Writer:
    """The only writer of this process. Rows and jobs are done in the order in which they came."""

    def __init__(
        self,
        database: Database,
        *,
        window: float = WINDOW,
        bound: int = BOUND,
        accounting: Accounting | None = None,
        refuge: Refuge | None = None,
        greet: Callable[[Connection], None] = lambda _connection: None,
        clock: Callable[[], float] = time.time,
        workers: int = 1,
    ) -> None:
        """`greet` runs on each new connection and proves that the database can be written again.

        `workers` is how many processes of this machine write at once, this one included.
        Without a `refuge` on the disk all that comes while the database is away waits in memory.
        """
        self._bound = bound
        self._refuge = refuge
        self._waiting = waiting = Waiting(window)
        scribe = Scribe(database, accounting or Accounting(""), clock, greet)
        self._batches = Batches(
            waiting, scribe, refuge, lambda tell: Probe(database, greet, tell), pace_of(workers)
        )
        self._refused = 0
        self._watch = Watch(waiting, self._batches, refuge)
        self._thread = threading.Thread(target=self._batches.run, name="tidegate-writer", daemon=True)
        self._thread.start()

    @property
    def lost(self) -> int:
        """Rows that will never be written."""
        return self._refused + self._batches.dropped

    @property
    def waiting(self) -> int:
        """Rows, holds and jobs that wait in memory."""
        return len(self._waiting.queue) + len(self._waiting.holds)

    @property
    def full(self) -> bool:
        """Whether so much waits in memory that the rows of new requests might find no room."""
        return self.waiting >= self._bound // 2

    @property
    def spooled(self) -> int:
        """Rows and holds that wait on the disk."""
        return 0 if self._refuge is None else self._refuge.count

    @property
    def away(self) -> bool:
        """Whether the database failed, or has not answered for too long."""
        return self._batches.away or self.hangs

    @property
    def hangs(self) -> bool:
        """Whether a batch has been at the database for too long, and is there still."""
        since = self._batches.busy_since
        return since is not None and time.monotonic() - since > SLOW

    def put(self, sheet: Sheet, record: Any) -> None:
        """Take a row and return at once. Only from the event loop's thread."""
        if len(self._waiting.queue) >= self._bound or self._waiting.closing.is_set():
            self._refuse()
            return
        self._waiting.queue.append(Row(sheet, record))
        self._waiting.nudge()

    def hold(self, ticket: Ticket) -> None:
        """Take a hold, whose future is answered after its commit. Only from the event loop's thread."""
        self._waiting.holds.append(ticket)
        self._waiting.rush()

    def note(self, wanted: Wanted) -> None:
        """Take a hold that was granted already. It is not taken any more once its request has ended."""
        self._waiting.queue.append(Noted(wanted))
        self._waiting.nudge()

    def release(self, wanted: Wanted) -> None:
        """Give back the hold of a request that goes no further, if one has been taken."""
        self._waiting.queue.append(Release(wanted.id, wanted.account))
        self._waiting.nudge()

    def checkpoint(self, records: Sequence[RequestRecord]) -> None:
        """Note what open requests have used, soon."""
        self._waiting.add_checkpoints(records)
        self._waiting.nudge()

    def do(self, task: Callable[[Connection], Any] | None) -> "Future[Any]":
        """Run `task` in a transaction of its own after all rows put so far; its error is the future's."""
        done: Future[Any] = Future()
        if self._waiting.closing.is_set():
            done.set_exception(DatabaseUnusable("the database is closed"))
            return done
        self._waiting.queue.append(Job(task, done))
        self._waiting.rush()
        return done

    async def flush(self) -> None:
        """Return when every row put so far is written (or lost). Waits as long as the database is away."""
        await asyncio.wrap_future(self.do(None))

    async def close(self, patience: float = 10.0) -> None:
        """Write what waits, for `patience` seconds at most, and end the thread. Later rows are lost.

        While the database is away it is enough that they wait on the disk.
        """
        if not self._waiting.closing.is_set():
            flushed = asyncio.wrap_future(self.do(None))
            give_up_at = time.monotonic() + patience
            while not flushed.done() and time.monotonic() < give_up_at and not self._is_safe():
                await asyncio.wait([flushed], timeout=0.05)
            self._waiting.closing.set()
            self._waiting.rush()
            flushed.cancel()
        for _ in range(_LAST_TRIES):
            await asyncio.to_thread(self._thread.join, 1.0)
            if not self._thread.is_alive():
                break
            self._batches.interrupt(longer_than=1.0)
        await asyncio.to_thread(self._watch.stop)
        if not self._thread.is_alive():
            return
        log.error("journal: the database hangs and is left; what was on its way to it may be lost")

    def _is_safe(self) -> bool:
        return self._batches.away and self._refuge is not None and not self._waiting.queue

    def _refuse(self) -> None:
        self._refused += 1
        if str(self._refused).strip("0") == "1":  # the 1st, 10th, 100th … is told
            why = (
                "the database is closed"
                if self._waiting.closing.is_set()
                else f"{self._bound} rows wait already"
            )
            log.error("journal: a row is lost because %s (%d lost so far)", why, self._refused)
