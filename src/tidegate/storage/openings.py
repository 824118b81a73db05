"""Credits the opening balances of a config file, each account's once ever."""

import logging
from collections.abc import Iterable

from sqlalchemy import Connection, select

from tidegate.ledger.books import Beyond, credit
from tidegate.ledger.entries import OPENING
from tidegate.ledger.money import usd
from tidegate.storage.booking import Booking
from tidegate.storage.schema import postings
from tidegate.storage.statements import Statements

log = logging.getLogger("tidegate.storage")


class Openings:
    """The opening balances of one config file, by account in nano-USD."""

    def __init__(self, amounts: Iterable[tuple[str, int]] = ()) -> None:
        self._told: set[tuple[str, int]] = set()
        self.take(amounts)

    def take(self, amounts: Iterable[tuple[str, int]]) -> None:
        """Have another config file's; those of nothing are left out."""
        self._amounts = {account: amount for account, amount in amounts if amount > 0}

    def __bool__(self) -> bool:
        return bool(self._amounts)

    def credit(self, connection: Connection, at: int) -> None:
        """Credit what was never credited; `at` in microseconds. What stays out is told in the log, once."""
        booking = Booking(Statements(connection), at)
        booking.lock(self._amounts)
        # Under the locks: whoever credits the same ones has done so, or waits.
        there = self._credited(connection)
        for account, amount in self._amounts.items():
            if account in there:
                self._compare(account, amount, there[account])
                continue
            paid = credit(booking.balance(account), amount)
            if isinstance(paid, Beyond):
                self._tell(account, amount, "its opening balance would bring it above what books can keep")
            else:
                booking.pay(account, paid, reference=f"{OPENING}{account}")
        booking.save()

    def _credited(self, connection: Connection) -> dict[str, int]:
        references = [f"{OPENING}{account}" for account in self._amounts]
        query = select(postings.c.account, postings.c.amount).where(
            postings.c.kind == "credit", postings.c.reference.in_(references)
        )
        return {str(account): int(amount) for account, amount in connection.execute(query)}

    def _compare(self, account: str, amount: int, there: int) -> None:
        """The first opening balance stands, whatever another file or an earlier one says."""
        if there != amount:
            self._tell(
                account,
                amount,
                f"its opening balance was credited as {usd(there)} USD before, so the {usd(amount)} USD"
                " of this config file are not; pay the rest with `tidegate accounts credit`",
            )

    def _tell(self, account: str, amount: int, words: str) -> None:
        if (account, amount) not in self._told:
            self._told.add((account, amount))
            log.warning("account %s: %s", account, words)
