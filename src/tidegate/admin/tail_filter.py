"""Tells which rows a live tail shows, and how many."""

from collections.abc import Sequence
from typing import Any

from tidegate.storage import rows
from tidegate.storage.pages import EQUAL, Filters

_ID, _CREATED_AT = map(rows.COLUMNS.index, ("id", "created_at"))


class Sieve:
    """The filters of one tail, taken apart once."""

    def __init__(self, filters: Filters) -> None:
        self._equal = [
            (rows.COLUMNS.index(name), getattr(filters, name))
            for name in EQUAL
            if getattr(filters, name) is not None
        ]
        self._since = filters.since
        self._until = filters.until
        self._id = filters.id

    def passes(self, row: Sequence[Any]) -> bool:
        """Whether a row of rows.COLUMNS fits."""
        if any(row[place] != wanted for place, wanted in self._equal):
            return False
        if self._since is not None and row[_CREATED_AT] < self._since:
            return False
        if self._until is not None and row[_CREATED_AT] >= self._until:
            return False
        return self._id is None or str(row[_ID]).startswith(self._id)


class Allowance:
    """How many rows may be sent: some at once, and then so many a second."""

    def __init__(self, burst: int, a_second: float) -> None:
        self._burst = burst
        self._a_second = a_second
        self._left = float(burst)
        self._at = 0.0

    def take(self, wanted: int, now: float) -> int:
        """How many of those that are wanted may be sent at `now` (seconds that only rise)."""
        self._left = min(self._burst, self._left + (now - self._at) * self._a_second)
        self._at = now
        granted = min(wanted, int(self._left))
        self._left -= granted
        return granted
