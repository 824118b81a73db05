"""Opens the database that a URL names; every difference between SQLite and PostgreSQL is in this file."""

import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

BUSY_SECONDS = 2.0
"""How long SQLite itself waits for another process's lock before a statement fails and the caller retries."""

_OPENING_SECONDS = 30.0
_OPENING_PAUSE = 0.05

Result = TypeVar("Result")


class DatabaseUnusable(Exception):
    """The database cannot be opened; the text tells an operator why and what mends it."""


class Database:
    """Connections to one database. Made after a fork, never carried across one."""

    def __init__(self, url: str, *, busy_seconds: float = BUSY_SECONDS) -> None:
        """Take the URL apart; nothing is opened yet. A URL that cannot be used raises DatabaseUnusable."""
        self.path = sqlite_path(url)
        self.engine = _sqlite_engine(self.path, busy_seconds)

    def exists(self) -> bool:
        """Whether there is a database to read: opening one for writing would make it."""
        return self.path.is_file()

    def file(self) -> tuple[int, int] | None:
        """Which file is at the path now; None: none."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def connect_writer(self) -> Connection:
        """A connection for writing: each of its transactions holds the write lock from its start."""
        # A transaction that reads first and then writes could fail at once without waiting for the lock.
        return self.engine.connect().execution_options(tidegate_begin="BEGIN IMMEDIATE")

    def prepare(self) -> None:
        """Make the file ready for several processes; safe while others do the same."""
        if not self.path.parent.is_dir():
            raise DatabaseUnusable(
                f"{self.path}: the folder {self.path.parent} does not exist; make it first"
            )
        try:
            patiently(self._use_write_ahead_log)
        except SQLAlchemyError as error:
            raise DatabaseUnusable(f"{self.path}: cannot be opened as a database: {reason(error)}") from error

    def _use_write_ahead_log(self) -> None:
        """Readers and the writer do not wait for each other; the mode stays with the file."""
        with self.engine.connect() as connection:
            # The mode cannot be changed in a transaction.
            connection.execution_options(tidegate_begin=None).exec_driver_sql("PRAGMA journal_mode=WAL")

    def close(self) -> None:
        """Close all idle connections."""
        self.engine.dispose()


def sqlite_path(url: str) -> Path:
    """The file of `sqlite:///relative.db` or `sqlite:////absolute.db`; DatabaseUnusable for anything else."""
    parsed = _parse(url)
    match parsed.get_backend_name():
        case "sqlite":
            pass
        case "postgresql" | "postgres":
            raise DatabaseUnusable(
                "database.url: PostgreSQL is not supported by this version; use sqlite:///tidegate.db"
            )
        case other:  # any scheme may be written
            raise DatabaseUnusable(
                f"database.url: {other!r} is no database that Tidegate knows; use sqlite:///tidegate.db"
            )
    if parsed.database in (None, "", ":memory:"):
        raise DatabaseUnusable(
            "database.url: a database in memory cannot be shared by workers; name a file, as in sqlite:///tidegate.db"
        )
    if parsed.query or parsed.host:
        raise DatabaseUnusable(
            "database.url: SQLite takes only a path: sqlite:///relative.db or sqlite:////absolute/path.db"
        )
    return Path(parsed.database)


def _parse(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError) as error:
        # The URL may hold a password, so it is not repeated.
        raise DatabaseUnusable("database.url: not a database URL; use sqlite:///tidegate.db") from error


def _sqlite_engine(path: Path, busy_seconds: float) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": busy_seconds},
        pool_size=4,
        hide_parameters=True,
    )
    event.listen(engine, "connect", _set_up_connection)
    event.listen(engine, "begin", _begin)
    return engine


def _set_up_connection(driver: Any, _entry: ConnectionPoolEntry) -> None:
    driver.isolation_level = None  # the driver must not begin and commit by itself: `_begin` does
    # NORMAL: a killed process loses nothing; a power cut may take the last moments, but never half a row.
    for pragma in ("PRAGMA synchronous=NORMAL", "PRAGMA temp_store=MEMORY"):
        try:
            driver.execute(pragma)
        except sqlite3.Error as error:
            raise OperationalError(pragma, None, error) from error


def _begin(connection: Connection) -> None:
    begin = connection.get_execution_options().get("tidegate_begin", "BEGIN")
    if begin is not None:
        connection.exec_driver_sql(begin)


def insert_text(table: str, columns: Sequence[str], rows: int, on_conflict: str) -> str:
    """One INSERT of `rows` rows, in the driver's parameter style. `on_conflict` follows ON CONFLICT."""
    names = ",".join(f'"{column}"' for column in columns)
    marks = ",".join(["(" + ",".join("?" * len(columns)) + ")"] * rows)
    return f"INSERT INTO {table} ({names}) VALUES {marks} ON CONFLICT {on_conflict}"  # noqa: S608 (only our own names)


def passes(error: Exception) -> bool:
    """Whether the database, and not a row, is what failed: the same write may succeed later."""
    match error:
        case DatabaseUnusable():
            return True
        case OperationalError() | InterfaceError():
            return not isinstance(error.orig, (OverflowError, UnicodeError))
        case DBAPIError():
            return error.connection_invalidated
        case _:  # any error may come out of a driver
            return False


def reason(error: BaseException) -> str:
    """The database's own words, without the statement and its values."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return str(cause) or type(cause).__name__


def patiently(task: Callable[[], Result], seconds: float = _OPENING_SECONDS) -> Result:
    """Do `task`, again while another process holds the lock: some locks are refused without any wait."""
    give_up_at = time.monotonic() + seconds
    while True:
        try:
            return task()
        except OperationalError as error:
            if not _is_locked(error) or time.monotonic() >= give_up_at:
                raise
        time.sleep(_OPENING_PAUSE)


def _is_locked(error: OperationalError) -> bool:
    code = getattr(error.orig, "sqlite_errorcode", 0)
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)  # the low byte is the primary code
