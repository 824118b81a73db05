"""Opens the storage as one thing and closes it in order."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NoReturn, TypeAlias

from sqlalchemy import Connection, select
from sqlalchemy.exc import SQLAlchemyError

from tidegate.storage.accounting import Accounting
from tidegate.storage.agreement import Agreement
from tidegate.storage.audit_trail import AuditTrail
from tidegate.storage.books import DatabaseBooks
from tidegate.storage.catalog_access import CatalogStore
from tidegate.storage.content_desk import ContentDesk
from tidegate.storage.content_writer import ContentWriter
from tidegate.storage.database import Database, DatabaseUnusable
from tidegate.storage.figures import FiguresReader
from tidegate.storage.journal import BatchedJournal
from tidegate.storage.journal_query import JournalReader
from tidegate.storage.ledger_desk import LedgerDesk
from tidegate.storage.live_tail import LiveTail
from tidegate.storage.migrate import bring_up_to_date
from tidegate.storage.owners import Owner, forget_files
from tidegate.storage.ownership import OWNED_IDS, RememberedOwnership
from tidegate.storage.purge import Purge
from tidegate.storage.recovery import Recovery, leave
from tidegate.storage.refuge import Refuge
from tidegate.storage.schema import requests
from tidegate.storage.sessions import SessionStore
from tidegate.storage.writer import Writer

log = logging.getLogger("tidegate.storage")

DEFAULT_FOLDER = Path("tidegate-spool")
"""Where the spool is if the database is no file beside which it could be."""

UNHEARD_SECONDS = 3.0
"""After so long without an answer somebody is told that the database is waited for."""

Unheard: TypeAlias = Callable[[str], Awaitable[None]]
"""Is told the place of a database that has not answered yet."""

_READY_SECONDS = 1.0
_TENDING = 5.0
_LAST_CONTENTS = 2.0
_SHEETS = (OWNED_IDS,)


class Storage:
    """The open database of one process. Open it after a fork, in the process that uses it."""

    def __init__(
        self,
        database: Database,
        retention: float,
        clock: Callable[[], float],
        *,
        folder: Path | None = None,
        config: str | None = None,
        aloud: bool = True,
        workers: int = 1,
    ) -> None:
        """Needs a running event loop; the database must be up to date (`open_storage` sees to both).

        `folder` is for the spool; `config` is told to other nodes in the table of owners, and a difference
        is told in the log if `aloud`; `workers` is how many processes of this machine open the same database
        to serve.
        """
        self._database = database
        self._owner = Owner(folder or spool_folder(database), config, database=database.name)
        refuge, accounting = Refuge(self._owner.folder, self._owner.id, _SHEETS), Accounting(self._owner.id)
        self._agreement = Agreement(self._owner, aloud=aloud)
        self._writer = Writer(
            database, accounting=accounting, refuge=refuge, greet=self._greet, clock=clock, workers=workers
        )
        # Long reads of operators must not hold up the look-ups of requests.
        self._reads = ThreadPoolExecutor(2, "tidegate-reads")
        self._lookups = ThreadPoolExecutor(1, "tidegate-lookups")
        self.books = DatabaseBooks(self._writer, clock)
        self.desk = LedgerDesk(database, self._writer, self._reads, clock)
        self.journal = BatchedJournal(self._writer)
        self.ownership = RememberedOwnership(database, self._writer, self._lookups, clock=clock)
        self.catalog = CatalogStore(database, self._writer, self._lookups)
        self.audit = AuditTrail(database, self._writer, self._reads)
        self.requests = JournalReader(database, self._reads, self._writer.flush)
        self.figures = FiguresReader(database, self._reads, clock)
        self.live = LiveTail(database, self._reads)
        self.contents = ContentWriter(database)
        self._recovery = Recovery(database, self._owner.folder, self._owner.id, _SHEETS, clock=clock)
        self._purge: asyncio.Task[NoReturn] = asyncio.create_task(self._purger(retention, clock).run())
        self._tending: asyncio.Task[NoReturn] | None = None

    def _purger(self, retention: float, clock: Callable[[], float]) -> Purge:
        contents, audit = self.contents, self.audit
        return Purge(
            self._writer,
            retention,
            clock,
            contents=lambda: contents.keeping.retention,
            audit=lambda: audit.retention,
        )

    @property
    def sessions(self) -> SessionStore:
        """Keeps who is signed in."""
        return SessionStore(self._database, self._writer, self._lookups)

    def unusable(self, doing: str, error: SQLAlchemyError) -> DatabaseUnusable:
        """What to tell an operator when `doing` failed."""
        return self._database.unusable(doing, error)

    @property
    def content_desk(self) -> ContentDesk:
        """Finds and deletes contents."""
        return ContentDesk(self._database, self.contents, self._reads)

    @property
    def lost(self) -> int:
        """Rows that could not be kept since the start."""
        return self._writer.lost

    @property
    def waiting(self) -> int:
        """Rows and holds that are neither in the database nor on the disk yet."""
        return self._writer.waiting

    @property
    def spooled(self) -> int:
        """Rows and holds that wait on the disk for the database."""
        return self._writer.spooled

    @property
    def away(self) -> bool:
        """Whether the database cannot be written now."""
        return self._writer.away

    @property
    def config_differs(self) -> tuple[str, ...]:
        """Sections of the config that are not as another node has them."""
        return self._agreement.differing

    def tell_config(self, config: str) -> None:
        """Let other nodes compare another config with theirs."""
        self._owner.config = config
        if not self._writer.away:
            self._writer.do(self._owner.say_so)

    async def start(self) -> None:
        """End what the dead left open, then go on looking for them now and then."""
        await asyncio.to_thread(self._recovery.sweep)
        await asyncio.wrap_future(self._writer.do(self._be_seen))
        self._tending = asyncio.create_task(self._tend())

    async def ready(self) -> bool:
        """Whether the database answers within a second, and can be written."""
        if self._writer.away:
            return False
        try:
            look = asyncio.get_running_loop().run_in_executor(self._lookups, self._look)
            await asyncio.wait_for(look, _READY_SECONDS)
        except (SQLAlchemyError, TimeoutError):
            return False
        return True

    def _look(self) -> None:
        with self._database.engine.connect() as connection:
            connection.execute(select(requests.c.seq).limit(1)).first()

    def _greet(self, connection: Connection) -> None:
        self._owner.say_so(connection)
        self.books.reopen_accounts(connection)

    def _be_seen(self, connection: Connection) -> None:
        self._owner.say_so(connection)
        self._agreement.look(connection)

    async def _tend(self) -> NoReturn:
        while True:
            await asyncio.sleep(_TENDING)
            if self._writer.away:
                continue
            try:
                await asyncio.wrap_future(self._writer.do(self._be_seen))
                await asyncio.to_thread(self._recovery.sweep)
            except (SQLAlchemyError, DatabaseUnusable):
                continue  # the writer tells of it with its next batch
            except Exception:  # who is not seen any more is taken for dead
                log.exception("recovery: unexpected error, the next try goes on")

    async def close(self, patience: float = 10.0) -> None:
        """Write what waits, for `patience` seconds at most, then let go of the database."""
        for task in (self._purge, self._tending):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        await self.live.close()
        await asyncio.to_thread(self.contents.close, min(patience, _LAST_CONTENTS))
        await self.figures.close()
        gone = self._writer.do(partial(leave, owner=self._owner.id))
        await self._writer.close(patience)
        if self._writer.spooled == 0 and gone.done() and gone.exception() is None and gone.result():
            forget_files(self._owner.folder, self._owner.id)
        self._owner.close()
        self._reads.shutdown(wait=False, cancel_futures=True)
        self._lookups.shutdown(wait=False, cancel_futures=True)
        self._database.close()


def spool_folder(database: Database) -> Path:
    """Beside the file of the database, if it is one."""
    if database.path is None:
        return DEFAULT_FOLDER
    file = Path(database.place)
    return file.with_name(f"{file.name}.spool")


async def open_storage(
    url: str,
    retention: float,
    *,
    clock: Callable[[], float] = time.time,
    folder: Path | None = None,
    config: str | None = None,
    aloud: bool = True,
    workers: int = 1,
    unheard: Unheard | None = None,
) -> Storage:
    """Open the database that `url` names, bring its tables up to date, and end what the dead left open.

    `retention` is how many seconds a request's row is kept, 0 for ever; `folder` is for what waits on the
    disk while the database is away; `workers` is how many processes of this machine serve. A database that
    cannot be used raises DatabaseUnusable with a text for the operator.
    """
    database = Database(url)
    await _heard(database, unheard)
    await asyncio.to_thread(bring_up_to_date, database)
    try:
        storage = Storage(
            database,
            retention,
            clock,
            folder=folder,
            config=config,
            aloud=aloud,
            workers=workers,
        )
    except OSError as error:
        where = folder or spool_folder(database)
        raise DatabaseUnusable(f"{where}: the folder of the spool cannot be used: {error}") from error
    try:
        await storage.start()
    except SQLAlchemyError as error:  # it was there a moment ago
        await storage.close(0.0)
        raise database.unusable("cannot be used", error) from error
    return storage


async def _heard(database: Database, unheard: Unheard | None) -> None:
    """Return when the database answers: to find out that it does not may take a slow resolver minutes."""
    preparing = asyncio.ensure_future(asyncio.to_thread(database.prepare))
    if unheard is not None and not (await asyncio.wait({preparing}, timeout=UNHEARD_SECONDS))[0]:
        await unheard(database.place)
    await preparing
