"""A connection to PostgreSQL that waits for an answer only so long."""

import os
import socket
import time
from collections.abc import Generator
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.rows import TupleRow

Result = TypeVar("Result")

_LOOK = 0.1
"""Seconds between two looks at the clock while the server says nothing."""


class LimitedConnection(psycopg.Connection[TupleRow]):
    """Closes itself when the server stays silent.

    The server's own time-outs cannot do that: a frozen one keeps none of them, while its system goes on to
    confirm every packet, so that the network looks well too.
    """

    patience: float | None = None
    """Seconds for one statement; None waits for ever."""

    def wait(self, gen: PQGen[Result], interval: float = _LOOK, *args: Any, **options: Any) -> Result:
        """As the driver's own, with a limit."""
        if self.patience is None:
            return super().wait(gen, interval, *args, **options)
        return super().wait(self._limited(gen, time.monotonic() + self.patience), interval, *args, **options)

    def rollback(self) -> None:
        """As the driver's own, but a closed connection has nothing left to undo.

        To complain would hide the error that closed it.
        """
        if not self.closed:
            super().rollback()

    def hang_up(self) -> None:
        """End the connection from another thread, so that nobody waits for its answer.

        A frozen server answers no request to cancel either.
        """
        with (
            suppress(OSError, psycopg.OperationalError),  # it may be closed already
            socket.socket(fileno=os.dup(self.pgconn.socket)) as line,
        ):
            line.shutdown(socket.SHUT_RDWR)

    def _limited(self, gen: PQGen[Result], ends_at: float) -> Generator[Any, Any, Result]:
        """`gen` step by step. A step that comes without news is the moment to look at the clock."""
        try:
            wanted = next(gen)
            while True:
                news = yield wanted
                if not news and time.monotonic() > ends_at:
                    gen.close()
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"the server has not answered for {self.patience:g} s")
                wanted = gen.send(news)
        except StopIteration as end:
            result: Result = end.value
            return result
