"""Finds and deletes what is kept of requests, off the event loop."""

import asyncio
import time
from collections.abc import Callable, Collection
from concurrent.futures import Executor
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.storage.content_writer import ContentWriter
from tidegate.storage.contents import KeptContent, delete_content, select_content, select_present
from tidegate.storage.database import Database, DatabaseUnusable, reason

_PATIENCE = 1.0
_MOMENT = 0.005

T = TypeVar("T")
Also = Callable[[Connection], None]
"""What else is done in a transaction."""


class ContentDesk:
    """What this process has finished is always seen: it is written first."""

    def __init__(self, database: Database, writer: ContentWriter, threads: Executor) -> None:
        self._database = database
        self._writer = writer
        self._threads = threads

    async def one(self, identifier: str, also: Also) -> KeptContent | None:
        """What is kept of a request; `also` is done in the same transaction if there is something.

        Raises TidegateError where that cannot be done.
        """

        def task(connection: Connection) -> KeptContent | None:
            found = select_content(connection, identifier)
            if found is not None:
                also(connection)
            return found

        return await self._do(task, self._database.connect_writer)

    async def present(self, identifiers: Collection[str]) -> frozenset[str]:
        """Those of the requests of which something is kept. Raises TidegateError."""
        return await self._do(
            lambda connection: select_present(connection, identifiers), self._database.connect_reader
        )

    async def forget(self, identifier: str, also: Also) -> bool:
        """Keep nothing of a request any more, and do `also` with it; False: nothing was kept.

        Raises TidegateError.
        """

        def task(connection: Connection) -> bool:
            done = delete_content(connection, identifier)
            if done:
                also(connection)
            return done

        return await self._do(task, self._database.connect_writer)

    async def _do(self, task: Callable[[Connection], T], connect: Callable[[], Connection]) -> T:
        await self._settled()
        return await asyncio.get_running_loop().run_in_executor(self._threads, _run, task, connect)

    async def _settled(self) -> None:
        """Return when what has come so far is written, after a second at most."""
        wanted, give_up_at = self._writer.taken, time.monotonic() + _PATIENCE
        while self._writer.done < wanted and not self._writer.failing and time.monotonic() < give_up_at:
            self._writer.hurry()
            await asyncio.sleep(_MOMENT)


def _run(task: Callable[[Connection], T], connect: Callable[[], Connection]) -> T:
    try:
        with connect() as connection, connection.begin():
            return task(connection)
    except (SQLAlchemyError, DatabaseUnusable) as error:
        message = "what is kept of requests cannot be reached"
        raise TidegateError(Failure(kind=Kind.INTERNAL, message=message, detail=reason(error))) from error
