"""Credits, refunds, balances and postings for operators, beside a running gateway or without one."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVar

from msgspec import Struct
from sqlalchemy import Connection, func, select, tuple_
from sqlalchemy.exc import SQLAlchemyError

from tidegate.ledger import books
from tidegate.ledger.books import Beyond, Movement
from tidegate.ledger.entries import Balance, Posting
from tidegate.ledger.money import usd
from tidegate.ledger.refusals import (
    BalanceTooLarge,
    LedgerRefusal,
    ReferenceTaken,
    RefundRefused,
    RefundTooLarge,
)
from tidegate.storage.audit import NOBODY, Author, Deed, Task, noted
from tidegate.storage.booking import Booking
from tidegate.storage.database import Database, DatabaseUnusable, patiently, reason
from tidegate.storage.reading import no_database, read
from tidegate.storage.rows import to_microseconds
from tidegate.storage.schema import balances, postings
from tidegate.storage.statements import Statements
from tidegate.storage.writer import Writer

Answer = TypeVar("Answer")


class Refund(Struct, frozen=True):
    """What came of a refund: `amount` nano-USD paid back to `account`; not `new`: it was booked before."""

    account: str
    amount: int
    new: bool


def credit(connection: Connection, account: str, amount: int, reference: str, at: float) -> bool:
    """Pay in `amount` nano-USD; False: this was booked before. `at` is Unix seconds.

    Raises LedgerRefusal for an amount that is not above zero, BalanceTooLarge for one beyond MOST, and
    ReferenceTaken if the reference is that of another payment.
    """
    booking = Booking(Statements(connection), to_microseconds(at))
    booking.lock([account])
    before = _booked(connection, "credit", reference)
    if before is not None:
        _refuse_another(before, account, amount)
        return False
    movement = _taken(books.credit(booking.balance(account), amount))
    if not booking.pay(account, movement, reference=reference):
        raise ReferenceTaken(f"{reference}: a payment of another account has this reference")
    booking.save()
    return True


def refund(connection: Connection, request_id: str, amount: int | None, reference: str, at: float) -> Refund:
    """Pay back what a request was charged: `amount` nano-USD, or all that is left.

    Raises RefundTooLarge for more than is left of the charge, RefundRefused if nothing is left, and
    ReferenceTaken if the reference is that of another refund.
    """
    charged = select(postings.c.account, postings.c.amount).where(
        postings.c.reference == request_id, postings.c.kind == "settle"
    )
    paid = connection.execute(charged).all()
    if not paid:
        raise RefundRefused(f"{request_id}: nothing was charged for it")
    account = str(paid[0][0])
    booking = Booking(Statements(connection), to_microseconds(at))
    booking.lock([account])
    before = _booked(connection, "refund", reference)
    if before is not None:
        return _same_refund(before, request_id, amount)
    # Under the lock of the account: two refunds cannot both see the same rest.
    back = select(func.coalesce(func.sum(postings.c.amount), 0)).where(
        postings.c.note == request_id, postings.c.kind == "refund"
    )
    left = sum(row[1] for row in paid) - int(connection.execute(back).scalar_one())
    wanted = _refundable(request_id, amount, left)
    movement = _taken(books.refund(booking.balance(account), wanted))
    if not booking.pay(account, movement, reference=reference, note=request_id):
        raise ReferenceTaken(f"{reference}: a refund of another account has this reference")
    booking.save()
    return Refund(account, wanted, new=True)


def noted_credit(account: str, amount: int, reference: str, at: float, author: Author) -> Task[bool]:
    """As `credit`, with a row of the audit log for a payment that is new."""

    def deed(new: bool) -> Deed | None:  # noqa: FBT001  # what `credit` answers
        changes = {"amount": (None, usd(amount)), "reference": (None, reference)}
        return Deed(action="credit", kind="accounts", name=account, changes=changes) if new else None

    return noted(lambda connection: credit(connection, account, amount, reference, at), author, deed)


def noted_refund(
    request_id: str, amount: int | None, reference: str, at: float, author: Author
) -> Task[Refund]:
    """As `refund`, with a row of the audit log for one that is new."""

    def deed(done: Refund) -> Deed | None:
        told = {"amount": usd(done.amount), "account": done.account, "reference": reference}
        changes = {field: (None, value) for field, value in told.items()}
        return Deed(action="refund", kind="requests", name=request_id, changes=changes) if done.new else None

    return noted(lambda connection: refund(connection, request_id, amount, reference, at), author, deed)


def read_balance(connection: Connection, account: str) -> Balance:
    """What an account has; zero for one that has had no money yet."""
    row = connection.execute(_BALANCES.where(balances.c.account == account)).first()
    return Balance(account, 0, 0) if row is None else Balance(*row)


def read_balances(connection: Connection) -> list[Balance]:
    """All accounts that have had money, by name."""
    return [Balance(*row) for row in connection.execute(_BALANCES.order_by(balances.c.account))]


def read_postings(
    connection: Connection, account: str | None, limit: int, before: int | None
) -> tuple[Posting, ...]:
    """Postings of an account or of all, newest first, from before the number `before`."""
    query = select(*_POSTING).limit(limit)
    if account is None:
        query = query.order_by(postings.c.number.desc())
        if before is not None:
            query = query.where(postings.c.number < before)
    else:
        query = query.where(postings.c.account == account)
        query = query.order_by(postings.c.at.desc(), postings.c.number.desc())
        if before is not None:
            place = select(postings.c.at).where(postings.c.number == before).scalar_subquery()
            query = query.where(tuple_(postings.c.at, postings.c.number) < tuple_(place, before))
    return tuple(_posting(row) for row in connection.execute(query))


class LedgerDesk:
    """The ledger for the admin API of a running gateway."""

    def __init__(
        self,
        database: Database,
        writer: Writer,
        threads: Executor,
        clock: Callable[[], float] = time.time,
        author: Author = NOBODY,
    ) -> None:
        """`threads` read; what is written goes through the process's one writer, and is noted of `author`."""
        self._database = database
        self._writer = writer
        self._threads = threads
        self._clock = clock
        self._author = author

    def by(self, author: Author) -> "LedgerDesk":
        """The same desk for somebody else."""
        return LedgerDesk(self._database, self._writer, self._threads, self._clock, author)

    async def credit(self, account: str, amount: int, reference: str) -> bool:
        """As `credit`; raises DatabaseUnusable while the database is away."""
        return await self._write(noted_credit(account, amount, reference, self._clock(), self._author))

    async def refund(self, request_id: str, amount: int | None, reference: str) -> Refund:
        """As `refund`; raises DatabaseUnusable while the database is away."""
        return await self._write(noted_refund(request_id, amount, reference, self._clock(), self._author))

    async def balance(self, account: str) -> Balance:
        """As `read_balance`, as of the last batch."""
        return await self._read(lambda connection: read_balance(connection, account))

    async def balances(self) -> list[Balance]:
        """As `read_balances`, as of the last batch."""
        return await self._read(read_balances)

    async def postings(self, account: str | None, *, limit: int, before: int | None) -> tuple[Posting, ...]:
        """As `read_postings`, as of the last batch."""
        return await self._read(lambda connection: read_postings(connection, account, limit, before))

    async def _write(self, task: Callable[[Connection], Answer]) -> Answer:
        try:
            done: Answer = await asyncio.wrap_future(self._writer.do(task))
        except SQLAlchemyError as error:
            raise DatabaseUnusable(f"the database cannot be written: {reason(error)}") from error
        return done

    async def _read(self, task: Callable[[Connection], Answer]) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, read, self._database, task, no_database
        )


