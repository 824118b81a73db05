"""One transaction of the books: balances are locked first, changed in memory, and written once at its end."""

import logging
from collections.abc import Iterable, Sequence

from msgspec import Struct

from tidegate.ledger.books import (
    Movement,
    Wish,
    apply,
    chargeable,
    decide,
    hold_postings,
    settlement_postings,
)
from tidegate.ledger.entries import Balance, Budget, Exhausted, Granted, Short
from tidegate.ledger.periods import names_of
from tidegate.storage.rows import MICROSECONDS
from tidegate.storage.spending import Spending
from tidegate.storage.statements import Statements, among

log = logging.getLogger("tidegate.storage")

BALANCES = ("account", "balance", "held", "budgeted")
POSTINGS = ("reference", "kind", "account", "key", "source", "target", "amount", "at", "note")
_SELECT = "SELECT account, balance, held, budgeted FROM balances WHERE account IN"
_REPLACE = (
    "ON CONFLICT (account) DO UPDATE"
    " SET balance = excluded.balance, held = excluded.held, budgeted = excluded.budgeted"
)
_POSTINGS_A_STATEMENT = 128


class Wanted(Struct, frozen=True, kw_only=True):
    """A hold that is asked for. `at` is in microseconds since 1970, `record` the JSON of its row."""

    id: str
    account: str
    key: str | None
    wish: Wish
    budgets: tuple[Budget, ...]
    record: str
    at: int


class Held(Struct, frozen=True):
    """An open hold: nano-USD, and since when in microseconds since 1970."""

    id: str
    account: str
    key: str | None
    amount: int
    at: int
    ended: bool = False
    """It was ended before, and what more is charged counts where it did."""


class Purse(Struct):
    """An account's line in `balances`."""

    account: str
    balance: int
    held: int
    budgeted: bool
    changed: bool = False


class Booking:
    """Collects the movements of one transaction; `save` writes them. `at` is now, in microseconds."""

    def __init__(self, statements: Statements, at: int) -> None:
        self.statements = statements
        self.purses: dict[str, Purse] = {}
        self.at = at
        """Now, in microseconds since 1970."""
        self._postings: list[tuple[object, ...]] = []
        self._spending = Spending(statements)

    def lock(self, accounts: Iterable[str]) -> None:
        """Read the balances of accounts and keep others from changing them; makes those that are missing."""
        wanted = sorted(set(accounts) - self.purses.keys())
        if not wanted:
            return
        self._read(wanted)
        missing = [account for account in wanted if account not in self.purses]
        if missing:
            lines = [(account, 0, 0, False) for account in missing]
            self.statements.insert("balances", BALANCES, lines, "ON CONFLICT DO NOTHING")
            self._read(missing)

    def _read(self, accounts: Sequence[str]) -> None:
        after = f" ORDER BY account{self.statements.wording.lock}"
        text = among(self.statements.wording, _SELECT, len(accounts), after)
        for account, balance, held, budgeted in self.statements.rows(text, accounts):
            self.purses[account] = Purse(account, balance, held, bool(budgeted))

    def look_at_budgets(self, wanted: Sequence[Wanted]) -> None:
        """Read what holds with budgets will be measured by; after `lock` and before anything is booked."""
        self._spending.load(
            (one.account, period)
            for one in wanted
            if one.budgets or self.purses[one.account].budgeted
            for period in names_of(one.at / MICROSECONDS)
        )
        for one in wanted:
            if one.budgets:
                purse = self.purses[one.account]
                purse.changed |= not purse.budgeted
                purse.budgeted = True
            for budget in one.budgets:
                self._spending.use(one.account, budget, one.at / MICROSECONDS)

    def hold(self, wanted: Wanted) -> Granted | Short | Exhausted:
        """Decide, and note the hold if it is granted. Its intent is the caller's to write."""
        purse = self.purses[wanted.account]
        now = wanted.at / MICROSECONDS
        uses = [self._spending.use(wanted.account, budget, now) for budget in wanted.budgets]
        answer = decide(wanted.wish, self.balance(wanted.account), uses, now)
        if isinstance(answer, Granted) and answer.amount:
            purse.held += answer.amount
            purse.changed = True
            self._post(wanted, hold_postings(answer.amount), wanted.at)
            if purse.budgeted:
                self._spending.move(wanted.account, wanted.key, names_of(now), spent=0, held=answer.amount)
        return answer

    def look_at_spending(self, held: Iterable[Held]) -> None:
        """Read the lines that ending these holds may change; their accounts are locked."""
        self._spending.load(
            (one.account, period)
            for one in held
            if self.purses[one.account].budgeted
            for period in self._counts_in(one)
        )

    def end(self, held: Held, cost: int) -> None:
        """Charge `cost` and give back the rest of the hold, whose intent the caller has deleted.

        A `held` of nothing charges what was never held.
        """
        # Never before its hold, whatever the clock did: what is counted since a moment then has both.
        at = max(self.at, held.at)
        self._post(held, settlement_postings(held.amount, cost), at)
        charged = chargeable(cost)
        if not charged and not held.amount:
            return
        purse = self.purses[held.account]
        purse.balance -= charged
        purse.held -= held.amount
        purse.changed = True
        if purse.held < 0:
            log.error("books: %s held less than its open holds; run `tidegate ledger verify`", held.account)
            purse.held = 0
        if purse.budgeted:
            periods = self._counts_in(held)
            self._spending.move(held.account, held.key, periods, spent=charged, held=-held.amount)

    def _counts_in(self, held: Held) -> tuple[str, str]:
        """The day and month that a request counts in: those of its hold posting, if it has one."""
        return names_of((held.at if held.amount or held.ended else max(self.at, held.at)) / MICROSECONDS)

    def balance(self, account: str) -> Balance:
        """What a locked account has now."""
        purse = self.purses[account]
        return Balance(account, purse.balance, purse.held)

    def pay(self, account: str, movement: Movement, *, reference: str, note: str | None = None) -> bool:
        """Book a credit or refund. False: this reference was booked before."""
        line = (
            reference,
            movement.kind,
            account,
            None,
            movement.source,
            movement.target,
            movement.amount,
            self.at,
            note,
        )
        tail = "ON CONFLICT (reference, kind, source) DO NOTHING"
        if self.statements.insert("postings", POSTINGS, [line], tail) == 0:
            return False
        purse, after = self.purses[account], apply(self.balance(account), movement)
        purse.balance, purse.held, purse.changed = after.balance, after.held, True
        return True

    def save(self) -> None:
        """Write postings, balances and spending, and all that was promised to the statements."""
        if self._postings:
            self.statements.promise_insert("postings", POSTINGS, self._postings, step=_POSTINGS_A_STATEMENT)
        lines = [
            (purse.account, purse.balance, purse.held, purse.budgeted)
            for _, purse in sorted(self.purses.items())
            if purse.changed
        ]
        if lines:
            self.statements.promise_insert("balances", BALANCES, lines, _REPLACE)
        self._spending.save()
        self.statements.keep()

    def _post(self, whose: Wanted | Held, movements: Iterable[Movement], at: int) -> None:
        for one in movements:
            self._postings.append(
                (whose.id, one.kind, whose.account, whose.key, one.source, one.target, one.amount, at, None)
            )
