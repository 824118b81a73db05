"""Tells which rows a live tail shows."""

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
