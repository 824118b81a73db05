"""What can go wrong with a database: whether it passes by itself, and how it is told."""

from sqlalchemy.exc import (
    DatabaseError,
    DataError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
)

_OF_ROWS = ("21", "22", "23", "54")
"""Classes of SQLSTATE that a row brings about: wrong values, broken constraints, more than an index takes."""

_OF_STATEMENTS = "42"
_OF_THE_DATABASE = ("42501", "42P01", "42703")
"""No right, no table, no column: of all errors of statements those that the database's owner can mend."""


class DatabaseUnusable(Exception):
    """The database cannot be opened; the text tells an operator why and what mends it."""


class DatabaseAway(DatabaseUnusable):
    """The server of the database does not answer, or takes nobody now: the same may succeed later."""


_OPERATORS_TO_MEND = (
    *("password authentication failed", "no password supplied", 'role "', 'database "', "pg_hba.conf"),
    *("does not support SSL", "certificate", "sslmode"),
)
"""What a refused connection says if no time will mend it; it has no SQLSTATE."""


def is_away(error: Exception) -> bool:
    """Whether a server could not be reached, or has no place or no time now."""
    if not isinstance(error, OperationalError):
        return False
    state = sqlstate(error)
    if state is not None:
        return state.startswith("08") or state in ("57P01", "57P02", "57P03", "53300")
    return not any(words in reason(error) for words in _OPERATORS_TO_MEND)


def passes(error: Exception) -> bool:
    """Whether the database, and not a row, is what failed: the same write may succeed later."""
    match error:
        case DatabaseUnusable():
            return True
        case DBAPIError(connection_invalidated=True):
            return True
        case DBAPIError() if (state := sqlstate(error)) is not None:
            return state in _OF_THE_DATABASE or not state.startswith((*_OF_ROWS, _OF_STATEMENTS))
        case IntegrityError() | DataError() | ProgrammingError() | NotSupportedError():
            return False
        case DatabaseError() | InterfaceError():  # a file that is broken, or no database at all, too
            return not isinstance(error.orig, (OverflowError, UnicodeError))
        case _:  # any error may come out of a driver
            return False


def sqlstate(error: BaseException) -> str | None:
    """PostgreSQL's five letters for what went wrong; None where it told none."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    state: str | None = getattr(cause, "sqlstate", None)
    return state


def reason(error: BaseException) -> str:
    """The database's own words, without the statement and its values."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    primary = getattr(getattr(cause, "diag", None), "message_primary", None)
    # Beyond its first line PostgreSQL repeats the values that it did not like.
    return primary or str(cause) or type(cause).__name__
