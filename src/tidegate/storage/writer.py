"""Writes rows in batches on a thread of its own, so that no request waits for the database."""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeAlias

from msgspec import Struct
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from tidegate.storage.database import Database, DatabaseUnusable, insert_text, passes, reason
from tidegate.storage.migrate import bring_up_to_date

log = logging.getLogger("tidegate.storage")

WINDOW = 0.06
"""Seconds for which rows are gathered before they are written together."""

BOUND = 50_000
"""Rows that may wait while the database is away, some 60 MB; those beyond are lost, counted and logged."""

_LONGEST_BATCH = 512
# One statement for many rows: the driver lets go of the interpreter's lock at each statement and, while the
# event loop is busy, gets it back only after 5 ms. Row by row, the writer would fall behind a full load.
_ROWS_A_STATEMENT = 64
_FIRST_BACKOFF = 0.1
_LONGEST_BACKOFF = 5.0


class Sheet(Struct, frozen=True, kw_only=True):
    """A table that rows are added to. `encode` gives a record's values in the order of `columns`."""

    table: str
    columns: tuple[str, ...]
    on_conflict: str
    encode: Callable[[Any], Iterable[object]]
    mend: Callable[[Any], Any]
    """Makes a record that the database refuses into one that it can hold."""


class _Row(Struct, frozen=True):
    sheet: Sheet
    record: Any


class _Job(Struct, frozen=True):
    """Something else to do in the same order; None only tells that everything before it is done."""

    task: Callable[[Connection], Any] | None
    done: "Future[Any]"


_Item: TypeAlias = _Row | _Job


