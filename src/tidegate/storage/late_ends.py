"""Books what a process that was cut off knows better than those who ended its requests for it."""

import logging
from collections.abc import Sequence

from msgspec.structs import replace

from tidegate.exchange.ports import RequestRecord
from tidegate.ledger.books import Beyond, chargeable, refund
from tidegate.ledger.entries import LATE
from tidegate.ledger.money import usd
from tidegate.storage import rows
from tidegate.storage.booking import Booking, Held
from tidegate.storage.counting import correct
from tidegate.storage.statements import Statements, among
from tidegate.storage.tally import COLUMNS

log = logging.getLogger("tidegate.storage")

_COUNTED = ", ".join(f'"{name}"' for name in COLUMNS)
_NAMES = ", ".join(f'"{name}" = {{mark}}' for name in rows.COLUMNS)


def book_late_ends(booking: Booking, records: Sequence[RequestRecord]) -> None:
    """Put right the rows that a recovery wrote; `records` are ends whose row was there already.

    Their accounts are locked. A row that is no recovery's, or says the same, is left alone.
    """
    charged = _settled_as_interrupted(booking.statements, [record.id for record in records])
    wrong = [
        record
        for record in records
        if record.id in charged
        and (record.outcome, chargeable(record.cost)) != ("interrupted", charged[record.id])
    ]
    if not wrong:
        return
    ids = [record.id for record in wrong]
    posted, paid_back = _posted(booking.statements, ids), _paid_back(booking.statements, ids)
    late = {record.id: _held(record, posted.get((record.id, "hold"))) for record in wrong}
    booking.look_at_spending(held for held in late.values() if held is not None)
    for record in wrong:
        left = charged[record.id] - paid_back.get(record.id, 0)
        # What an operator has paid back meanwhile is not paid back again.
        difference = max(chargeable(record.cost) - charged[record.id], -left)
        if difference > 0 and (record.id, "settle") in posted:
            log.error(
                "books: %s was cut off; what had settled it as interrupted had charged more than its hold,"
                " %s USD are not charged",
                record.id,
                usd(difference),
            )
            continue
        log.warning(
            "books: %s was cut off; another process had settled it as interrupted, %s USD are booked now",
            record.id,
            usd(difference),
        )
        _book(booking, record, late[record.id], difference)
        cost = max(charged[record.id], chargeable(record.cost))
        _replace(booking.statements, record, cost, booking.at)


def _book(booking: Booking, record: RequestRecord, held: Held | None, difference: int) -> None:
    if held is None:  # nobody is there to pay
        return
    if difference > 0:
        booking.end(held, difference)
    elif difference < 0:
        back = refund(booking.balance(held.account), -difference)
        if not isinstance(back, Beyond):
            booking.pay(held.account, back, reference=f"{LATE}{record.id}", note=record.id)


def _held(record: RequestRecord, held_at: int | None) -> Held | None:
    if record.account is None:
        return None
    return Held(record.id, record.account, record.key, 0, held_at or 0, ended=held_at is not None)


def _settled_as_interrupted(statements: Statements, ids: Sequence[str]) -> dict[str, int]:
    if not ids:
        return {}
    text = among(
        statements.wording,
        "SELECT id, cost FROM requests WHERE outcome = 'interrupted' AND id IN",
        len(ids),
        "",
    )
    return dict(row for row in statements.rows(text, ids))


def _posted(statements: Statements, ids: Sequence[str]) -> dict[tuple[str, str], int]:
    """When the holds were taken, and what was charged beyond them."""
    text = among(
        statements.wording,
        "SELECT reference, kind, at FROM postings WHERE source = 'available' AND reference IN",
        len(ids),
        "",
    )
    return {(reference, kind): at for reference, kind, at in statements.rows(text, ids)}


def _paid_back(statements: Statements, ids: Sequence[str]) -> dict[str, int]:
    """What was refunded of each request."""
    text = among(
        statements.wording,
        "SELECT note, SUM(amount) FROM postings WHERE kind = 'refund' AND note IN",
        len(ids),
        " GROUP BY note",
    )
    return {identifier: int(amount) for identifier, amount in statements.rows(text, ids)}


def _replace(statements: Statements, record: RequestRecord, cost: int, at: int) -> None:
    """Put another row in the place of the one that is there; `at` is now in microseconds."""
    mark = statements.wording.mark
    values = rows.encode(replace(record, cost=cost))
    known = f"SELECT seq, {_COUNTED} FROM requests WHERE id = {mark}"  # noqa: S608 (our own names)
    [(number, *old)] = statements.rows(known, [record.id])
    text = f"UPDATE requests SET {_NAMES.format(mark=mark)} WHERE id = {mark}"  # noqa: S608 (our own names)
    statements.run(text, [*values, record.id])
    new = dict(zip(rows.COLUMNS, values, strict=True))
    correct(statements, number, old, [new[name] for name in COLUMNS], at / rows.MICROSECONDS)
