import sqlite3

import psycopg
import pytest
import sqlalchemy.exc
from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    InternalError,
    OperationalError,
    ProgrammingError,
)

from tidegate.storage.faults import DatabaseUnusable, is_away, passes, reason


def of_sqlite(error: sqlite3.Error) -> DBAPIError:
    kind = getattr(sqlalchemy.exc, type(error).__name__)
    wrapped: DBAPIError = kind("INSERT INTO requests VALUES (?)", ("a value",), error)
    return wrapped


_WRAPPERS = (
    (psycopg.OperationalError, OperationalError),
    (psycopg.DataError, DataError),
    (psycopg.IntegrityError, IntegrityError),
    (psycopg.ProgrammingError, ProgrammingError),
)


def of_postgresql(state: str) -> DBAPIError:
    driver = psycopg.errors.lookup(state)("some words")
    wrapper = next((wrapper for kind, wrapper in _WRAPPERS if isinstance(driver, kind)), InternalError)
    return wrapper("INSERT INTO requests VALUES (%s)", ("a value",), driver)


def test_a_lock_passes_and_a_bad_row_does_not() -> None:
    assert passes(of_sqlite(sqlite3.OperationalError("database is locked")))
    assert passes(of_sqlite(sqlite3.OperationalError("disk I/O error")))
    assert passes(of_sqlite(sqlite3.DatabaseError("database disk image is malformed")))
    assert passes(of_sqlite(sqlite3.DatabaseError("file is not a database")))
    assert not passes(of_sqlite(sqlite3.IntegrityError("NOT NULL constraint failed")))
    assert not passes(of_sqlite(sqlite3.ProgrammingError("Error binding parameter 1")))
    assert not passes(UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"))
    assert not passes(OverflowError("Python int too large"))
    assert passes(DatabaseUnusable("the folder is gone"))


@pytest.mark.parametrize(
    "state",
    [
        *("57P01", "57P02", "57P03", "57014", "53300", "53100", "53200", "25006", "25P03", "25P02"),
        *("40001", "40P01", "55P03", "55006", "08006", "08003", "08000", "58030", "XX000", "XX001"),
        *("42501", "42P01", "42703", "3D000", "28P01", "28000"),
    ],
)
def test_the_servers_trouble_passes(state: str) -> None:
    assert passes(of_postgresql(state))


@pytest.mark.parametrize(
    "state",
    ["22003", "22021", "22P05", "22P02", "23502", "23505", "23514", "21000", "54000", "42804", "42601"],
)
def test_a_rows_own_fault_does_not_pass(state: str) -> None:
    assert not passes(of_postgresql(state))


def test_a_lost_connection_passes_and_a_driver_that_refuses_a_value_does_not() -> None:
    lost = OperationalError("x", None, psycopg.OperationalError("server closed the connection unexpectedly"))
    assert passes(lost)
    # A driver may name the row's fault when the connection breaks in the same moment.
    assert passes(DataError("x", None, psycopg.DataError("broken"), connection_invalidated=True))
    assert not passes(DataError("x", None, psycopg.DataError("text fields cannot contain NUL")))
    assert not passes(ProgrammingError("x", None, psycopg.ProgrammingError("cannot adapt type")))


def test_a_reason_has_neither_statement_nor_values() -> None:
    assert reason(of_sqlite(sqlite3.OperationalError("disk full"))) == "disk full"
    assert reason(of_postgresql("53100")) == "some words"


def unreached(words: str) -> DBAPIError:
    """A connection that libpq could not make: there is no SQLSTATE."""
    return OperationalError(None, None, psycopg.OperationalError(f"connection failed: {words}"))


@pytest.mark.parametrize(
    "words",
    [
        'connection to server at "10.0.0.1", port 5432 failed: Connection refused',
        "connection timeout expired",
        'failed to resolve host "db": Name or service not known',
        "FATAL:  the database system is starting up",
        "FATAL:  the database system is shutting down",
        "FATAL:  sorry, too many clients already",
        "FATAL:  remaining connection slots are reserved",
        'connection to server on socket "/run/x/.s.PGSQL.5432" failed: No such file or directory',
        "server closed the connection unexpectedly",
        "SSL SYSCALL error: EOF detected",
    ],
)
def test_a_server_that_does_not_answer_is_away(words: str) -> None:
    assert is_away(unreached(words))


@pytest.mark.parametrize(
    "words",
    [
        'FATAL:  password authentication failed for user "tidegate"',
        'FATAL:  role "tidegate" does not exist',
        'FATAL:  database "tidegate" does not exist',
        'FATAL:  no pg_hba.conf entry for host "10.0.0.2"',
        "fe_sendauth: no password supplied",
        "server does not support SSL, but SSL was required",
        'root certificate file "/x" does not exist',
    ],
)
def test_what_the_operator_must_mend_is_not(words: str) -> None:
    assert not is_away(unreached(words))


def test_errors_of_a_server_that_answers_tell_by_their_state() -> None:
    for state in ("57P01", "57P02", "57P03", "53300", "08006", "08001"):
        assert is_away(of_postgresql(state))
    for state in ("42501", "28P01", "3D000", "57014", "40001"):
        assert not is_away(of_postgresql(state))
    assert not is_away(of_sqlite(sqlite3.DatabaseError("file is not a database")))
    assert not is_away(DatabaseUnusable("another version"))
