"""Reads the journal of a gateway from another process, whether the gateway runs or not."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from tidegate.exchange.ports import RequestRecord
from tidegate.storage.database import Database, DatabaseUnusable, reason
from tidegate.storage.journal_query import newest_number, select_page, select_since
from tidegate.storage.migrate import revision
from tidegate.storage.pages import Filters
from tidegate.storage.schema import HEAD

_STEP = 1_000
_MADE_BY_GATEWAY = "the gateway makes it at its start"

_Answer = TypeVar("_Answer")


class JournalFile:
    """A journal open for reading only; every failure is a DatabaseUnusable with a text for the operator."""

    def __init__(self, url: str) -> None:
        """Checks that there is a journal that this version can read."""
        self._database = Database(url)
        if not self._database.exists():
            raise DatabaseUnusable(
                f"{self._database.path}: there is no database; the gateway makes it at its start"
            )
        found = self._read(revision)
        if found is None:
            raise DatabaseUnusable(
                f"{self._database.path}: holds no journal; the gateway makes it at its start"
            )
        if found != HEAD:
            raise DatabaseUnusable(
                f"{self._database.path}: its tables are at {found}, this version reads {HEAD};"
                " start the gateway once to upgrade them, or use the version that wrote them"
            )

    def newest(self, filters: Filters, limit: int) -> tuple[int, list[RequestRecord]]:
        """The newest rows, the oldest of them first, and the number from which `since` goes on."""

        def query(connection: Connection) -> tuple[int, list[RequestRecord]]:
            page = select_page(connection, filters, limit, None)
            return newest_number(connection), list(reversed(page.requests))

        return self._read(query)

    def since(self, number: int, filters: Filters) -> tuple[int, list[RequestRecord]]:
        """What has been written after `number`, in that order, and the number to go on from.

        Rows are numbered under the write lock, so no lower one can appear later: none is missed or doubled.
        """
        found: list[RequestRecord] = []
        some = None
        while some is None or len(some) == _STEP:
            number, some = self._read(partial(select_since, number=number, filters=filters, limit=_STEP))
            found += some
        return number, found

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _read(self, query: Callable[[Connection], _Answer]) -> _Answer:
        try:
            with self._database.engine.connect() as connection:
                return query(connection)
        except SQLAlchemyError as error:
            raise DatabaseUnusable(f"{self._database.path}: cannot be read: {reason(error)}") from error
