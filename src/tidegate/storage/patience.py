"""Tries again what another process's lock refuses for the moment."""

import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import OperationalError

from tidegate.storage.faults import sqlstate

_OPENING_SECONDS = 30.0
_OPENING_PAUSE = 0.05
_LOCKED = ("40001", "40P01", "55P03")

Result = TypeVar("Result")


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
    # The low byte is the primary code.
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or sqlstate(error) in _LOCKED