class Writer:
    """The only writer of this process: rows and jobs are done in the order in which they came."""

    def __init__(self, database: Database, *, window: float = WINDOW, bound: int = BOUND) -> None:
        self._database = database
        self._window = window
        self._file: tuple[int, int] | None = None
        self._bound = bound
        self._queue: deque[_Item] = deque()
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._closing = threading.Event()
        self._give_up = threading.Event()
        self._connection: Connection | None = None
        self._failing_since: float | None = None
        # One counter for each thread that counts, since `+=` on a shared one may miss a step.
        self._refused = 0
        self._dropped = 0
        self._thread = threading.Thread(target=self._run, name="tidegate-writer", daemon=True)
        self._thread.start()

    @property
    def lost(self) -> int:
        """Rows that will never be written."""
        return self._refused + self._dropped

    @property
    def waiting(self) -> int:
        """Rows and jobs that wait for their batch."""
        return len(self._queue)

    def put(self, sheet: Sheet, record: Any) -> None:
        """Take a row and return at once. Only from the event loop's thread."""
        if len(self._queue) >= self._bound or self._closing.is_set():
            self._refuse()
            return
        self._queue.append(_Row(sheet, record))
        if not self._wake.is_set():
            self._wake.set()

    def do(self, task: Callable[[Connection], Any] | None) -> "Future[Any]":
        """Run `task` in a transaction of its own after all rows put so far; its error is the future's."""
        done: Future[Any] = Future()
        if self._closing.is_set():
            done.set_exception(DatabaseUnusable("the database is closed"))
            return done
        self._queue.append(_Job(task, done))
        self._hurry.set()
        self._wake.set()
        return done

    async def flush(self) -> None:
        """Return when every row put so far is written (or lost). Waits as long as the database is away."""
        await asyncio.wrap_future(self.do(None))

    async def close(self, patience: float = 10.0) -> None:
        """Write what waits, for `patience` seconds at most, and end the thread. Later rows are lost."""
        if not self._closing.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self.flush(), patience)
            self._closing.set()
            self._give_up.set()
            self._hurry.set()
            self._wake.set()
        await asyncio.to_thread(self._thread.join)

    def _refuse(self) -> None:
        self._refused += 1
        if str(self._refused).strip("0") == "1":  # the 1st, 10th, 100th … is told
            why = "the database is closed" if self._closing.is_set() else f"{self._bound} rows wait already"
            log.error("journal: a row is lost because %s (%d lost so far)", why, self._refused)

    # What follows runs on the writer's thread.

    def _run(self) -> None:
        while self._queue or not self._closing.is_set():
            self._wake.wait()
            self._wake.clear()
            self._hurry.wait(self._window)
            self._hurry.clear()
            while self._queue:
                self._write_some()
        self._disconnect()

    def _write_some(self) -> None:
        """One batch: the rows up to the next job or the longest batch, then that job."""
        rows: list[_Row] = []
        job: _Job | None = None
        while job is None and len(rows) < _LONGEST_BATCH and self._queue:
            match self._queue.popleft():
                case _Row() as row:
                    rows.append(row)
                case _Job() as job:
                    pass
        if rows:
            try:
                self._write(rows)
            except Exception:
                log.exception("journal: unexpected error")
                self._drop(len(rows), "unexpected error")  # the thread must live on for the rows that follow
        if job is not None and job.done.set_running_or_notify_cancel():
            self._finish(job)

    def _write(self, rows: list[_Row], *, mended: bool = False) -> None:
        """Write the rows in one transaction, again and again while the database is away."""
        backoff = _FIRST_BACKOFF
        while True:
            try:
                self._commit(rows)
            except Exception as error:
                self._disconnect()
                if not passes(error):
                    self._write_refused(rows, error, mended=mended)
                    return
                self._tell_failure(error)
                if self._give_up.wait(backoff):
                    self._abandon(len(rows), error)
                    return
                backoff = min(backoff * 2, _LONGEST_BACKOFF)
            else:
                self._tell_recovery()
                return

    def _write_refused(self, rows: list[_Row], error: Exception, *, mended: bool) -> None:
        """Some row is not as the database wants it: write each by itself, so that no other is lost."""
        if len(rows) > 1:
            for row in rows:
                self._write([row])
        elif mended:
            self._drop(1, reason(error))
        else:
            try:
                better = [_Row(row.sheet, row.sheet.mend(row.record)) for row in rows]
            except Exception as unmendable:
                self._drop(1, f"{reason(error)}; {reason(unmendable)}")
            else:
                self._write(better, mended=True)

    def _abandon(self, rows: int, error: Exception) -> None:
        """The process ends and the database is still away: count what waits instead of trying each batch."""
        while self._queue:
            match self._queue.popleft():
                case _Row():
                    rows += 1
                case _Job(done=done) if done.set_running_or_notify_cancel():
                    done.set_exception(error)
                case _Job():
                    pass  # nobody waits for it any more
        self._drop(rows, reason(error))

    def _commit(self, rows: list[_Row]) -> None:
        statements = [statement for sheet in _sheets(rows) for statement in _statements(sheet, rows)]
        connection = self._connect()
        with connection.begin():
            for text, values in statements:
                connection.exec_driver_sql(text, values)

    def _finish(self, job: _Job) -> None:
        try:
            job.done.set_result(None if job.task is None else self._do(job.task))
        except Exception as error:
            self._disconnect()
            job.done.set_exception(error)

    def _do(self, task: Callable[[Connection], Any]) -> Any:
        connection = self._connect()
        with connection.begin():
            return task(connection)

    def _connect(self) -> Connection:
        if self._connection is not None and self._database.file() != self._file:
            log.error("journal: the file of the database was removed or replaced; rows go into a new one")
            self._disconnect()
            self._database.close()  # readers' connections too: they look at a file that nobody else can see
        if self._connection is None:
            if not self._database.exists():
                bring_up_to_date(self._database)
            self._connection = self._database.connect_writer()
            self._file = self._database.file()
        return self._connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError):  # it is given up because it failed: closing it may fail too
                connection.invalidate()
                connection.close()

    def _drop(self, rows: int, why: str) -> None:
        self._dropped += rows
        log.error("journal: %d rows are lost: %s", rows, why)

    def _tell_failure(self, error: Exception) -> None:
        if self._failing_since is None:
            self._failing_since = time.monotonic()
            log.warning(
                "journal: the database cannot be written, rows are kept and tried again: %s", reason(error)
            )

    def _tell_recovery(self) -> None:
        if self._failing_since is not None:
            seconds = time.monotonic() - self._failing_since
            self._failing_since = None
            log.warning(
                "journal: the database is written again after %.1f s; rows lost: %d", seconds, self.lost
            )


def _sheets(rows: list[_Row]) -> list[Sheet]:
    """The sheets of the rows, each once."""
    return list({id(row.sheet): row.sheet for row in rows}.values())


def _statements(sheet: Sheet, rows: list[_Row]) -> list[tuple[str, tuple[object, ...]]]:
    encoded = [sheet.encode(row.record) for row in rows if row.sheet is sheet]
    statements = []
    for start in range(0, len(encoded), _ROWS_A_STATEMENT):
        part = encoded[start : start + _ROWS_A_STATEMENT]
        text = _insert(sheet.table, sheet.columns, len(part), sheet.on_conflict)
        statements.append((text, tuple(value for row in part for value in row)))
    return statements


_insert = lru_cache(maxsize=4 * _ROWS_A_STATEMENT)(insert_text)
