"""What the books say about one request or one payment: the values that ledger, exchange and storage share."""

from typing import TypeAlias

from msgspec import Struct


class Item(Struct, frozen=True):
    """One line of a bill: `quantity` units of `name` at `price` come to `amount`, before rounding.

    `name` is input, cache_read, cache_write, cache_write_1h, output or web_search. `price` is USD per million
    tokens (per thousand calls for web_search), factors included. Both money texts are exact decimals.
    """

    name: str
    quantity: int
    price: str
    amount: str


class Charge(Struct, frozen=True, kw_only=True):
    """What something costs: nano-USD, rounded once, and the lines that come to it."""

    amount: int
    items: tuple[Item, ...] = ()


NO_CHARGE = Charge(amount=0)


class Budget(Struct, frozen=True):
    """What a scope (`key:laptop`, `account:acme`) may spend in a UTC day or month; `limit` in nano-USD."""

    scope: str
    period: str
    """`day` or `month`"""
    limit: int


class Granted(Struct, frozen=True):
    """The hold stands, with this amount in nano-USD: what was wanted, or what is there if that is enough."""

    amount: int


class Short(Struct, frozen=True):
    """The balance does not cover the least that is needed; all in nano-USD."""

    needed: int
    available: int
    held: int
    """What requests that have not ended hold of the balance, beside what is available."""


class Exhausted(Struct, frozen=True):
    """A budget does not cover the least that is needed. `retry_after` is seconds to the end of its period."""

    budget: Budget
    needed: int
    available: int
    held: int
    """What requests that have not ended hold of it, in nano-USD."""
    retry_after: float


class Unavailable(Struct, frozen=True):
    """The database cannot be asked now, and nothing is spent on trust; `retry_after` in seconds."""

    why: str
    retry_after: float


Answer: TypeAlias = Granted | Short | Exhausted | Unavailable
"""What comes of asking for a hold."""


class Posting(Struct, frozen=True, kw_only=True):
    """One movement of money, never changed: `amount` nano-USD (above zero) from `source` to `target`.

    `source` and `target` are `available` or `held` (both the account's), `income` (what was sold) or
    `outside` (what customers paid in). `kind` is credit, hold, settle, release or refund. `reference` is the
    request's id, or that of the payment or refund. `at` is Unix seconds.
    """

    number: int
    reference: str
    kind: str
    account: str
    key: str | None
    source: str
    target: str
    amount: int
    at: float
    note: str | None = None
    """Of a refund: the id of the request that is paid back."""


OPENING = "opening:"
"""With an account's name: the reference of its opening balance, so that it is credited once."""
LATE = "late:"
"""With a request's id: the reference of what is paid back when its true end comes after a recovery."""


class Balance(Struct, frozen=True):
    """What an account has: `balance` counts what is held; both nano-USD. Negative: the account owes."""

    account: str
    balance: int
    held: int
