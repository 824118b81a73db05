"""The books of a whole gateway in memory: what every other keeping of them is compared with."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import asdict, replace

from tidegate.ledger import books
from tidegate.ledger.books import Beyond, Movement, Use, Wish, apply, chargeable, decide
from tidegate.ledger.entries import Balance, Budget, Exhausted, Granted, Posting, Short
from tidegate.ledger.periods import period_of


class Open(Struct, frozen=True, kw_only=True):
    """A request that holds money: `cost` is what it had used at its last checkpoint. Amounts in nano-USD."""

    account: str
    key: str | None
    amount: int
    cost: int
    periods: tuple[tuple[str, str], ...]
    """The budgets it counts in: scope and period's name."""


class Books:
    """Accounts, open holds and postings. Everything is idempotent by the id of the request or payment."""

    def __init__(self) -> None:
        self.balances: dict[str, Balance] = {}
        self.postings: list[Posting] = []
        self.open: dict[str, Open] = {}
        self.settled: dict[str, int] = {}
        """Request -> what it cost."""
        self.spent: dict[tuple[str, str], int] = {}
        """Scope of a budget and period's name -> what the requests admitted in it have cost."""
        self._paid: set[str] = set()

    def balance(self, account: str) -> Balance:
        """What the account has; one that nobody knows has nothing."""
        return self.balances.get(account) or Balance(account, 0, 0)

    def hold(
        self,
        request: str,
        account: str,
        key: str | None,
        amount: int,
        least: int,
        *,
        prepaid: bool,
        budgets: Iterable[Budget] = (),
        now: float,
    ) -> Granted | Short | Exhausted:
        """Hold money for a request, or say why not. Asked again, nothing more is held."""
        if request in self.settled:
            return Granted(0)
        if request in self.open:
            return Granted(self.open[request].amount)
        budgets = tuple(budgets)
        places = tuple((budget.scope, period_of(now, budget.period).key) for budget in budgets)
        uses = (
            Use(budget, self.spent.get(place, 0), self.held_in(place))
            for budget, place in zip(budgets, places, strict=True)
        )
        wish = Wish(amount=amount, least=least, prepaid=prepaid)
        answer = decide(wish, self.balance(account), uses, now)
        if isinstance(answer, Granted):
            self.open[request] = Open(account=account, key=key, amount=answer.amount, cost=0, periods=places)
            self._post(request, account, key, books.hold_postings(answer.amount), now)
        return answer

    def held_in(self, place: tuple[str, str]) -> int:
        """What open requests hold of a budget's period."""
        return sum(request.amount for request in self.open.values() if place in request.periods)

    def checkpoint(self, request: str, cost: int) -> None:
        """Note what an open request would cost if it ended now."""
        if request in self.open:
            self.open[request] = replace(self.open[request], cost=cost)

    def settle(self, request: str, account: str, key: str | None, cost: int, now: float) -> None:
        """Charge a request and free its hold, if it has one. Only the first time counts."""
        if request in self.settled:
            return
        self.settled[request] = cost = chargeable(cost)
        ended = self.open.pop(request, None)
        held = 0 if ended is None else ended.amount
        self._post(request, account, key, books.settlement_postings(held, cost), now)
        for place in () if ended is None else ended.periods:
            self.spent[place] = self.spent.get(place, 0) + cost

    def recover(self, now: float) -> None:
        """After a crash: every open request is charged what it had used at its last checkpoint."""
        for request, noted in list(self.open.items()):
            self.settle(request, noted.account, noted.key, noted.cost, now)

    def credit(self, payment: str, account: str, amount: int, now: float) -> Beyond | None:
        """Book a payment; what is returned says why it was not."""
        return self._pay(payment, account, books.credit(self.balance(account), amount), now)

    def refund(self, payment: str, account: str, amount: int, now: float) -> Beyond | None:
        """Give money back; what is returned says why it was not."""
        return self._pay(payment, account, books.refund(self.balance(account), amount), now)

    def _pay(self, payment: str, account: str, booked: Movement | Beyond, now: float) -> Beyond | None:
        if payment in self._paid:
            return None
        if isinstance(booked, Beyond):
            return booked
        self._paid.add(payment)
        self._post(payment, account, None, (booked,), now)
        return None

    def _post(
        self, reference: str, account: str, key: str | None, movements: Iterable[Movement], now: float
    ) -> None:
        for movement in movements:
            posting = Posting(
                number=len(self.postings) + 1,
                reference=reference,
                account=account,
                key=key,
                at=now,
                **asdict(movement),
            )
            self.postings.append(posting)
            self.balances[account] = apply(self.balance(account), posting)


def recompute(postings: Iterable[Posting]) -> dict[str, Balance]:
    """What the postings make of every account that they name."""
    balances: dict[str, Balance] = {}
    for posting in postings:
        balance = balances.get(posting.account) or Balance(posting.account, 0, 0)
        balances[posting.account] = apply(balance, posting)
    return balances
