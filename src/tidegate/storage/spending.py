"""Keeps what scopes with a budget have spent and hold in a day or month, beside the postings."""

from collections.abc import Iterable

from msgspec import Struct

from tidegate.ledger.books import Use
from tidegate.ledger.entries import Budget
from tidegate.ledger.periods import Period, period_of
from tidegate.storage.rows import MICROSECONDS
from tidegate.storage.statements import Statements, among

COLUMNS = ("account", "scope", "period", "spent", "held")
_REPLACE = "ON CONFLICT (account, scope, period) DO UPDATE SET spent = excluded.spent, held = excluded.held"
_Place = tuple[str, str, str]


class Line(Struct):
    """One scope in one period; nano-USD."""

    spent: int
    held: int
    changed: bool = False


class Spending:
    """The lines of one transaction. The account's balance is locked, and with it all of its lines.

    A request counts in the day and month in which its hold was taken. A key that moves to another account
    begins anew there.
    """

    def __init__(self, statements: Statements) -> None:
        self._statements = statements
        self._lines: dict[_Place, Line] = {}
        self._loaded: set[tuple[str, str]] = set()

    def load(self, places: Iterable[tuple[str, str]]) -> None:
        """Read the lines of these accounts and periods, each once in a transaction."""
        wanted = set(places) - self._loaded
        if not wanted:
            return
        self._loaded |= wanted
        accounts, periods = sorted({one for one, _ in wanted}), sorted({one for _, one in wanted})
        mark = self._statements.wording
        text = among(
            mark,
            "SELECT account, scope, period, spent, held FROM spending WHERE account IN",
            len(accounts),
            "",
        ) + among(mark, " AND period IN", len(periods), "")
        for account, scope, period, spent, held in self._statements.rows(text, [*accounts, *periods]):
            if (account, period) in wanted:
                self._lines[account, scope, period] = Line(spent, held)

    def use(self, account: str, budget: Budget, now: float) -> Use:
        """What a budget has spent and holds in the period of `now` (Unix seconds).

        Its line is made from the postings where there is none yet, so only before anything of this
        transaction has been booked: the postings must be those of the lines.
        """
        period = period_of(now, budget.period)
        place = (account, budget.scope, period.key)
        line = self._lines.get(place)
        if line is None:
            spent, held = recount(self._statements, account, budget.scope, period)
            line = self._lines[place] = Line(spent, held, changed=True)
        return Use(budget, line.spent, line.held)

    def move(self, account: str, key: str | None, periods: Iterable[str], *, spent: int, held: int) -> None:
        """Add to the lines that there are."""
        for period in periods:
            for scope in scopes(account, key):
                line = self._lines.get((account, scope, period))
                if line is not None:
                    line.spent += spent
                    line.held += held
                    line.changed = True

    def save(self) -> None:
        """Promise to write what has changed."""
        lines = [
            (*place, line.spent, line.held) for place, line in sorted(self._lines.items()) if line.changed
        ]
        if lines:
            self._statements.promise_insert("spending", COLUMNS, lines, _REPLACE)


def recount(statements: Statements, account: str, scope: str, period: Period) -> tuple[int, int]:
    """What the postings and open holds say that a scope has spent and holds in a period.

    A request without a hold counts when it was charged.
    """
    mark = statements.wording.mark
    start, end = period.start * MICROSECONDS, period.end * MICROSECONDS
    whose = [account]
    only = ""
    if scope.startswith("key:"):
        whose.append(scope.removeprefix("key:"))
        only = f' AND s."key" = {mark}'
    spent = statements.rows(
        "SELECT CAST(COALESCE(SUM(s.amount), 0) AS BIGINT) FROM postings s"  # noqa: S608 (our own texts)
        " LEFT JOIN postings h ON h.reference = s.reference AND h.kind = 'hold' AND h.source = 'available'"
        f" WHERE s.account = {mark}{only} AND s.kind = 'settle' AND s.at >= {mark}"
        f" AND COALESCE(h.at, s.at) >= {mark} AND COALESCE(h.at, s.at) < {mark}",
        [*whose, start, start, end],
    )
    held = statements.rows(
        "SELECT CAST(COALESCE(SUM(s.amount), 0) AS BIGINT) FROM intents s"  # noqa: S608 (our own texts)
        f" WHERE s.account = {mark}{only} AND s.created_at >= {mark} AND s.created_at < {mark}",
        [*whose, start, end],
    )
    return spent[0][0], held[0][0]


def scopes(account: str, key: str | None) -> tuple[str, ...]:
    """The scopes to which a request of `key` belongs."""
    return (f"account:{account}",) if key is None else (f"account:{account}", f"key:{key}")
