"""SQLite: one file, one writer at a time, readers that do not wait for it."""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from tidegate.storage.faults import DatabaseUnusable, reason
from tidegate.storage.patience import patiently


class Sqlite:
    """A database file as `Database` needs it."""

    def __init__(self, url: str, busy_seconds: float) -> None:
        """`busy_seconds` is how long SQLite itself waits for another process's lock."""
        self.path = sqlite_path(url)
        self.name = self.path.name
        self.engine = _engine(self.path, busy_seconds)

    @property
    def place(self) -> str:
        """How an operator knows the database."""
        return str(self.path)

    def exists(self) -> bool:
        """Whether there is a file to read: opening one for writing would make it."""
        return self.path.is_file()

    def file(self) -> tuple[int, int] | None:
        """Which file is at the path now; None: none."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def connect_writer(self) -> Connection:
        """Each of its transactions holds the write lock from its start."""
        # A transaction that reads first and then writes could fail at once without waiting for the lock.
        return self.engine.connect().execution_options(tidegate_begin="BEGIN IMMEDIATE")

    def connect_reader(self) -> Connection:
        """All its reads of one transaction see the same rows."""
        return self.engine.connect()

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

    def take_time(self, connection: Connection) -> None:
        """Nothing to do: a statement has no limit."""

    def lock_tables(self, connection: Connection) -> None:
        """Nothing to do: the write lock that the transaction holds keeps others from migrating."""

    def unusable(self, doing: str, error: SQLAlchemyError) -> DatabaseUnusable:
        """What to tell an operator."""
        return DatabaseUnusable(f"{self.path}: {doing}: {reason(error)}")


def inserts(
    table: str, columns: tuple[str, ...], rows: Sequence[Iterable[object]], tail: str, step: int
) -> list[tuple[str, tuple[object, ...]]]:
    """The statements that insert `rows`, `step` to each."""
    statements = []
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        text = _insert(table, columns, len(part), tail)
        statements.append((text, tuple(value for row in part for value in row)))
    return statements


@lru_cache(maxsize=2_048)
def _insert(table: str, columns: tuple[str, ...], rows: int, tail: str) -> str:
    names = ",".join(f'"{column}"' for column in columns)
    marks = ",".join(["(" + ",".join("?" * len(columns)) + ")"] * rows)
    return f"INSERT INTO {table} ({names}) VALUES {marks} {tail}"  # noqa: S608 (only our own names)


def interrupter(connection: Connection) -> Callable[[], None]:
    """Breaks off the connection's statement, from another thread."""
    driver: Any = connection.connection.driver_connection
    interrupt: Callable[[], None] = driver.interrupt
    return interrupt


def sqlite_path(url: str) -> Path:
    """The file of `sqlite:///relative.db` or `sqlite:////absolute.db`; DatabaseUnusable for anything else."""
    parsed = _parse(url)
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
        raise DatabaseUnusable("database.url: not a database URL; use sqlite:///tidegate.db") from error


def _engine(path: Path, busy_seconds: float) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        # The writer has a text for each number of rows.
        connect_args={"timeout": busy_seconds, "cached_statements": 1_024},
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
