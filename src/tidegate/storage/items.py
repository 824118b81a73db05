"""What waits to be written."""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any, TypeAlias

from msgspec import Struct
from sqlalchemy import Connection

from tidegate.ledger.entries import Answer
from tidegate.storage import rows
from tidegate.storage.booking import Wanted
from tidegate.storage.schema import requests


class Sheet(Struct, frozen=True, kw_only=True):
    """A table that rows are added to. `encode` gives a record's values in the order of `columns`."""

    table: str
    columns: tuple[str, ...]
    on_conflict: str
    encode: Callable[[Any], Iterable[object]]
    mend: Callable[[Any], Any]
    """Makes a record that the database refuses into one that it can hold."""
    distinct: int = 0
    """So many first columns tell two lines apart where a conflict updates: of equal ones the last counts."""
    settles: bool = False
    """Whether its records are finished requests: each ends its hold in the same transaction."""


REQUESTS = Sheet(
    table=requests.name,
    columns=rows.COLUMNS,
    on_conflict="DO NOTHING",  # a batch tried again after an unclear failure may be there already
    encode=rows.encode,
    mend=rows.mended,
    settles=True,
)


class Row(Struct, frozen=True):
    """A line for a sheet."""

    sheet: Sheet
    record: Any


class Release(Struct, frozen=True):
    """A hold that may have been taken and must not stand.

    Whoever takes it may not have committed yet, and be nobody that we hear of any more. The lock of the
    `account` is waited for, so that it has.
    """

    id: str
    account: str | None = None


class Noted(Struct, frozen=True):
    """A hold that was granted without the database."""

    wanted: Wanted


class Job(Struct, frozen=True):
    """Something else to do in the same order; None only tells that everything before it is done."""

    task: Callable[[Connection], Any] | None
    done: "Future[Any]"


Entry: TypeAlias = Row | Release | Noted
"""What can be written in any order with others, and again."""


class Ticket:
    """A hold on its way. Belongs to the event loop, but for `wanted` and `on_credit`, which never change."""

    __slots__ = ("abandoned", "answer", "asked_at", "on_credit", "wanted")

    def __init__(
        self, wanted: Wanted, answer: "asyncio.Future[Answer]", asked_at: float, *, on_credit: bool
    ) -> None:
        """`on_credit`: nothing limits it but the wish, so it can be granted without the database."""
        self.wanted = wanted
        self.on_credit = on_credit
        self.answer = answer
        self.asked_at = asked_at
        self.abandoned = False
        """Set before anything else is done about it: a hold that the writer has not begun is left alone."""
