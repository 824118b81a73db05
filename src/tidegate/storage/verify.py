"""Recomputes the books from their postings and names the first difference."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from tidegate.ledger.money import usd
from tidegate.ledger.periods import period_named
from tidegate.storage.audit import NOBODY, Author, Deed, note
from tidegate.storage.database import Database, DatabaseUnusable, reason
from tidegate.storage.spending import recount
from tidegate.storage.statements import Statements

_ROW_MUST_BE_THERE = 3_600_000_000
"""Microseconds by which a hold must be younger than the oldest row that retention has left."""


class Difference(Struct, frozen=True):
    """One thing that is not as it must be. `what` is a sentence for an operator."""

    what: str


def verify(database: Database) -> Difference | None:
    """The first difference, or None. Sees one moment, whatever is written meanwhile.

    Raises DatabaseUnusable if the books cannot be read.
    """
    try:
        with database.connect_reader() as connection, connection.begin():
            database.take_time(connection)
            return next(differences(connection), None)
    except SQLAlchemyError as error:
        raise DatabaseUnusable(f"the books cannot be read: {reason(error)}") from error


def differences(connection: Connection) -> Iterator[Difference]:
    """All differences, the gravest kinds first."""
    for query, words in _CHECKS:
        for row in connection.execute(text(query)):
            yield Difference(words(*row))
    yield from _spending(connection)


def rebuild(database: Database, author: Author = NOBODY) -> None:
    """Make balances and spending anew from postings and open holds. Raises DatabaseUnusable.

    That `author` did it stands in the audit log.
    """
    try:
        with database.connect_writer() as connection, connection.begin():
            database.take_time(connection)
            if connection.engine.dialect.name == "postgresql":  # SQLite's write lock is for all tables
                tables = "requests, balances, postings, intents, spending"
                connection.execute(text(f"LOCK TABLE {tables} IN EXCLUSIVE MODE"))
            connection.execute(text("DELETE FROM balances"))
            connection.execute(text(_BALANCES_ANEW))
            _respend(connection)
            note(connection, author, Deed(action="rebuild", kind="ledger"))
    except SQLAlchemyError as error:
        raise DatabaseUnusable(f"the books cannot be written: {reason(error)}") from error


def _spending(connection: Connection) -> Iterator[Difference]:
    for account, scope, period, spent, held, true_spent, true_held in _recounted(connection):
        if (spent, held) != (true_spent, true_held):
            yield Difference(
                f"budget of {scope} (account {account}) in {period}: {usd(spent)} spent and {usd(held)} held,"
                f" its postings come to {usd(true_spent)} spent and {usd(true_held)} held"
            )


def _respend(connection: Connection) -> None:
    change = text(
        "UPDATE spending SET spent = :spent, held = :held"
        " WHERE account = :account AND scope = :scope AND period = :period"
    )
    for account, scope, period, _, _, spent, held in list(_recounted(connection)):
        place = {"account": account, "scope": scope, "period": period}
        connection.execute(change, {**place, "spent": spent, "held": held})


def _recounted(connection: Connection) -> Iterator[tuple[str, str, str, int, int, int, int]]:
    statements = Statements(connection)
    query = "SELECT account, scope, period, spent, held FROM spending ORDER BY account, scope, period"
    for account, scope, period, spent, held in connection.execute(text(query)).all():
        counted = recount(statements, account, scope, period_named(period))
        yield (account, scope, period, spent, held, *counted)


# Sums are cast: PostgreSQL adds whole numbers up to a decimal.
def _sum(expression: str) -> str:
    return f"CAST(COALESCE(SUM({expression}), 0) AS BIGINT)"


_HELD = _sum("CASE WHEN target = 'held' THEN amount WHEN source = 'held' THEN -amount ELSE 0 END")
_BALANCE = _sum(
    "CASE WHEN kind IN ('credit', 'refund') THEN amount WHEN kind = 'settle' THEN -amount ELSE 0 END"
)
_ACCOUNTS = f"SELECT account, {_BALANCE} AS balance, {_HELD} AS held FROM postings GROUP BY account"  # noqa: S608
_HOLDS = f"SELECT reference, {_HELD} AS held FROM postings WHERE kind <> 'credit' GROUP BY reference"  # noqa: S608
_CHARGES = (
    f"SELECT reference, {_sum('amount')} AS charged FROM postings WHERE kind = 'settle' GROUP BY reference"  # noqa: S608
)

_BALANCES_ANEW = (
    "INSERT INTO balances (account, balance, held, budgeted)"  # noqa: S608
    " SELECT t.account, t.balance, t.held, EXISTS (SELECT 1 FROM spending s WHERE s.account = t.account)"
    f" FROM ({_ACCOUNTS}) t"
)


def _in_words(what: str, *amounts: int) -> Callable[..., str]:
    """A sentence of a row: the columns at `amounts` are nano-USD."""

    def words(*row: Any) -> str:
        return what.format(*(usd(value) if place in amounts else value for place, value in enumerate(row)))

    return words


_CHECKS: tuple[tuple[str, Callable[..., str]], ...] = (
    (
        "SELECT reference, kind, source, COUNT(*) FROM postings GROUP BY reference, kind, source"
        " HAVING COUNT(*) > 1",
        _in_words("{0}: {1} from {2} is booked {3} times"),
    ),
    (
        "SELECT t.account, COALESCE(b.balance, 0), COALESCE(b.held, 0), t.balance, t.held"  # noqa: S608
        f" FROM ({_ACCOUNTS}) t LEFT JOIN balances b ON b.account = t.account"
        " WHERE t.balance <> COALESCE(b.balance, 0) OR t.held <> COALESCE(b.held, 0) ORDER BY t.account",
        _in_words(
            "account {0}: its balance is {1} with {2} held, its postings come to {3} with {4} held",
            1,
            2,
            3,
            4,
        ),
    ),
    (
        "SELECT b.account, b.balance, b.held FROM balances b WHERE (b.balance <> 0 OR b.held <> 0)"
        " AND NOT EXISTS (SELECT 1 FROM postings p WHERE p.account = b.account) ORDER BY b.account",
        _in_words("account {0}: its balance is {1} with {2} held, but it has no postings", 1, 2),
    ),
    (
        "SELECT t.reference, t.held, COALESCE(i.amount, 0)"  # noqa: S608
        f" FROM ({_HOLDS}) t LEFT JOIN intents i ON i.id = t.reference"
        " WHERE t.held <> COALESCE(i.amount, 0) ORDER BY t.reference",
        _in_words("{0}: its postings leave {1} held, its open hold is {2}", 1, 2),
    ),
    (
        "SELECT i.id, i.amount FROM intents i WHERE i.amount > 0 AND NOT EXISTS"
        " (SELECT 1 FROM postings p WHERE p.reference = i.id AND p.kind = 'hold') ORDER BY i.id",
        _in_words("{0}: its open hold of {1} has no posting", 1),
    ),
    (
        "SELECT r.id FROM intents i JOIN requests r ON r.id = i.id ORDER BY r.id",
        _in_words("{0}: its row is written, but its hold is still open"),
    ),
    (
        "SELECT r.id, r.cost, COALESCE(c.charged, 0)"  # noqa: S608
        f" FROM requests r LEFT JOIN ({_CHARGES}) c ON c.reference = r.id"
        " WHERE r.account IS NOT NULL AND r.cost <> COALESCE(c.charged, 0) ORDER BY r.seq",
        _in_words("{0}: its row says that it cost {1}, its postings charge {2}", 1, 2),
    ),
    (
        "SELECT s.reference, s.amount FROM postings s"  # noqa: S608
        " JOIN postings h ON h.reference = s.reference AND h.kind = 'hold' AND h.source = 'available'"
        f" WHERE s.kind = 'settle' AND h.at > (SELECT MIN(created_at) FROM requests) + {_ROW_MUST_BE_THERE}"
        " AND NOT EXISTS (SELECT 1 FROM requests r WHERE r.id = s.reference) ORDER BY s.number",
        _in_words("{0}: it was charged {1}, but has no row", 1),
    ),
)
