"""Holds money for requests that run: in the database, or on trust where that is allowed and it is away."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from tidegate.exchange.ports import Intent, RequestRecord
from tidegate.ledger.books import Wish
from tidegate.ledger.entries import Answer, Granted, Unavailable
from tidegate.storage.booking import Wanted
from tidegate.storage.checkpoints import to_json
from tidegate.storage.faults import DatabaseUnusable, reason
from tidegate.storage.items import Ticket
from tidegate.storage.openings import Openings
from tidegate.storage.rows import to_microseconds
from tidegate.storage.writer import Writer

PATIENCE = 1.75
"""Seconds after which a hold is refused without the database, when that is looked at next."""

LONG_PATIENCE = 2.75
"""The same for one on credit: by then it is on the disk, if the disk can be written at all."""

_LOOK = 0.2
_RETRY_AFTER = 1.0
_LATE = Unavailable("the database does not answer in time", _RETRY_AFTER)
_AWAY = Unavailable("the database is away", _RETRY_AFTER)
_MANY_WAIT = 1_024


class DatabaseBooks:
    """The books port of one process."""

    def __init__(
        self,
        writer: Writer,
        clock: Callable[[], float] = time.time,
        *,
        patience: float = PATIENCE,
        long_patience: float = LONG_PATIENCE,
    ) -> None:
        """`clock` tells Unix seconds."""
        self._writer = writer
        self._clock = clock
        self._asked: tuple[deque[Ticket], deque[Ticket]] = deque(), deque()
        """Of those who must be covered, and of those on credit; the oldest first."""
        self._patience = patience, long_patience
        self._look: asyncio.TimerHandle | None = None
        self._openings = Openings()

    async def hold(self, intent: Intent) -> Answer:
        """Commit the intent with its hold, or say why not, within two seconds (three if the disk hangs too).

        While the database is away a prepaid account or a budget gets Unavailable, any other is granted.
        """
        on_credit = not intent.prepaid and not intent.budgets
        if self._writer.full or (not on_credit and self._writer.away):
            return _AWAY
        loop = asyncio.get_running_loop()
        ticket = Ticket(self._wanted(intent), loop.create_future(), loop.time(), on_credit=on_credit)
        self._writer.hold(ticket)
        self._watch(ticket, loop)
        try:
            return await ticket.answer
        except asyncio.CancelledError:
            self._abandon(ticket)
            raise

    def checkpoint(self, records: Sequence[RequestRecord]) -> None:
        """Note what open requests have used so far; one such note waits at most."""
        if self._writer.waiting < _MANY_WAIT:
            self._writer.checkpoint(records)

    async def open_accounts(self, openings: Iterable[tuple[str, int]]) -> None:
        """Credit each opening balance (nano-USD), once ever for each account; DatabaseUnusable if not now."""
        self._openings.take(openings)
        if self._openings:
            try:
                await asyncio.wrap_future(self._writer.do(self.reopen_accounts))
            except SQLAlchemyError as error:
                raise DatabaseUnusable(reason(error)) from error

    def reopen_accounts(self, connection: Connection) -> None:
        """Credit the opening balances that this database has not had; for one that was put in place anew."""
        if self._openings:
            self._openings.credit(connection, to_microseconds(self._clock()))

    def _wanted(self, intent: Intent) -> Wanted:
        record = intent.record
        return Wanted(
            id=record.id,
            account=record.account or "",
            key=record.key,
            wish=Wish(amount=intent.amount, least=intent.least, prepaid=intent.prepaid),
            budgets=intent.budgets,
            record=to_json(record),
            at=to_microseconds(self._clock()),
        )

    def _watch(self, ticket: Ticket, loop: asyncio.AbstractEventLoop) -> None:
        """One timer looks after all holds: each having its own would cost more than the hold."""
        self._asked[ticket.on_credit].append(ticket)
        if self._look is None:
            self._look = loop.call_later(_LOOK, self._look_after)

    def _look_after(self) -> None:
        self._look = None
        loop = asyncio.get_running_loop()
        for asked, patience in zip(self._asked, self._patience, strict=True):
            late = loop.time() - patience
            while asked and (asked[0].answer.done() or asked[0].asked_at <= late):
                ticket = asked.popleft()
                if not ticket.answer.done():
                    self._answer_late(ticket)
        if any(self._asked):
            self._look = loop.call_later(_LOOK, self._look_after)

    def _answer_late(self, ticket: Ticket) -> None:
        if ticket.on_credit:
            # Database and disk hang.
            # The request goes on, and its row may now come before the hold is taken: as a note it stands
            # before that row in one queue. If the writer has begun it as a hold, it counts once all the same.
            ticket.abandoned = True
            self._writer.note(ticket.wanted)
            ticket.answer.set_result(Granted(ticket.wanted.wish.amount))
        else:
            self._abandon(ticket)
            ticket.answer.set_result(_LATE)

    def _abandon(self, ticket: Ticket) -> None:
        """Nobody will use this hold. If the writer has begun it, it may still be committed."""
        ticket.abandoned = True
        self._writer.release(ticket.wanted)
