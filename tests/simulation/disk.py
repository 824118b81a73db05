"""What survives a kill: the database with rows, intents and books, and the spool beside it."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from msgspec import Struct
from tests.harness.memory_books import Books, recompute

from tidegate.exchange.ports import Intent, RequestRecord
from tidegate.ledger.entries import Answer, Granted


class Checkpoint(Struct, frozen=True):
    """What an open request has used so far."""

    record: RequestRecord


Entry: TypeAlias = RequestRecord | Checkpoint | Intent
"""What is committed: a finished request's row, a checkpoint, a hold."""


class Disk:
    """Each method is one transaction."""

    def __init__(self, balances: dict[str, int]) -> None:
        """`balances` are opening balances of the prepaid accounts, in nano-USD."""
        self.books = Books()
        self.rows: dict[str, RequestRecord] = {}
        self.intents: dict[str, RequestRecord] = {}
        self.spool: list[Entry] = []
        self.admitted: set[str] = set()
        """Every request that ever had an intent, in the database or in the spool."""
        self._prepaid = set(balances)
        for account, amount in balances.items():
            if amount:
                assert self.books.credit(f"opening {account}", account, amount, 0.0) is None

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """There is nothing to prepare."""
        yield

    def killed(self, *, cleaned: bool) -> None:
        """What must have a row in the end is remembered already, and there is no other worker."""

    def commit(self, entries: Sequence[Entry], now: float) -> list[Answer]:
        """Rows and checkpoints first, then holds, as one transaction; the answers of the holds."""
        for entry in entries:
            match entry:
                case RequestRecord():
                    self._settle(entry, now)
                case Checkpoint(record) if record.id in self.intents:
                    self.intents[record.id] = record
                case Checkpoint() | Intent():
                    pass
        return [self._hold(entry, now) for entry in entries if isinstance(entry, Intent)]

    def put_in_spool(self, entry: Entry) -> None:
        """The database is away."""
        self.spool.append(entry)
        if isinstance(entry, Intent):
            self.admitted.add(entry.record.id)

    def empty_spool(self, now: float) -> None:
        """The database is back."""
        for entry in self.spool:
            self.commit([entry], now)
        self.spool.clear()

    def left(self, now: float) -> list[RequestRecord]:
        """At a start: what was left open, with its last checkpoint."""
        self.empty_spool(now)
        return list(self.intents.values())

    def balance(self, account: str) -> int:
        """What it has, in nano-USD."""
        return self.books.balance(account).balance

    def knows(self, request: str) -> bool:
        """Whether a kill now would leave a trace of the request."""
        spooled = any(isinstance(entry, Intent) and entry.record.id == request for entry in self.spool)
        return spooled or request in self.intents

    def covers(self, request: str, amount: int) -> bool:
        """Whether the hold of a prepaid request is at least this; nobody else needs one."""
        held = self.books.open.get(request)
        return held is None or held.account not in self._prepaid or held.amount >= amount

    def check(self, requests: Iterable[str]) -> None:
        """The books balance, and nothing is held when nothing runs."""
        books = self.books
        assert recompute(books.postings) == books.balances, "balances are not the sum of the postings"
        assert not self.intents, f"open intents: {sorted(self.intents)}"
        assert not books.open
        assert all(balance.held == 0 for balance in books.balances.values()), f"held: {books.balances}"
        for request in requests:
            self._check_request(request)

    def _check_request(self, request: str) -> None:
        moved = [posting for posting in self.books.postings if posting.reference == request]
        held = [posting.amount for posting in moved if posting.kind == "hold"]
        freed = [posting.amount for posting in moved if posting.source == "held"]
        charged = sum(posting.amount for posting in moved if posting.target == "income")
        row = self.rows.get(request)
        assert len(held) <= 1, f"{request}: held {len(held)} times"
        assert sum(held) == sum(freed), f"{request}: held {held}, freed {freed}"
        assert charged == (0 if row is None else row.cost), f"{request}: charged {charged}"

    def _settle(self, record: RequestRecord, now: float) -> None:
        if record.id in self.rows:
            return
        self.rows[record.id] = record
        self.intents.pop(record.id, None)
        if record.account is not None:
            self.books.settle(record.id, record.account, record.key, record.cost, now)

    def _hold(self, intent: Intent, now: float) -> Answer:
        record = intent.record
        assert record.account is not None
        answer = self.books.hold(
            record.id,
            record.account,
            record.key,
            intent.amount,
            intent.least,
            prepaid=intent.prepaid,
            budgets=intent.budgets,
            now=now,
        )
        if isinstance(answer, Granted) and record.id not in self.rows:
            self.intents.setdefault(record.id, record)
            self.admitted.add(record.id)
        return answer
