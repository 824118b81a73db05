"""Tries from a thread of its own whether a database that was away can be written again."""

import logging
import threading
from collections.abc import Callable

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from tidegate.storage.database import Database, DatabaseUnusable

log = logging.getLogger("tidegate.storage")

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 1.0


class Probe:
    """Writes now and then until it succeeds once. The writer's thread stays free meanwhile."""

    def __init__(
        self, database: Database, write: Callable[[Connection], None], tell: Callable[[], None]
    ) -> None:
        """`write` is what is tried; `tell` is called when it succeeded."""
        self._database = database
        self._write = write
        self._tell = tell
        self._succeeded = threading.Event()
        self._stopping = threading.Event()
        threading.Thread(target=self._run, name="tidegate-probe", daemon=True).start()

    @property
    def succeeded(self) -> bool:
        """Whether the database could be written."""
        return self._succeeded.is_set()

    def stop(self) -> None:
        """Nobody wants to know any more."""
        self._stopping.set()

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        while not self._stopping.wait(pause):
            pause = min(pause * 2, _LONGEST_PAUSE)
            if self._try():
                self._succeeded.set()
                self._tell()
                return

    def _try(self) -> bool:
        try:
            if not self._database.exists():
                return True  # the writer makes a new one, or finds out why it cannot
            with self._database.connect_writer() as connection, connection.begin():
                self._write(connection)
        except (SQLAlchemyError, DatabaseUnusable):
            return False  # the writer has told the reason
        except Exception:
            log.exception("journal: unexpected error while the database is away")
            return False
        return True
