"""Runs the texts of the books on the driver's own cursor, at half the cost of going through SQLAlchemy."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from tidegate.storage.database import (
    ROWS_A_STATEMENT,
    Statement,
    Wording,
    deletes,
    inserts,
    raised_by_driver,
    together,
    wording,
)

_TEXTS = 2_048


class Inexact(Exception):
    """Something is not as this process remembers it; nothing may be committed. Do it again, exactly."""


class Promised(Struct, frozen=True):
    """A statement that waits for others to go with it, and how many rows it must change; None: any number."""

    text: str
    values: tuple[object, ...]
    must: int | None


class Statements:
    """One connection's statements; errors are those that SQLAlchemy raises."""

    def __init__(self, connection: Connection) -> None:
        self._engine = connection.engine
        self.wording = wording(self._engine)
        self._cursor: Any = connection.connection.cursor()
        self._promised: list[Promised] = []

    def run(self, text: str, values: Sequence[object]) -> int:
        """Run a text and tell how many rows it changed."""
        self._execute(text, values)
        changed: int = self._cursor.rowcount
        return changed

    def rows(self, text: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """Run a text and give its rows."""
        self._execute(text, values)
        found: list[tuple[Any, ...]] = self._cursor.fetchall()
        return found

    def insert(
        self,
        table: str,
        columns: tuple[str, ...],
        lines: Sequence[Iterable[object]],
        tail: str = "",
        step: int = ROWS_A_STATEMENT,
    ) -> int:
        """Insert all `lines` and tell how many rows were inserted or changed.

        Where each value is a parameter, `step` lines share a statement.
        """
        texts = inserts(self._engine, table, columns, lines, tail, step)
        return sum(self.run(text, values) for text, values in texts)

    def insert_returning(
        self,
        table: str,
        columns: tuple[str, ...],
        lines: Sequence[Iterable[object]],
        tail: str,
        step: int = ROWS_A_STATEMENT,
    ) -> list[tuple[Any, ...]]:
        """As `insert`, with the rows that a `tail` with RETURNING gives."""
        texts = inserts(self._engine, table, columns, lines, tail, step)
        return [row for text, values in texts for row in self.rows(text, values)]

    def promise_insert(
        self,
        table: str,
        columns: tuple[str, ...],
        lines: Sequence[Iterable[object]],
        tail: str = "",
        *,
        must: int | None = None,
        step: int = ROWS_A_STATEMENT,
    ) -> None:
        """Insert at `keep` at the latest, as `insert`; not exactly `must` rows: Inexact, now or then."""
        self._promise(inserts(self._engine, table, columns, lines, tail, step), must)

    def promise_delete(self, table: str, ids: Sequence[str], *, must: int) -> None:
        """Delete rows by their ids at `keep` at the latest; not exactly `must` rows: Inexact, now or then."""
        self._promise([deletes(self._engine, table, ids)], must)

    def keep(self) -> None:
        """Do what is promised, before the commit: where it is on a server, with one question to it."""
        promised, self._promised = self._promised, []
        if not promised:
            return
        text = together(tuple((one.text, one.must is not None) for one in promised))
        expected = [one.must for one in promised if one.must is not None]
        try:
            (counts,) = self.rows(text, [value for one in promised for value in one.values])
        except IntegrityError as error:
            if not expected:
                raise
            # Where one write finds its row there already, another may be refused for the same reason.
            raise Inexact from error
        if list(counts) != expected:
            raise Inexact

    def _promise(self, statements: Sequence[Statement], must: int | None) -> None:
        if self.wording.asks_a_server:
            self._promised += [Promised(text, values, must) for text, values in statements]
            return
        changed = sum(self.run(text, values) for text, values in statements)
        if must is not None and changed != must:
            raise Inexact

    def _execute(self, text: str, values: Sequence[object]) -> None:
        try:
            self._cursor.execute(text, values)
        except Exception as error:
            told = raised_by_driver(self._engine, error)
            if told is None:
                raise
            raise told from error


@lru_cache(_TEXTS)
def among(wording: Wording, before: str, count: int, after: str) -> str:
    """`before`, a list of that many marks in parentheses, `after`."""
    return f"{before} ({','.join([wording.mark] * count)}){after}"
