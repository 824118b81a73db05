import sqlite3

import psycopg
import pytest
from sqlalchemy.exc import OperationalError

from tidegate.storage.patience import patiently


def raising(*errors: Exception) -> "Raising":
    return Raising(list(errors))


class Raising:
    """A task that fails with each of the errors, then is done."""

    def __init__(self, errors: list[Exception]) -> None:
        self.left = errors
        self.tries = 0

    def __call__(self) -> str:
        self.tries += 1
        if self.left:
            raise OperationalError("BEGIN", None, self.left.pop(0))
        return "done"


def sqlite_error(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("told")
    error.sqlite_errorcode = code
    return error


def test_a_lock_is_waited_for() -> None:
    busy_by_recovery = 261  # SQLITE_BUSY with more in the higher byte
    task = raising(
        sqlite_error(busy_by_recovery), psycopg.errors.DeadlockDetected(), psycopg.errors.LockNotAvailable()
    )
    assert patiently(task) == "done"
    assert task.tries == 4


@pytest.mark.parametrize(
    "error", [sqlite_error(sqlite3.SQLITE_CANTOPEN), psycopg.OperationalError("refused")]
)
def test_nothing_else_is_waited_for(error: Exception) -> None:
    task = raising(error)
    with pytest.raises(OperationalError):
        patiently(task)
    assert task.tries == 1


def test_a_lock_is_not_waited_for_for_ever() -> None:
    task = raising(sqlite_error(sqlite3.SQLITE_BUSY))
    with pytest.raises(OperationalError):
        patiently(task, seconds=0)
    assert task.tries == 1
