"""Puts wrong tokens into the audit log, many in one row: whoever guesses must not fill the disk."""

import asyncio
from collections.abc import Callable

from tidegate.storage.audit import Author, Deed, Via

EVERY = 60.0
"""Seconds between two rows."""
_MOST_ADDRESSES = 10

Tell = Callable[[Author, Deed], None]


class FailedTries:
    """The wrong tokens of one process, by one way in."""

    def __init__(self, via: Via, tell: Tell, every: float = EVERY) -> None:
        self._via = via
        self._tell = tell
        self._every = every
        self._count = 0
        self._addresses: dict[str, None] = {}
        self._pause: asyncio.TimerHandle | None = None

    def add(self, address: str | None) -> None:
        """Count one; the first is told at once, those of the next minute together."""
        self._count += 1
        if address is not None and len(self._addresses) < _MOST_ADDRESSES:
            self._addresses[address] = None
        if self._pause is None:
            self._write()

    def close(self) -> None:
        """Tell what is not told yet."""
        if self._pause is not None:
            self._pause.cancel()
        self._pause = None
        if self._count:
            self._put()

    def _write(self) -> None:
        """Tell what there is, then wait; when nothing came meanwhile, the next is told at once again."""
        self._pause = None
        if self._count:
            self._put()
            self._pause = asyncio.get_running_loop().call_later(self._every, self._write)

    def _put(self) -> None:
        addresses = list(self._addresses)
        author = Author(operator=None, via=self._via, address=addresses[0] if len(addresses) == 1 else None)
        changes = {"tries": (None, self._count), "addresses": (None, addresses)}
        self._count, self._addresses = 0, {}
        self._tell(author, Deed(action="sign_in_failed", kind="sessions", changes=changes))
