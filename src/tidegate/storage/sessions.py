"""Keeps who is signed in at the console."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

from msgspec import Struct
from sqlalchemy import Connection, delete, insert, or_, select, update
from sqlalchemy.exc import SQLAlchemyError

from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.storage.database import Database, DatabaseUnusable, reason
from tidegate.storage.rows import to_microseconds
from tidegate.storage.schema import admin_sessions as table
from tidegate.storage.writer import Writer

T = TypeVar("T")

_MICROSECONDS = 1_000_000


class Session(Struct, frozen=True, kw_only=True):
    """One sign-in. `digest` is of its id, which is kept nowhere; `proof` ties it to the operator's token.

    Times are Unix seconds; `seen_at` may be some minutes behind.
    """

    digest: str
    operator: str
    proof: str
    created_at: float
    seen_at: float


def add(connection: Connection, session: Session) -> None:
    """Keep a new one."""
    connection.execute(
        insert(table).values(
            digest=session.digest,
            operator=session.operator,
            proof=session.proof,
            created_at=to_microseconds(session.created_at),
            seen_at=to_microseconds(session.seen_at),
        )
    )


def find(connection: Connection, digest: str) -> Session | None:
    """The one with this digest."""
    row = connection.execute(select(table).where(table.c.digest == digest)).first()
    if row is None:
        return None
    return Session(
        digest=row.digest,
        operator=row.operator,
        proof=row.proof,
        created_at=row.created_at / _MICROSECONDS,
        seen_at=row.seen_at / _MICROSECONDS,
    )


def touch(connection: Connection, digest: str, at: float) -> None:
    """Note that it was used; one that is gone stays gone."""
    seen = to_microseconds(at)
    connection.execute(
        update(table).where(table.c.digest == digest, table.c.seen_at < seen).values(seen_at=seen)
    )


def remove(connection: Connection, digest: str) -> bool:
    """End one; False if it had ended before."""
    return connection.execute(delete(table).where(table.c.digest == digest)).rowcount > 0


def remove_expired(connection: Connection, seen_before: float, created_before: float) -> int:
    """Delete those that nobody can use any more, by Unix seconds."""
    old = or_(
        table.c.seen_at < to_microseconds(seen_before),
        table.c.created_at < to_microseconds(created_before),
    )
    return connection.execute(delete(table).where(old)).rowcount


class SessionStore:
    """The sessions of a running gateway. A database that is away raises TidegateError."""

    def __init__(self, database: Database, writer: Writer, lookups: Executor) -> None:
        self._database = database
        self._writer = writer
        self._lookups = lookups

    async def find(self, digest: str) -> Session | None:
        """As `find`."""
        return await asyncio.get_running_loop().run_in_executor(self._lookups, self._find, digest)

    async def write(self, task: Callable[[Connection], T]) -> T:
        """Do something of the above in a transaction."""
        try:
            done: T = await asyncio.wrap_future(self._writer.do(task))
        except (SQLAlchemyError, DatabaseUnusable) as error:
            raise _away(error, "the database cannot be written") from error
        return done

    def _find(self, digest: str) -> Session | None:
        try:
            with self._database.connect_reader() as connection:
                return find(connection, digest)
        except SQLAlchemyError as error:
            raise _away(error, "the database cannot be read") from error


def _away(error: Exception, message: str) -> TidegateError:
    return TidegateError(Failure(kind=Kind.INTERNAL, message=message, detail=reason(error)))
