"""Opens the database that a URL names: SQLite or PostgreSQL, which no other file has to tell apart."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from tidegate.storage import postgresql, sqlite
from tidegate.storage.faults import DatabaseAway, DatabaseUnusable, passes, reason
from tidegate.storage.patience import patiently
from tidegate.storage.postgresql import STATEMENT_SECONDS, Postgresql, together
from tidegate.storage.sqlite import Sqlite

__all__ = [
    "BUSY_SECONDS",
    "ROWS_A_STATEMENT",
    "Database",
    "DatabaseAway",
    "DatabaseUnusable",
    "Statement",
    "Wording",
    "deletes",
    "inserts",
    "interrupter",
    "off_index",
    "passes",
    "patiently",
    "raised_by_driver",
    "reason",
    "running_transactions",
    "together",
    "wording",
]

# One statement for many rows: the driver lets go of the interpreter's lock at each statement and, while the
# event loop is busy, gets it back only after 5 ms. Row by row, the writer would fall behind a full load.
ROWS_A_STATEMENT = 64

Statement = tuple[str, tuple[object, ...]]
"""A driver's own text with its values."""

BUSY_SECONDS = 1.5
"""How long SQLite itself waits for another process's lock before a statement fails: less than a hold may."""


class Database:
    """Connections to one database. Made after a fork, never carried across one."""

    def __init__(
        self, url: str, *, busy_seconds: float = BUSY_SECONDS, statement_seconds: float = STATEMENT_SECONDS
    ) -> None:
        """Take the URL apart; nothing is opened yet. A URL that cannot be used raises DatabaseUnusable.

        `busy_seconds` is for SQLite, `statement_seconds` for PostgreSQL: how long one statement may take.
        """
        self._side = _side(url, busy_seconds, statement_seconds)

    @property
    def engine(self) -> Engine:
        """SQLAlchemy's pool of connections."""
        return self._side.engine

    @property
    def place(self) -> str:
        """Where the database is, for operators to read: without user and password."""
        return self._side.place

    @property
    def name(self) -> str:
        """What the database is called, wherever it is."""
        return self._side.name

    @property
    def path(self) -> Path | None:
        """The file of the database; None: it is on a server."""
        return self._side.path

    def exists(self) -> bool:
        """Whether there is a database of ours to read. May raise SQLAlchemyError."""
        return self._side.exists()

    def file(self) -> tuple[int, int] | None:
        """What changes when the database is removed under an open connection; None: it is gone."""
        return self._side.file()

    def connect_writer(self) -> Connection:
        """A connection for writing. On SQLite its transactions hold the write lock from their start."""
        return self._side.connect_writer()

    def connect_reader(self) -> Connection:
        """A connection for reading: all statements of a transaction see the same rows."""
        return self._side.connect_reader()

    def prepare(self) -> None:
        """Make the database ready for several processes; DatabaseUnusable if it cannot be used."""
        self._side.prepare()

    def take_time(self, connection: Connection) -> None:
        """Let the statements of this one transaction take as long as they need, at most an hour."""
        self._side.take_time(connection)

    def lock_tables(self, connection: Connection) -> None:
        """In a writer's transaction: wait until no other process migrates, and let none until its end."""
        self._side.lock_tables(connection)

    def unusable(self, doing: str, error: SQLAlchemyError) -> DatabaseUnusable:
        """What to tell an operator when `doing` failed."""
        return self._side.unusable(doing, error)

    def close(self) -> None:
        """Close all idle connections."""
        self.engine.dispose()


def _side(url: str, busy_seconds: float, statement_seconds: float) -> Sqlite | Postgresql:
    # The URL may hold a password, so it is not repeated.
    match url.partition(":")[0]:
        case "sqlite":
            return Sqlite(url, busy_seconds)
        case "postgresql" | "postgres":
            return Postgresql(url, statement_seconds)
        case _:  # any text may be written
            raise DatabaseUnusable(
                "database.url: no database that Tidegate knows; use sqlite:///tidegate.db or"
                " postgresql://user:password@host/name"
            )


class Wording(Struct, frozen=True):
    """How prepared texts differ between the databases."""

    mark: str
    """Stands for a value."""
    lock: str
    """Follows a SELECT whose rows nobody else may change until the transaction ends."""
    asks_a_server: bool
    """Whether each statement waits for an answer from elsewhere."""


def wording(engine: Engine) -> Wording:
    """The wording of the driver's own texts."""
    if engine.dialect.name == "sqlite":
        return Wording("?", "", asks_a_server=False)  # the transaction holds the one write lock already
    return Wording("%s", " FOR UPDATE", asks_a_server=True)


def off_index(column: ColumnElement[str]) -> ColumnElement[str]:
    """A text as it is, but found by no index. SQLite keeps no statistics and may choose a bad one."""
    return column.concat("")


def running_transactions(connection: Connection) -> tuple[int, int] | None:
    """In a reader's snapshot: all below the first number are over, all from the second on begin later.

    None: there is one writer at a time, so rows appear in the order of their numbers.
    """
    if connection.dialect.name == "sqlite":
        return None
    return postgresql.running_transactions(connection)


def inserts(
    engine: Engine,
    table: str,
    columns: tuple[str, ...],
    rows: Sequence[Iterable[object]],
    tail: str,
    step: int = ROWS_A_STATEMENT,
) -> list[Statement]:
    """The fastest statements that insert `rows` of `columns` in their order, in SQLite `step` rows to each.

    `tail` follows the rows: ON CONFLICT, RETURNING. A text that UTF-8 cannot hold raises UnicodeEncodeError.
    """
    if engine.dialect.name == "sqlite":
        return sqlite.inserts(table, columns, rows, tail, step)
    return postgresql.inserts(table, columns, rows, tail)


def deletes(engine: Engine, table: str, ids: Sequence[str]) -> Statement:
    """The statement that deletes the rows of these ids."""
    if engine.dialect.name == "sqlite":
        return f"DELETE FROM {table} WHERE id IN ({','.join('?' * len(ids))})", tuple(ids)  # noqa: S608
    return postgresql.deletes(table, ids)


def raised_by_driver(engine: Engine, error: Exception) -> DBAPIError | None:
    """The error of the driver's own cursor as SQLAlchemy would raise it; None: it is not the driver's."""
    driver = engine.dialect.loaded_dbapi
    if not isinstance(error, driver.Error):
        return None
    wrapped = DBAPIError.instance(
        None, None, error, driver.Error, hide_parameters=True, dialect=engine.dialect
    )
    return wrapped if isinstance(wrapped, DBAPIError) else None


def interrupter(connection: Connection) -> Callable[[], None]:
    """Breaks off what `connection` does, from another thread: its statement fails soon after."""
    if connection.engine.dialect.name == "sqlite":
        return sqlite.interrupter(connection)
    return postgresql.interrupter(connection)
