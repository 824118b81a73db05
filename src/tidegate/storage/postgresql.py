"""PostgreSQL: many nodes on one server, which may be slow, silent or gone at any time."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, cast

import msgspec
import psycopg
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import Connection, Engine, Table, create_engine, text
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from tidegate.storage.faults import DatabaseAway, DatabaseUnusable, is_away, reason, sqlstate
from tidegate.storage.limited_connection import LimitedConnection
from tidegate.storage.schema import metadata

CONNECT_SECONDS = 5
STATEMENT_SECONDS = 10.0
"""After so long the server ends a statement. A transaction that waits for us so long is ended too: it may
hold locks that other nodes wait for."""

_GRACE_SECONDS = 2.0
"""A server that has not even ended the statement by then will not answer at all."""

_OLDEST_VERSION = 130000
_POOL_SIZE = 4
_MIGRATION_LOCK = 0x74696465  # any number that nobody else in this database uses
_LONGEST_WORK = 3_600

# A server that vanished without a word is noticed in the time of one statement.
_DEFAULTS: dict[str, object] = {
    "application_name": "tidegate",
    "connect_timeout": CONNECT_SECONDS,
    "client_encoding": "UTF8",
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": round(STATEMENT_SECONDS * 1000),
}

_RUNNING = text(
    "SELECT CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text),"
    " CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text)"
)

_to_json = msgspec.json.Encoder().encode


class Postgresql:
    """A database on a server as `Database` needs it."""

    path: None = None
    """There is no file."""

    def __init__(self, url: str, statement_seconds: float) -> None:
        """Take the URL apart as libpq does; nothing is opened yet."""
        self._parameters = _parameters(url, statement_seconds)
        self._patience = statement_seconds + _GRACE_SECONDS
        self.place = _place(self._parameters)
        self.name = str(self._parameters.get("dbname") or self._parameters.get("user") or "")
        self.engine = self._engine()

    def _engine(self) -> Engine:
        # The password is in none of SQLAlchemy's values, so none of its texts can tell it.
        return create_engine(
            "postgresql+psycopg://",
            creator=self._connect,
            pool_size=_POOL_SIZE,
            max_overflow=_POOL_SIZE,
            pool_timeout=CONNECT_SECONDS,
            pool_pre_ping=True,  # after a restart of the server the pool is full of dead connections
            use_native_hstore=False,
            hide_parameters=True,
        )

    def _connect(self) -> LimitedConnection:
        connection = LimitedConnection.connect("", **cast(Any, self._parameters))
        connection.patience = self._patience
        return connection

    def exists(self) -> bool:
        """Whether the database has tables of ours. Raises SQLAlchemyError if the server does not answer."""
        with self.engine.connect() as connection:
            found = connection.execute(text("SELECT to_regclass('alembic_version') IS NOT NULL")).scalar()
        return bool(found)

    def file(self) -> tuple[int, int] | None:
        """There is no file that could be removed under a connection."""
        return (0, 0)

    def connect_writer(self) -> Connection:
        """A plain transaction: each statement sees what others have committed before it."""
        return self.engine.connect()

    def connect_reader(self) -> Connection:
        """All its reads of one transaction see the same rows."""
        return self.engine.connect().execution_options(isolation_level="REPEATABLE READ")

    def prepare(self) -> None:
        """Check that the server can hold the tables."""
        try:
            with self.engine.connect() as connection:
                server = _driver(connection).info
                version, encoding = server.server_version, server.parameter_status("server_encoding")
        except SQLAlchemyError as error:
            raise self.unusable("cannot be opened", error) from error
        if version < _OLDEST_VERSION:
            raise DatabaseUnusable(
                f"{self.place}: is PostgreSQL {version // 10000};"
                f" Tidegate needs {_OLDEST_VERSION // 10000} or newer"
            )
        if encoding != "UTF8":
            raise DatabaseUnusable(
                f"{self.place}: its encoding is {encoding}, which cannot hold every text;"
                " make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
            )

    def take_time(self, connection: Connection) -> None:
        """Let the transaction's statements take long; the server's limits come back with its end."""
        _driver(connection).patience = None
        for setting in ("statement_timeout", "idle_in_transaction_session_timeout"):
            connection.exec_driver_sql(f"SET LOCAL {setting} = '{_LONGEST_WORK}s'")
        # A connection without a limit of its own must not go back to the pool.
        connection.detach()

    def lock_tables(self, connection: Connection) -> None:
        """Wait until no other process migrates. The lock ends with the transaction."""
        self.take_time(connection)
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))

    def unusable(self, doing: str, error: SQLAlchemyError) -> DatabaseUnusable:
        """What to tell an operator, with what mends it."""
        told = reason(error).strip()
        mend = _mend(error, told)
        kind = DatabaseAway if is_away(error) else DatabaseUnusable
        return kind(f"{self.place}: {doing}: {told}" + (f"; {mend}" if mend else ""))


def inserts(
    table: str, columns: tuple[str, ...], rows: Sequence[Iterable[object]], tail: str
) -> list[tuple[str, tuple[object, ...]]]:
    """The one statement that inserts `rows`, which it takes as one JSON text: no column may hold bytes.

    A parameter for each value would cost the driver ten times as much as all the rest, and the server would
    have to plan a statement for each number of rows.
    """
    if not rows:
        return []
    named = [dict(zip(columns, row, strict=True)) for row in rows]
    return [(_insert(table, columns, tail), (_to_json(named).decode(),))]


@lru_cache(maxsize=64)
def _insert(table: str, columns: tuple[str, ...], tail: str) -> str:
    names = ",".join(f'"{column}"' for column in columns)
    types = ",".join(f'"{column}" {_type(metadata.tables[table], column)}' for column in columns)
    return (
        f"INSERT INTO {table} ({names}) SELECT {names}"  # noqa: S608 (only our own names)
        f" FROM json_to_recordset(%s::json) AS given ({types}) {tail}"
    )


def running_transactions(connection: Connection) -> tuple[int, int]:
    """In the transaction's snapshot: all below the first are over, all from the second on come later."""
    oldest, upcoming = connection.execute(_RUNNING).one()
    return int(oldest), int(upcoming)


