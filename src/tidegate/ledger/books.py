"""The rules of the books: what is granted, which postings follow, and what they make of a balance."""

from collections.abc import Iterable

from msgspec import Struct

from tidegate.ledger.entries import Balance, Budget, Exhausted, Granted, Posting, Short
from tidegate.ledger.money import MOST
from tidegate.ledger.periods import period_of

_OWN = frozenset({"available", "held"})


class Movement(Struct, frozen=True, gc=False):
    """What a posting moves: see `entries.Posting`."""

    kind: str
    source: str
    target: str
    amount: int


class Wish(Struct, frozen=True, kw_only=True):
    """What a hold asks for, in nano-USD: `amount`, or at least `least` of it."""

    amount: int
    least: int
    prepaid: bool
    """Whether the account's own money must cover it."""


class Use(Struct, frozen=True):
    """What requests admitted in a budget's present period have cost and hold, in nano-USD."""

    budget: Budget
    spent: int
    held: int


class Beyond(Struct, frozen=True):
    """A payment that is not booked: not 1 nano-USD to MOST, or it would take the balance beyond MOST."""

    amount: int
    balance: int


def decide(wish: Wish, balance: Balance, uses: Iterable[Use], now: float) -> Granted | Short | Exhausted:
    """Grant the whole wish, or what balance and budgets cover if that is enough; `now` is Unix seconds.

    The balance answers first, then the budgets in their order.
    """
    least = min(wish.least, wish.amount)
    answer: Granted | Short | Exhausted
    answer = grant(balance, wish.amount, least, prepaid=wish.prepaid)
    for use in uses:
        if not isinstance(answer, Granted):
            break
        answer = afford(use, answer.amount, least, now)
    return answer


def grant(balance: Balance, amount: int, least: int, *, prepaid: bool) -> Granted | Short:
    """How much of `amount` is held. All nano-USD.

    A prepaid account gives what is available if that is `least` or more. Any other is never refused; no
    account holds more than MOST at a time.
    """
    if not prepaid:
        return Granted(max(0, min(amount, MOST - balance.held)))
    available = balance.balance - balance.held
    there = max(available, 0)
    return Granted(min(amount, there)) if there >= least else Short(least, available, balance.held)


def afford(use: Use, amount: int, least: int, now: float) -> Granted | Exhausted:
    """How much of `amount` the budget still has in the period of `now` (Unix seconds). The rest nano-USD."""
    left = use.budget.limit - use.spent - use.held
    there = max(left, 0)
    if there >= least:
        return Granted(min(amount, there))
    ends = period_of(now, use.budget.period).end
    return Exhausted(use.budget, least, left, use.held, retry_after=ends - now)


def may_pass(refused: Short | Exhausted) -> bool:
    """Whether it would be granted if nothing were held for other requests."""
    return refused.available + refused.held >= refused.needed


def chargeable(cost: int) -> int:
    """The cost as the books take it: an absurd one is cut to MOST, a negative one is nothing."""
    return max(0, min(cost, MOST))


def hold_postings(amount: int) -> tuple[Movement, ...]:
    """A hold of nothing needs no posting."""
    return (Movement("hold", "available", "held", amount),) if amount else ()


def settlement_postings(held: int, cost: int) -> tuple[Movement, ...]:
    """End a hold of `held` with a charge of `cost` (zero: it is only released). All nano-USD.

    What is `chargeable` comes from the hold, what is more from the available money; what is left of the hold
    is freed.
    """
    charged = chargeable(cost)
    covered = min(held, charged)
    movements = []
    if covered:
        movements.append(Movement("settle", "held", "income", covered))
    if charged > covered:
        movements.append(Movement("settle", "available", "income", charged - covered))
    if held > covered:
        movements.append(Movement("release", "held", "available", held - covered))
    return tuple(movements)


def credit(balance: Balance, amount: int) -> Movement | Beyond:
    """A payment of the customer's, an opening balance too."""
    return _booked(balance, Movement("credit", "outside", "available", amount))


def refund(balance: Balance, amount: int) -> Movement | Beyond:
    """Give back some of what was charged."""
    return _booked(balance, Movement("refund", "income", "available", amount))


def apply(balance: Balance, movement: Movement | Posting) -> Balance:
    """The balance after a movement of its account."""
    source, target, amount = movement.source, movement.target, movement.amount
    return Balance(
        balance.account,
        balance.balance + amount * ((target in _OWN) - (source in _OWN)),
        balance.held + amount * ((target == "held") - (source == "held")),
    )


def _booked(balance: Balance, movement: Movement) -> Movement | Beyond:
    fits = 0 < movement.amount <= MOST and balance.balance + movement.amount <= MOST
    return movement if fits else Beyond(movement.amount, balance.balance)
