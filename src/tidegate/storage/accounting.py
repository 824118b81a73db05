"""Writes finished requests and new holds in one transaction, each exactly once."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from tidegate.exchange.ports import RequestRecord
from tidegate.ledger.entries import Answer, Granted, Unavailable
from tidegate.storage import rows
from tidegate.storage.booking import Booking, Held, Wanted
from tidegate.storage.late_ends import book_late_ends
from tidegate.storage.statements import Inexact, Statements, among

INTENTS = ("id", "account", "key", "amount", "owner", "created_at", "record")
_ONCE = "ON CONFLICT DO NOTHING"
_SETTLED_ALREADY = Unavailable("this request was settled already", 1.0)


class Batch(Struct, frozen=True, kw_only=True):
    """What is booked together: finished requests first, then holds, each in their order.

    `releases` are the ids of requests whose holds are given back without a row, with their accounts.
    """

    records: Sequence[RequestRecord] = ()
    releases: Sequence[tuple[str, str | None]] = ()
    holds: Sequence[Wanted] = ()


class Booked(Struct, frozen=True):
    """What a batch came to, true once it is committed: an answer for each hold, and what to remember."""

    answers: tuple[Answer, ...]
    opened: tuple[Held, ...]
    closed: tuple[str, ...]


class Accounting:
    """Books batches for one process. It remembers its own open holds, so that they need not be read again."""

    def __init__(self, owner: str) -> None:
        """`owner` is this process in `owners`."""
        self._owner = owner
        self._open: dict[str, Held] = {}

    def book(self, statements: Statements, batch: Batch, at: int, *, exact: bool) -> Booked:
        """Do all statements of a batch in the caller's transaction; `at` is now in microseconds.

        Not `exact`: all ids must be new and all holds this process's own, else Inexact is raised.
        """
        booking = Booking(statements, at)
        booking.lock(self._accounts(batch))
        booking.look_at_budgets(batch.holds)
        if exact:
            self._end_exactly(booking, batch)
            answers, opened = self._hold_exactly(booking, batch.holds)
        else:
            self._end(booking, batch)
            answers, opened = self._hold(booking, batch.holds)
        booking.save()
        closed = (*(record.id for record in batch.records), *(identifier for identifier, _ in batch.releases))
        return Booked(answers, opened, closed)

    def committed(self, booked: Booked) -> None:
        """The transaction of `book` stands."""
        for identifier in booked.closed:
            self._open.pop(identifier, None)
        for held in booked.opened:
            self._open[held.id] = held

    def _accounts(self, batch: Batch) -> Iterable[str]:
        for _, account in batch.releases:
            if account is not None:
                yield account
        for wanted in batch.holds:
            yield wanted.account
        for record in batch.records:
            if record.account is not None and (record.cost > 0 or record.id in self._open):
                yield record.account

    # Where everything is as remembered, counts of rows tell so, and nothing is read back: the driver gives
    # up the interpreter's lock for each row that it reads.

    def _end(self, booking: Booking, batch: Batch) -> None:
        records = batch.records
        if batch.releases:
            raise Inexact
        if not records:
            return
        lines = list(map(rows.encode, records))
        booking.statements.promise_insert("requests", rows.COLUMNS, lines, _ONCE, must=len(lines))
        held = [self._open[record.id] for record in records if record.id in self._open]
        ids = [record.id for record in records if record.account is not None]
        if ids:
            booking.statements.promise_delete("intents", ids, must=len(held))
        self._close(booking, records, {one.id: one for one in held})

    def _hold(self, booking: Booking, holds: Sequence[Wanted]) -> tuple[tuple[Answer, ...], tuple[Held, ...]]:
        answers = tuple(booking.hold(wanted) for wanted in holds)
        granted = [
            (wanted, answer.amount)
            for wanted, answer in zip(holds, answers, strict=True)
            if isinstance(answer, Granted)
        ]
        if granted:
            lines = [self._intent(wanted, amount) for wanted, amount in granted]
            booking.statements.promise_insert("intents", INTENTS, lines, _ONCE, must=len(lines))
        return answers, tuple(_held(wanted, amount) for wanted, amount in granted)

    def _close(self, booking: Booking, records: Iterable[RequestRecord], held: dict[str, Held]) -> None:
        booking.lock(one.account for one in held.values())
        ends = [
            (record, held.get(record.id) or Held(record.id, record.account, record.key, 0, 0))
            for record in records
            if record.account is not None and (record.cost > 0 or record.id in held)
        ]
        booking.look_at_spending(one for _, one in ends)
        for record, one in ends:
            booking.end(one, record.cost)

    def _intent(self, wanted: Wanted, amount: int) -> tuple[object, ...]:
        return (wanted.id, wanted.account, wanted.key, amount, self._owner, wanted.at, wanted.record)

    # After a crash, a failure or a change by others the database is asked what is really there.

    def _end_exactly(self, booking: Booking, batch: Batch) -> None:
        first = {record.id: record for record in reversed(batch.records)}
        ids = [*first, *(identifier for identifier, _ in batch.releases)]
        if not ids:
            return
        statements = booking.statements
        lines = [rows.encode(record) for record in first.values()]
        found = statements.insert_returning("requests", rows.COLUMNS, lines, f"{_ONCE} RETURNING id")
        inserted = {identifier for (identifier,) in found}
        booking.lock(record.account for record in first.values() if record.account is not None)
        text = among(statements.wording, "DELETE FROM intents WHERE id IN", len(ids), _WHAT)
        deleted = {row[0]: Held(*row) for row in statements.rows(text, ids)}
        self._close(booking, [record for record in first.values() if record.id in inserted], deleted)
        # Its row was written without it, or there will be none: whatever it holds goes back.
        idle = [held for held in deleted.values() if held.id not in inserted]
        booking.lock(held.account for held in idle)
        booking.look_at_spending(idle)
        for held in idle:
            booking.end(held, 0)
        book_late_ends(booking, [record for record in first.values() if record.id not in inserted])

    def _hold_exactly(
        self, booking: Booking, holds: Sequence[Wanted]
    ) -> tuple[tuple[Answer, ...], tuple[Held, ...]]:
        known = _known(booking.statements, [wanted.id for wanted in holds])
        answers: list[Answer] = []
        opened: list[Held] = []
        for wanted in holds:
            answer = known.get(wanted.id) or booking.hold(wanted)
            if wanted.id not in known and isinstance(answer, Granted):
                opened.append(_held(wanted, answer.amount))
                booking.statements.insert("intents", INTENTS, [self._intent(wanted, answer.amount)])
                known[wanted.id] = answer
            answers.append(answer)
        return tuple(answers), tuple(opened)


_WHAT = ' RETURNING id, account, "key", amount, created_at'


def _held(wanted: Wanted, amount: int) -> Held:
    return Held(wanted.id, wanted.account, wanted.key, amount, wanted.at)


def _known(statements: Statements, ids: Sequence[str]) -> dict[str, Answer]:
    """What was answered to holds that the books have already."""
    if not ids:
        return {}
    wording = statements.wording
    ended = among(wording, "SELECT id FROM requests WHERE id IN", len(ids), "") + among(
        wording,
        " UNION SELECT reference FROM postings WHERE kind = 'hold' AND source = 'available' AND reference IN",
        len(ids),
        "",
    )
    known: dict[str, Answer] = {
        identifier: _SETTLED_ALREADY for (identifier,) in statements.rows(ended, [*ids, *ids])
    }
    text = among(wording, "SELECT id, amount FROM intents WHERE id IN", len(ids), "")
    known.update({identifier: Granted(amount) for identifier, amount in statements.rows(text, ids)})
    return known