def deletes(table: str, ids: Sequence[str]) -> tuple[str, tuple[object, ...]]:
    """The statement that deletes the rows of these ids, the same for any number of them."""
    given = "ARRAY(SELECT json_array_elements_text(%s::json))"
    return f"DELETE FROM {table} WHERE id = ANY({given})", (_to_json(ids).decode(),)  # noqa: S608


@lru_cache(maxsize=256)
def together(writes: tuple[tuple[str, bool], ...]) -> str:
    """One statement that does all these writes, and gives how many rows each one marked with True changed.

    Each question to the server is a round trip on which the thread waits for its turn beside the event loop.
    None of the writes sees what the others do.
    """
    parts = [
        f"w{place} AS ({text}{' RETURNING 1' if counted else ''})"
        for place, (text, counted) in enumerate(writes)
    ]
    counts = [
        f"(SELECT count(*) FROM w{place})"  # noqa: S608 (our own names)
        for place, (_, counted) in enumerate(writes)
        if counted
    ]
    return f"WITH {', '.join(parts)} SELECT {', '.join(counts)}"


def interrupter(connection: Connection) -> Callable[[], None]:
    """Ends the connection, from another thread."""
    return _driver(connection).hang_up


def _type(table: Table, column: str) -> str:
    from sqlalchemy.dialects import postgresql

    return table.c[column].type.compile(dialect=postgresql.dialect())  # type: ignore[no-untyped-call]


def _driver(connection: Connection) -> LimitedConnection:
    return cast(LimitedConnection, connection.connection.driver_connection)


def can_be_read(url: str) -> bool:
    """Whether libpq understands the URL."""
    try:
        conninfo_to_dict(url)
    except psycopg.Error:
        return False
    return True


def _parameters(url: str, statement_seconds: float) -> dict[str, object]:
    """What libpq is to be given; DatabaseUnusable, without the URL, if it cannot read it."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error:
        raise DatabaseUnusable(
            "database.url: not a PostgreSQL URL; write postgresql://user:password@host/name"
            " and percent-encode / @ : ? # % in user and password"
        ) from None  # libpq's own error repeats the URL
    milliseconds = round(statement_seconds * 1000)
    limits = (
        f"-c statement_timeout={milliseconds} -c idle_in_transaction_session_timeout={milliseconds}"
        f" {given.pop('options', None) or ''}"
    )
    return {**_DEFAULTS, **given, "options": limits.strip()}


def _place(parameters: dict[str, object]) -> str:
    """The address without user and password."""
    host = parameters.get("host") or parameters.get("hostaddr") or "localhost"
    port = f":{parameters['port']}" if parameters.get("port") else ""
    name = parameters.get("dbname") or parameters.get("user") or ""
    if str(host).startswith("/"):
        return f"postgresql:///{name}?host={host}" + (f"&port={port[1:]}" if port else "")
    return f"postgresql://{host}{port}/{name}"


_MENDS_BY_STATE = {
    "42501": "make the user the owner of the database, or GRANT CREATE, USAGE ON SCHEMA public to it",
    "25006": "name the primary server, or several hosts with target_session_attrs=read-write",
}
# A refused connection has no SQLSTATE, so what mends it is found by words; in other words it is not told.
_MENDS_BY_WORDS = (
    ("password authentication failed", "check user and password in database.url"),
    ("no password supplied", "write the password into database.url, or into ~/.pgpass"),
    ('role "', "make the user: CREATE ROLE … LOGIN PASSWORD '…'"),
    ('database "', "make the database: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0 OWNER …"),
    (
        "pg_hba.conf",
        "let this machine in with a line in the server's pg_hba.conf; it may ask for sslmode=require",
    ),
    ("SSL", "check sslmode, sslrootcert and sslcert in database.url"),
    ("certificate", "check sslmode, sslrootcert and sslcert in database.url"),
    ("too many clients", "raise max_connections, or run fewer workers"),
    ("connection slots", "raise max_connections, or run fewer workers"),
    ("starting up", "wait until the server has started"),
    ("refused", "check host and port in database.url, and that the server runs and listens there"),
    ("No such file", "check the host in database.url, and that the server runs"),
    ("translate host name", "check the host in database.url"),
    ("resolve host", "check the host in database.url"),
    ("timeout", "check host and port in database.url, and that no firewall is between"),
)


def _mend(error: SQLAlchemyError, told: str) -> str | None:
    state = sqlstate(error)
    if state is not None and state in _MENDS_BY_STATE:
        return _MENDS_BY_STATE[state]
    if isinstance(error, OperationalError):
        return next((mend for words, mend in _MENDS_BY_WORDS if words in told), None)
    return None
