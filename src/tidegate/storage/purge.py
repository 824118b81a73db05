"""Deletes what is too old, a little at a time, so that nothing else waits for it."""

import asyncio
import logging
from collections.abc import Callable
from typing import NoReturn

from sqlalchemy import Connection, delete, select, tuple_
from sqlalchemy.exc import SQLAlchemyError

from tidegate.ledger.periods import period_of
from tidegate.storage.database import DatabaseUnusable, reason
from tidegate.storage.oldest import delete_oldest, oldest
from tidegate.storage.rows import to_microseconds
from tidegate.storage.schema import audit, contents, owned_ids, requests, spending
from tidegate.storage.writer import Writer

log = logging.getLogger("tidegate.storage")

STEP = 500
"""Rows deleted in one transaction: some milliseconds of the write lock."""

PAUSE = 0.1
"""Seconds between two steps: 5,000 rows a second at most, more than a gateway adds."""

PERIOD = 600.0
"""Seconds between two sweeps."""

SPENDING_KEPT = 70 * 86_400
"""Seconds for which it is kept what a budget's day or month has spent: longer than any request runs."""


class Purge:
    """Keeps the tables from growing for ever. Several workers may sweep at once: a row is deleted by one."""

    def __init__(
        self,
        writer: Writer,
        retention: float,
        clock: Callable[[], float],
        *,
        step: int = STEP,
        pause: float = PAUSE,
        contents: Callable[[], float] = lambda: 0,
        audit: Callable[[], float] = lambda: 0,
    ) -> None:
        """`retention` is how many seconds a request's row is kept; 0 keeps it for ever.

        `contents` tells for how many seconds what requests said is kept; 0: as long as their rows.
        `audit` tells the same of the audit log; 0: for ever.
        """
        self._audit = audit
        self._writer = writer
        self._retention = retention
        self._clock = clock
        self._step = step
        self._pause = pause
        self._contents = contents

    async def run(self) -> NoReturn:
        """Sweep now and then until cancelled."""
        while True:
            await self.sweep()
            await asyncio.sleep(PERIOD)

    async def sweep(self) -> int:
        """Delete all that is too old now and tell how many rows. A failing database is left for next time."""
        deleted = 0
        now = self._clock()
        tasks = [
            delete_expired_ids(int(now), self._step),
            delete_spending(period_of(now - SPENDING_KEPT, "day").key, self._step),
        ]
        # One whose row was never written does not go with a row, so it goes by its own age.
        limits = [limit for limit in (self._contents(), self._retention) if limit > 0]
        if limits:
            before = to_microseconds(now - min(limits))
            tasks.append(delete_oldest(contents.c.id, contents.c.captured_at, before, self._step))
        if (kept := self._audit()) > 0:
            before = to_microseconds(now - kept)
            tasks.append(delete_oldest(audit.c.number, audit.c.at, before, self._step))
        if self._retention > 0:
            tasks.append(delete_requests(to_microseconds(now - self._retention), self._step))
        for task in tasks:
            try:
                deleted += await self._repeat(task)
            except (SQLAlchemyError, DatabaseUnusable) as error:
                log.warning(
                    "purge: old rows could not be deleted, the next sweep tries again: %s", reason(error)
                )
        return deleted

    async def _repeat(self, task: Callable[[Connection], int]) -> int:
        total = 0
        while True:
            deleted: int = await asyncio.wrap_future(self._writer.do(task))
            total += deleted
            if deleted < self._step:
                return total
            await asyncio.sleep(self._pause)


def delete_requests(before: int, limit: int) -> Callable[[Connection], int]:
    """Deletes the oldest requests that began before `before` (microseconds), at most `limit`.

    What they said goes with them.
    """
    old = oldest(requests.c.seq, requests.c.created_at, before, limit)
    statement = delete(requests).where(requests.c.seq.in_(old)).returning(requests.c.id)

    def work(connection: Connection) -> int:
        gone = connection.execute(statement).scalars().all()
        if gone:
            connection.execute(delete(contents).where(contents.c.id.in_(gone)))
        return len(gone)

    return work


def delete_expired_ids(now: int, limit: int) -> Callable[[Connection], int]:
    """Deletes the stored responses' ids that have expired at `now` (seconds), at most `limit`."""
    expired = (
        select(owned_ids.c.id, owned_ids.c.account)
        .where(owned_ids.c.expires_at <= now)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    statement = delete(owned_ids).where(tuple_(owned_ids.c.id, owned_ids.c.account).in_(expired))
    return lambda connection: connection.execute(statement).rowcount


def delete_spending(before: str, limit: int) -> Callable[[Connection], int]:
    """Deletes lines of days and months before the day `before`, at most `limit`. The postings stay."""
    place = (spending.c.account, spending.c.scope, spending.c.period)
    # A month sorts before its days: "2026-11" < "2026-11-01".
    old = select(*place).where(spending.c.period < before[:7]).limit(limit)
    statement = delete(spending).where(tuple_(*place).in_(old))
    return lambda connection: connection.execute(statement).rowcount
