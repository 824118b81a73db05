"""Whatever happens in whatever order, the books balance to the unit."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
)
from tests.harness.memory_books import Books, recompute

from tidegate.ledger.books import Beyond
from tidegate.ledger.entries import Balance, Budget, Granted
from tidegate.ledger.money import MOST

AMOUNTS = st.integers(0, 1000)
ACCOUNTS = {"paid": True, "owes": False}
BUDGETS = (Budget("key:k", "day", 1500), Budget("account:a", "month", 4000))
DAY = 86_400


class BooksMachine(RuleBasedStateMachine):
    """Requests are held for, retried, checkpointed, settled, settled again, and lost in crashes."""

    requests: Bundle[tuple[str, str]] = Bundle("requests")
    settled: Bundle[tuple[str, str, int]] = Bundle("settled")

    def __init__(self) -> None:
        super().__init__()
        self.books = Books()
        self.count = 0
        self.now = 20_000.0 * DAY
        self.paid_in = dict.fromkeys(ACCOUNTS, 0)
        self.charged: dict[tuple[str, str], int] = {}
        self.checkpointed: dict[str, int] = {}
        self.allowed_debt = 0
        self.beyond_holds = 0

    @initialize(amount=st.integers(1, 5000))
    def open_account(self, amount: int) -> None:
        assert self.books.credit("opening", "paid", amount, self.now) is None
        self.paid_in["paid"] += amount

    @rule(hours=st.integers(0, 30))
    def time_passes(self, hours: int) -> None:
        self.now += hours * 3600

    @rule(
        target=requests,
        account=st.sampled_from(sorted(ACCOUNTS)),
        amount=AMOUNTS,
        share=st.floats(0, 1),
        budgets=st.sampled_from([(), BUDGETS[:1], BUDGETS]),
    )
    def hold(
        self, account: str, amount: int, share: float, budgets: tuple[Budget, ...]
    ) -> MultipleResults[tuple[str, str]] | tuple[str, str]:
        self.count += 1
        request, before = f"r{self.count}", self.books.balance(account)
        least = int(amount * share)
        answer = self._ask(request, account, amount, least, budgets)
        if not isinstance(answer, Granted):
            assert self.books.balance(account) == before
            assert ACCOUNTS[account] or budgets
            return multiple()
        assert least <= answer.amount <= amount
        assert self.books.balance(account) == Balance(account, before.balance, before.held + answer.amount)
        return request, account

    @rule(which=requests, amount=AMOUNTS)
    def retry_the_hold(self, which: tuple[str, str], amount: int) -> None:
        request, account = which
        before = self.books.balance(account)
        assert isinstance(self._ask(request, account, amount, amount, BUDGETS), Granted)
        assert self.books.balance(account) == before

    @rule(which=requests, cost=AMOUNTS)
    def checkpoint(self, which: tuple[str, str], cost: int) -> None:
        self.books.checkpoint(which[0], cost)
        self.checkpointed[which[0]] = cost

    @rule(target=settled, which=consumes(requests), cost=AMOUNTS)
    def settle(self, which: tuple[str, str], cost: int) -> tuple[str, str, int]:
        return self._settled(which, cost)

    @rule(target=settled, which=consumes(requests))
    def release(self, which: tuple[str, str]) -> tuple[str, str, int]:
        return self._settled(which, 0)

    @rule(which=settled, other=AMOUNTS)
    def settle_again(self, which: tuple[str, str, int], other: int) -> None:
        request, account, _cost = which
        before = list(self.books.postings)
        self._settle(request, account, other)
        assert self.books.postings == before

    @rule(target=settled, cost=AMOUNTS)
    def settle_without_a_hold(self, cost: int) -> tuple[str, str, int]:
        self.count += 1
        request = f"r{self.count}"
        self._settle(request, "owes", cost)
        self._charge(request, "owes", cost, 0)
        return request, "owes", cost

    @rule()
    def crash(self) -> None:
        lost = dict(self.books.open)
        self.books.recover(self.now)
        for request, noted in lost.items():
            cost = self.checkpointed.get(request, 0)
            self._charge(request, noted.account, cost, noted.amount)

    @rule(account=st.sampled_from(sorted(ACCOUNTS)), amount=st.integers(1, 500), twice=st.booleans())
    def pay(self, account: str, amount: int, twice: bool) -> None:
        self.count += 1
        for _ in range(1 + twice):
            assert self.books.credit(f"p{self.count}", account, amount, self.now) is None
        self.paid_in[account] += amount

    @rule(account=st.sampled_from(sorted(ACCOUNTS)), amount=st.sampled_from([0, -3, MOST + 1, MOST * 9]))
    def pay_what_is_no_payment(self, account: str, amount: int) -> None:
        assert isinstance(self.books.credit("bad", account, amount, self.now), Beyond)

    @rule(which=settled, amount=st.integers(1, 50))
    def refund(self, which: tuple[str, str, int], amount: int) -> None:
        _request, account, _cost = which
        self.count += 1
        assert self.books.refund(f"f{self.count}", account, amount, self.now) is None
        self.charged[account, f"f{self.count}"] = -amount

    @invariant()
    def the_balances_are_what_the_postings_make_of_them(self) -> None:
        assert recompute(self.books.postings) == self.books.balances

    @invariant()
    def every_unit_is_accounted_for(self) -> None:
        for account in ACCOUNTS:
            charged = sum(cost for (whose, _), cost in self.charged.items() if whose == account)
            balance = self.books.balance(account)
            assert balance.balance == self.paid_in[account] - charged
            open_ = [one.amount for one in self.books.open.values() if one.account == account]
            assert balance.held == sum(open_)

    @invariant()
    def a_prepaid_account_owes_no_more_than_charges_beyond_their_holds(self) -> None:
        balance = self.books.balance("paid")
        assert balance.balance - balance.held >= -self.allowed_debt

    @invariant()
    def a_budget_is_overspent_by_no_more_than_charges_beyond_their_holds(self) -> None:
        limits = {budget.scope: budget.limit for budget in BUDGETS}
        held = {place for request in self.books.open.values() for place in request.periods}
        for place in held | self.books.spent.keys():
            used = self.books.spent.get(place, 0) + self.books.held_in(place)
            assert used <= limits[place[0]] + self.beyond_holds

    @invariant()
    def postings_are_numbered_and_never_empty(self) -> None:
        assert [one.number for one in self.books.postings] == list(range(1, len(self.books.postings) + 1))
        assert all(0 < one.amount <= MOST for one in self.books.postings)

    def _settled(self, which: tuple[str, str], cost: int) -> tuple[str, str, int]:
        request, account = which
        if request in self.books.open:  # else a crash came before
            self._charge(request, account, cost, self.books.open[request].amount)
        self._settle(request, account, cost)
        return request, account, cost

    def _ask(
        self, request: str, account: str, amount: int, least: int, budgets: tuple[Budget, ...]
    ) -> object:
        return self.books.hold(
            request,
            account,
            "k",
            amount,
            least,
            prepaid=ACCOUNTS[account],
            budgets=budgets,
            now=self.now,
        )

    def _settle(self, request: str, account: str, cost: int) -> None:
        self.books.settle(request, account, "k", cost, self.now)

    def _charge(self, request: str, account: str, cost: int, held: int) -> None:
        self.charged[account, request] = cost
        self.beyond_holds += max(0, cost - held)
        if account == "paid":
            self.allowed_debt += max(0, cost - held)


BooksMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestBooks = BooksMachine.TestCase