class LedgerFile:
    """The ledger for the command line: the same from a process of its own. The tables must be up to date."""

    def __init__(self, database: Database) -> None:
        """`database` is the caller's to close."""
        self._database = database

    def write(self, task: Callable[[Connection], Answer]) -> Answer:
        """Run `credit` or `refund` in a transaction; raises DatabaseUnusable besides what they raise."""

        def transaction() -> Answer:
            with self._database.connect_writer() as connection, connection.begin():
                return task(connection)

        try:
            return patiently(transaction)
        except SQLAlchemyError as error:
            raise self._database.unusable("the ledger cannot be written", error) from error

    def read(self, task: Callable[[Connection], Answer]) -> Answer:
        """Run one of the `read_` functions; raises DatabaseUnusable."""
        try:
            with self._database.connect_reader() as connection:
                return task(connection)
        except SQLAlchemyError as error:
            raise self._database.unusable("the ledger cannot be read", error) from error


_BALANCES = select(balances.c.account, balances.c.balance, balances.c.held)
_POSTING = [postings.c[name] for name in Posting.__struct_fields__]


def _taken(booked: Movement | Beyond) -> Movement:
    match booked:
        case Movement():
            return booked
        case Beyond(amount) if amount <= 0:
            raise LedgerRefusal("an amount must be above zero")
        case Beyond(amount, balance):
            raise BalanceTooLarge(
                f"{usd(amount)} USD more than {usd(balance)} USD are more than the books can keep"
            )


def _refundable(request_id: str, amount: int | None, left: int) -> int:
    wanted = left if amount is None else amount
    if wanted <= 0:
        raise RefundRefused(
            f"{request_id}: all that was charged was paid back" if amount is None else "it must be above zero"
        )
    if wanted > left:
        raise RefundTooLarge(f"{request_id}: {usd(left)} USD are left of what was charged")
    return wanted


def _same_refund(before: Posting, request_id: str, amount: int | None) -> Refund:
    if before.note != request_id or amount not in (None, before.amount):
        raise ReferenceTaken(
            f"{before.reference}: is the refund of {usd(before.amount)} USD for {before.note} already"
        )
    return Refund(before.account, before.amount, new=False)


def _refuse_another(before: Posting, account: str, amount: int) -> None:
    if (before.account, before.amount) != (account, amount):
        raise ReferenceTaken(
            f"{before.reference}: is the {before.kind} of {usd(before.amount)} USD"
            f" to {before.account} already"
        )


def _booked(connection: Connection, kind: str, reference: str) -> Posting | None:
    query = select(*_POSTING).where(postings.c.reference == reference, postings.c.kind == kind)
    row = connection.execute(query).first()
    return None if row is None else _posting(row)


def _posting(row: Any) -> Posting:
    posting = Posting(**row._mapping)
    return Posting(**{**row._mapping, "at": posting.at / 1_000_000})
