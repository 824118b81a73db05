"""Opens the books for a command."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tidegate.cli.author import author

if TYPE_CHECKING:
    from tidegate.admin.ports import LedgerDesk
    from tidegate.ledger.entries import Balance, Posting
    from tidegate.storage.audit import Author
    from tidegate.storage.database import Database
    from tidegate.storage.ledger_desk import Refund

_MISSING = "there are no books; the gateway makes them at its start"


@asynccontextmanager
async def open_books(url: str) -> "AsyncIterator[LedgerDesk]":
    """The ledger of the database that `url` names, whether a gateway runs or not.

    Raises DatabaseUnusable, for tables of another version too.
    """
    database = _opened(url)
    try:
        yield _Books(database, author())
    finally:
        database.close()


def verify(url: str) -> str | None:
    """Recompute the books: the first difference in words, or None. Raises DatabaseUnusable."""
    from tidegate.storage.verify import verify as recompute  # late: `--help` need not load it

    database = _opened(url)
    try:
        difference = recompute(database)
    finally:
        database.close()
    return None if difference is None else difference.what


def rebuild(url: str) -> None:
    """Make balances and budgets anew from the postings. Raises DatabaseUnusable."""
    from tidegate.storage.verify import rebuild as make_anew  # late, as above

    database = _opened(url)
    try:
        make_anew(database, author())
    finally:
        database.close()


def _opened(url: str) -> "Database":
    from tidegate.storage.database import Database  # late, as above
    from tidegate.storage.migrate import demand_current

    database = Database(url)
    try:
        demand_current(database, _MISSING)
    except BaseException:
        database.close()
        raise
    return database


class _Books:
    """The ledger for one command, which has nothing else to do meanwhile: these calls block."""

    def __init__(self, database: "Database", author: "Author") -> None:
        from tidegate.storage.ledger_desk import LedgerFile  # late, as above

        self._database = database
        self._file = LedgerFile(database)
        self._author = author

    def by(self, author: "Author") -> "_Books":
        return _Books(self._database, author)

    async def credit(self, account: str, amount: int, reference: str) -> bool:
        from tidegate.storage.ledger_desk import noted_credit  # late, as above

        return self._file.write(noted_credit(account, amount, reference, time.time(), self._author))

    async def refund(self, request_id: str, amount: int | None, reference: str) -> "Refund":
        from tidegate.storage.ledger_desk import noted_refund  # late, as above

        return self._file.write(noted_refund(request_id, amount, reference, time.time(), self._author))

    async def balance(self, account: str) -> "Balance":
        from tidegate.storage.ledger_desk import read_balance  # late, as above

        return self._file.read(lambda connection: read_balance(connection, account))

    async def balances(self) -> "list[Balance]":
        from tidegate.storage.ledger_desk import read_balances  # late, as above

        return self._file.read(read_balances)

    async def postings(self, account: str | None, *, limit: int, before: int | None) -> "tuple[Posting, ...]":
        from tidegate.storage.ledger_desk import read_postings  # late, as above

        return self._file.read(lambda connection: read_postings(connection, account, limit, before))
