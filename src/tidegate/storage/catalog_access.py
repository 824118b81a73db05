"""Runs what is read and changed in the stored catalog: within a gateway, or from a command beside it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.storage.catalog import StoredCatalog, Task, read_all
from tidegate.storage.catalog_version import read_version
from tidegate.storage.database import Database, DatabaseUnusable, patiently, reason
from tidegate.storage.migrate import bring_up_to_date, demand_current, found_revision
from tidegate.storage.reading import no_database, read
from tidegate.storage.writer import Writer

T = TypeVar("T")


class CatalogStore:
    """The stored catalog of a running gateway. A database that is away raises TidegateError."""

    def __init__(self, database: Database, writer: Writer, lookups: Executor) -> None:
        self._database = database
        self._writer = writer
        self._lookups = lookups

    async def version(self) -> int:
        """The number that every change raises, whoever makes it."""
        return await self._read(read_version)

    async def all(self) -> StoredCatalog:
        """Every row."""
        return await self._read(read_all)

    async def change(self, task: Task[T]) -> T:
        """Do `task` in a transaction on the writer's thread; what it raises comes out here."""
        try:
            done: T = await asyncio.wrap_future(self._writer.do(task))
        except (SQLAlchemyError, DatabaseUnusable) as error:
            raise _away("the database cannot be written", reason(error)) from error
        return done

    async def _read(self, query: Callable[[Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(
            self._lookups, read, self._database, query, partial(_away, "the database cannot be read")
        )


def _away(message: str, why: str) -> TidegateError:
    return TidegateError(Failure(kind=Kind.INTERNAL, message=message, detail=why))


class CatalogFile:
    """The stored catalog, whether a gateway runs or not. Every failure is a DatabaseUnusable.

    A command has nothing else to do meanwhile, so these calls block.
    """

    def __init__(self, url: str, *, make: bool = True) -> None:
        """Where there are no tables, `make` them, or fail; those of another version are left alone."""
        self._database = Database(url)
        self._check(make=make)

    def _check(self, *, make: bool) -> None:
        try:
            found = found_revision(self._database)
        except SQLAlchemyError as error:
            raise self._database.unusable("cannot be read", error) from error
        if found is None and make:
            bring_up_to_date(self._database)
        else:
            demand_current(self._database, "there is nothing yet; the gateway makes it at its start")

    async def version(self) -> int:
        """The number that every change raises."""
        return self.read(read_version)

    async def all(self) -> StoredCatalog:
        """Every row."""
        return self.read(read_all)

    async def change(self, task: Task[T]) -> T:
        """Do `task` in a transaction; what it raises comes out here."""

        def transaction() -> T:
            with self._database.connect_writer() as connection, connection.begin():
                return task(connection)

        try:
            return patiently(transaction)
        except SQLAlchemyError as error:
            raise DatabaseUnusable(f"the database cannot be written: {reason(error)}") from error

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def read(self, query: Callable[[Connection], T]) -> T:
        """What a query finds."""
        return read(self._database, query, no_database)
