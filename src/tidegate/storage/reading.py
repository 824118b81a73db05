"""Reads the database, and tells a failure in the words of whoever asked."""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.storage.database import Database, DatabaseUnusable, reason

Answer = TypeVar("Answer")


def read(
    database: Database, query: Callable[[Connection], Answer], complain: Callable[[str], Exception]
) -> Answer:
    """What `query` finds. Blocks; a database that fails raises what `complain` makes of the reason."""
    try:
        with database.connect_reader() as connection:
            return query(connection)
    except SQLAlchemyError as error:
        raise complain(reason(error)) from error


def no_journal(why: str) -> TidegateError:
    """The rows of requests, or their sums, cannot be read."""
    return TidegateError(Failure(kind=Kind.INTERNAL, message="the journal cannot be read", detail=why))


def no_database(why: str) -> DatabaseUnusable:
    """For those who handle a database that is away."""
    return DatabaseUnusable(f"the database cannot be read: {why}")
