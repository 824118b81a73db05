"""Whatever happens in whatever order, the books come to the sum of their postings."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule
from msgspec.structs import replace
from tests.unit.storage.records import RECORD

from tidegate.exchange.ports import Intent
from tidegate.ledger.entries import Answer, Balance, Budget, Exhausted, Granted, Short
from tidegate.ledger.refusals import ReferenceTaken, RefundRefused
from tidegate.storage.assembly import Storage, open_storage
from tidegate.storage.verify import verify

ACCOUNTS = ("acme", "beta", "post")
KEYS = ("laptop", "server")
PAID_IN = 1_000
DAY = 86_400

accounts = st.sampled_from(ACCOUNTS)
keys = st.sampled_from(KEYS)
amounts = st.integers(0, 600)


class Books(RuleBasedStateMachine):
    """One process after another on one database; `post` pays later, the others first."""

    open_requests = Bundle("open_requests")
    settled = Bundle("settled")

    def __init__(self, url: str | None = None) -> None:
        """Without `url` on an SQLite file."""
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.url = url or f"sqlite:///{self.folder.name}/books.db"
        self.loop = asyncio.new_event_loop()
        self.now = 1_700_000_000.0
        self.numbers = iter(range(10**6))
        self.held: dict[str, tuple[str, int]] = {}
        self.noted: dict[str, int] = {}
        self.balance = dict.fromkeys(ACCOUNTS, 0)
        self.credited: dict[str, tuple[str, int]] = {}
        self.charged: dict[str, tuple[str, int]] = {}
        """What is left of the charge of each settled request."""
        self.ended: dict[str, tuple[str, int, int]] = {}
        """Account, charge and hold of those that a restart has ended."""
        self.storage = self.opened()

    def opened(self) -> Storage:
        spool = Path(self.folder.name) / "spool"
        return self.loop.run_until_complete(open_storage(self.url, 0, clock=lambda: self.now, folder=spool))

    def teardown(self) -> None:
        self.loop.run_until_complete(self.storage.close())
        self.loop.close()
        self.folder.cleanup()

    @initialize()
    def pay_in(self) -> None:
        for _ in range(2):  # a second time changes nothing
            self.run(self.storage.books.open_accounts([("acme", PAID_IN), ("beta", PAID_IN)]))
        self.balance.update(acme=PAID_IN, beta=PAID_IN)

    def run(self, work: object) -> object:
        return self.loop.run_until_complete(work)  # type: ignore[arg-type]

    def ask(self, account: str, key: str, amount: int, least: int, budgets: tuple[Budget, ...]) -> str:
        identifier = f"req_{next(self.numbers):06}"
        record = replace(RECORD, id=identifier, account=account, key=key, outcome="interrupted", cost=0)
        intent = Intent(record=record, amount=amount, least=least, prepaid=account != "post", budgets=budgets)
        answer = self.run(self.storage.books.hold(intent))
        self.check(intent, answer)  # type: ignore[arg-type]
        return identifier

    def check(self, intent: Intent, answer: Answer) -> None:
        account = intent.record.account or ""
        available = self.balance[account] - sum(
            amount for whose, amount in self.held.values() if whose == account
        )
        match answer:
            case Granted(amount):
                assert min(intent.least, intent.amount) <= amount <= intent.amount
                there = max(available, 0)  # what costs nothing is let through with a debt too
                assert not intent.prepaid or amount <= there
                assert intent.budgets or not intent.prepaid or amount == min(intent.amount, there)
                self.held[intent.record.id] = (account, amount)
            case Short(needed, there, held):
                assert intent.prepaid
                assert held == self.balance[account] - available
                assert (needed, there) == (min(intent.least, intent.amount), available)
                assert there < needed
            case Exhausted(budget, needed, left, held):
                assert budget in intent.budgets
                assert left < needed
                assert left + held <= budget.limit
            case other:
                raise AssertionError(other)

    @rule(target=open_requests, account=accounts, key=keys, amount=amounts, least=amounts)
    def hold(self, account: str, key: str, amount: int, least: int) -> str:
        return self.ask(account, key, amount, least, ())

    @rule(
        target=open_requests,
        account=accounts,
        key=keys,
        amount=amounts,
        limit=st.integers(0, 900),
        period=st.sampled_from(["day", "month"]),
        of_key=st.booleans(),
    )
    def hold_in_a_budget(
        self, account: str, key: str, amount: int, limit: int, period: str, of_key: bool
    ) -> str:
        scope = f"key:{key}" if of_key else f"account:{account}"
        return self.ask(account, key, amount, amount // 2, (Budget(scope, period, limit),))

    @rule(target=settled, request=consumes(open_requests), cost=st.integers(0, 900), twice=st.booleans())
    def settle(self, request: str, cost: int, twice: bool) -> str:
        """Also a request that got no hold leaves a row, without a cost then."""
        if request in self.ended:
            self.settle_late(request, cost)
            return request
        account, _ = self.held.pop(request, (None, 0))
        charged = cost if account is not None else 0
        row = replace(RECORD, id=request, account=account or "acme", cost=charged)
        self.storage.journal.write(row)
        if twice:
            self.storage.journal.write(replace(row, cost=charged + 1))
        if account is not None:
            self.balance[account] -= charged
            self.charged[request] = (account, charged)
        return request

    def settle_late(self, request: str, cost: int) -> None:
        """A recovery has ended it; the difference is booked, but never more is paid back than was left."""
        account, noted, hold = self.ended.pop(request)
        self.storage.journal.write(replace(RECORD, id=request, account=account, cost=cost))
        _, left = self.charged[request]
        change = cost - noted if noted <= hold or cost < noted else 0
        change = max(change, -left)
        self.balance[account] -= change
        self.charged[request] = (account, left + change)

    @rule(request=open_requests, amount=st.none() | st.integers(1, 900))
    def refund_what_a_restart_ended(self, request: str, amount: int | None) -> None:
        if request in self.ended:
            self.pay_back(request, amount)

    @rule(request=settled, amount=st.none() | st.integers(1, 900))
    def refund(self, request: str, amount: int | None) -> None:
        self.pay_back(request, amount)

    def pay_back(self, request: str, amount: int | None) -> None:
        account, left = self.charged.get(request, ("", 0))
        reference = f"refund_{next(self.numbers)}"
        for _ in range(2):  # a second time changes nothing
            try:
                self.run(self.storage.desk.refund(request, amount, reference))
            except RefundRefused:
                assert not left or (amount or 0) > left
                return
        paid = left if amount is None else amount
        assert 0 < paid <= left
        self.balance[account] += paid
        self.charged[request] = (account, left - paid)

    @rule(account=accounts, cost=st.integers(0, 900))
    def settle_without_a_hold(self, account: str, cost: int) -> None:
        record = replace(RECORD, id=f"req_{next(self.numbers):06}", account=account, cost=cost)
        self.storage.journal.write(record)
        self.balance[account] -= cost

    @rule(request=open_requests, cost=st.integers(0, 300))
    def checkpoint(self, request: str, cost: int) -> None:
        if request in self.held:
            account, _ = self.held[request]
            record = replace(RECORD, id=request, account=account, outcome="interrupted", cost=cost)
            self.storage.books.checkpoint([record])
            self.run(self.storage.journal.flush())
            self.noted[request] = cost

    @rule(account=accounts, amount=st.integers(1, 500), reference=st.sampled_from(["a", "b", "c"]))
    def credit(self, account: str, amount: int, reference: str) -> None:
        before = self.credited.setdefault(reference, (account, amount))
        try:
            if self.run(self.storage.desk.credit(account, amount, reference)):
                self.balance[account] += amount
        except ReferenceTaken:
            assert before != (account, amount)

    @rule(hours=st.integers(-40, 40))
    def time_passes(self, hours: int) -> None:
        """A clock may be set back too."""
        self.now += hours * 3_600

    @rule()
    def start_again(self) -> None:
        self.run(self.storage.journal.flush())
        self.run(self.storage.close())
        self.storage = self.opened()
        # What was open has ended, and cost what was noted last.
        for request, (account, hold) in self.held.items():
            cost = self.noted.get(request, 0)
            self.balance[account] -= cost
            self.charged[request] = (account, cost)
            self.ended[request] = (account, cost, hold)
        self.held.clear()

    def balances(self) -> list[Balance]:
        return self.run(self.storage.desk.balances())  # type: ignore[return-value]

    @invariant()
    def the_books_balance(self) -> None:
        self.run(self.storage.journal.flush())
        assert verify(self.storage._database) is None
        there = {balance.account: balance for balance in self.balances()}
        for account, wanted in self.balance.items():
            held = sum(amount for whose, amount in self.held.values() if whose == account)
            assert there.get(account, Balance(account, 0, 0)) == Balance(account, wanted, held)


TestBooks = Books.TestCase
TestBooks.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
