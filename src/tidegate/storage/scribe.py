"""Writes one batch after another on one connection, and finds out which entry the database refuses."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from tidegate.ledger.books import chargeable
from tidegate.ledger.entries import Answer, Unavailable
from tidegate.ledger.money import usd
from tidegate.storage.accounting import Accounting, Batch, Booked
from tidegate.storage.booking import Wanted
from tidegate.storage.database import Database, interrupter, passes, reason
from tidegate.storage.items import Entry, Noted, Release, Row, Sheet
from tidegate.storage.migrate import bring_up_to_date
from tidegate.storage.rows import to_microseconds
from tidegate.storage.statements import Inexact, Statements

log = logging.getLogger("tidegate.storage")

UNBILLED = "clamped:cost"
"""The warning of a row whose cost could not be charged."""

_REFUSED = Unavailable("the database refuses this hold", 1.0)


class Scribe:
    """The one connection of a process for writing. Only the writer's thread uses it."""

    def __init__(
        self,
        database: Database,
        accounting: Accounting,
        clock: Callable[[], float],
        greet: Callable[[Connection], None],
    ) -> None:
        """`greet` runs in a transaction of its own on each new connection; `clock` tells Unix seconds."""
        self._database = database
        self._accounting = accounting
        self._clock = clock
        self._greet = greet
        self._connection: Connection | None = None
        self._file: tuple[int, int] | None = None
        self._interrupt: Callable[[], None] = _nothing
        self.dropped = 0
        """Rows that the database refused for good."""

    def write(self, entries: Sequence[Entry], holds: Sequence[Wanted]) -> list[Answer]:
        """Commit all in one transaction and answer the holds.

        An entry that the database refuses is mended, or dropped alone. Raises what `passes`: then some of the
        entries may have been written, and all can be written again.
        """
        try:
            return self._commit(entries, holds)
        except Exception as error:
            self.disconnect()
            if passes(error):
                raise
            if len(entries) + len(holds) == 1:
                return self._refused(entries, holds, error)
        for entry in entries:
            self.write([entry], [])
        return [answer for hold in holds for answer in self.write([], [hold])]

    def _refused(self, entries: Sequence[Entry], holds: Sequence[Wanted], error: Exception) -> list[Answer]:
        if holds:
            log.error("books: a hold is refused by the database: %s", reason(error), exc_info=error)
            return [_REFUSED]
        match entries[0]:
            case Row() as row:
                self._write_otherwise(row, error)
            case Noted() | Release():
                log.error("books: a hold cannot be written: %s", reason(error), exc_info=error)
        return []

    def _write_otherwise(self, row: Row, error: Exception) -> None:
        """Write a row that the database refuses in a form that it takes; else free its hold and drop it."""
        for form in (_mended, _unbilled) if row.sheet.settles else (_mended,):
            try:
                self._commit([form(row)], [])
            except Exception as again:
                self.disconnect()
                if passes(again):
                    raise
                error = again
            else:
                if form is _unbilled:
                    cost = usd(chargeable(row.record.cost))
                    log.error("books: %s: %s USD are not charged: %s", row.record.id, cost, reason(error))
                return
        if row.sheet.settles:
            self.write([Release(row.record.id)], [])
        self.dropped += 1
        log.error("journal: 1 rows are lost: %s", reason(error))

    def do(self, task: Callable[[Connection], Any]) -> Any:
        """Run a task in a transaction of its own; its error is raised."""
        try:
            connection = self._connect()
            with connection.begin():
                return task(connection)
        except Exception:
            self.disconnect()
            raise

    def disconnect(self) -> None:
        """Give up the connection, because it failed or is not needed any more."""
        connection, self._connection = self._connection, None
        self._interrupt = _nothing
        if connection is not None:
            with suppress(SQLAlchemyError):  # closing it may fail too
                connection.invalidate()
                connection.close()

    def interrupt(self) -> None:
        """Break off a statement that hangs. From any thread."""
        self._interrupt()

    def _commit(self, entries: Sequence[Entry], holds: Sequence[Wanted]) -> list[Answer]:
        batch = Batch(
            records=[entry.record for entry in entries if isinstance(entry, Row) and entry.sheet.settles],
            releases=[(entry.id, entry.account) for entry in entries if isinstance(entry, Release)],
            holds=[*(entry.wanted for entry in entries if isinstance(entry, Noted)), *holds],
        )
        others = [entry for entry in entries if isinstance(entry, Row) and not entry.sheet.settles]
        noted = len(batch.holds) - len(holds)
        exact = bool(noted or batch.releases)
        connection = self._connect()
        try:
            booked = self._book(connection, batch, others, exact=exact)
        except Inexact:
            booked = self._book(connection, batch, others, exact=True)
        self._accounting.committed(booked)
        return list(booked.answers[noted:])

    def _book(self, connection: Connection, batch: Batch, others: Sequence[Row], *, exact: bool) -> Booked:
        with connection.begin():
            statements = Statements(connection)
            booked = self._accounting.book(statements, batch, to_microseconds(self._clock()), exact=exact)
            for sheet, rows in groupby(others, key=_sheet):
                lines = _last_of_equals(sheet, [tuple(sheet.encode(row.record)) for row in rows])
                statements.insert(sheet.table, sheet.columns, lines, f"ON CONFLICT {sheet.on_conflict}")
        return booked

    def _connect(self) -> Connection:
        if self._connection is not None and self._database.file() != self._file:
            log.error("journal: the file of the database was removed or replaced; rows go into a new one")
            self.disconnect()
            self._database.close()  # readers' connections too: they look at a file that nobody else can see
        if self._connection is None:
            if not self._database.exists():
                bring_up_to_date(self._database)
            connection = self._database.connect_writer()
            self._file = self._database.file()
            self._connection = connection
            self._interrupt = interrupter(connection)
            with connection.begin():
                self._greet(connection)
        return self._connection


def _last_of_equals(sheet: Sheet, lines: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """PostgreSQL refuses a statement that would update a row twice."""
    return list({line[: sheet.distinct]: line for line in lines}.values()) if sheet.distinct else lines


def _mended(row: Row) -> Row:
    return Row(row.sheet, row.sheet.mend(row.record))


def _unbilled(row: Row) -> Row:
    """With no cost: the account's balance would be more than its column takes."""
    mended = row.sheet.mend(row.record)
    return Row(row.sheet, replace(mended, cost=0, items=(), warnings=(*mended.warnings, UNBILLED)))


def _nothing() -> None:
    """There is no connection."""


def _sheet(row: Row) -> Sheet:
    return row.sheet
