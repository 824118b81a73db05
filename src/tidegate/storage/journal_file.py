"""Reads the journal of a gateway from another process, whether the gateway runs or not."""

import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from tidegate.exchange.ports import RequestRecord
from tidegate.storage.database import Database, DatabaseUnusable
from tidegate.storage.following import Place, advance, begin
from tidegate.storage.journal_query import newest_numbers, numbers_since, select_numbers, select_page
from tidegate.storage.migrate import demand_current
from tidegate.storage.pages import Filters

_STEP = 1_000
_PATIENCE = 60.0
"""Seconds for one query: a rare model's rows are found by a walk through all."""

_Answer = TypeVar("_Answer")


class JournalFile:
    """A journal open for reading only; every failure is a DatabaseUnusable with a text for the operator."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Checks that there is a journal that this version can read."""
        self._database = Database(url, statement_seconds=_PATIENCE)
        self._clock = clock
        demand_current(self._database, "there is no journal; the gateway makes it at its start")

    def newest(self, filters: Filters, limit: int) -> tuple[Place, list[RequestRecord]]:
        """The newest rows, the oldest of them first, and the place from which `since` goes on."""

        def query(connection: Connection) -> tuple[Place, list[RequestRecord]]:
            page = select_page(connection, filters, limit, None)
            numbers = newest_numbers(connection, _STEP)
            return begin(numbers, self._clock()), list(reversed(page.requests))

        return self._read(query)

    def since(self, place: Place, filters: Filters) -> tuple[Place, list[RequestRecord]]:
        """What has been written after `place`, in that order, and the place to go on from.

        A row whose transaction took longer than later ones comes late, but comes: none is missed or doubled.
        """
        found: list[RequestRecord] = []
        more = True
        while more:
            reached, some = self._read(self._step(place, filters))
            more = reached.number - place.number >= _STEP
            place = reached
            found += some
        return place, found

    def _step(
        self, place: Place, filters: Filters
    ) -> Callable[[Connection], tuple[Place, list[RequestRecord]]]:
        def query(connection: Connection) -> tuple[Place, list[RequestRecord]]:
            numbers = numbers_since(connection, place.number, place.missing, _STEP)
            some = select_numbers(connection, numbers, filters) if numbers else []
            return advance(place, numbers, self._clock()), some

        return query

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def _read(self, query: Callable[[Connection], _Answer]) -> _Answer:
        try:
            with self._database.connect_reader() as connection:
                return query(connection)
        except SQLAlchemyError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: SQLAlchemyError) -> DatabaseUnusable:
        return self._database.unusable("cannot be read", error)
