"""What one request may cost and what it has cost: its prices, its bounds, its place in the limits."""

from collections.abc import Callable

from msgspec import Struct, structs

from tidegate.core.price import Price
from tidegate.core.usage import Usage
from tidegate.exchange.ports import AttemptRecord
from tidegate.ledger.entries import NO_CHARGE, Charge
from tidegate.ledger.holds import Bounds, believed
from tidegate.ledger.pricing import Tariff
from tidegate.routing.quota import Scope


class Tariffs:
    """The compiled price lists of one configuration, each made when it is first needed."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Price, Tariff]] = {}

    def of(self, price: Price | None) -> Tariff | None:
        """The tariff of a price list; None where nothing is priced."""
        if price is None:
            return None
        known = self._known.get(id(price))
        if known is None:
            # The price list is kept with it, so that no other can ever have its identity.
            known = self._known[id(price)] = (price, Tariff.of(price))
        return known[1]


class Tab(Struct, kw_only=True):
    """Made when a request is admitted; `cost_of` gives a channel's own prices by its name."""

    cost_of: Callable[[str], Tariff | None]
    bounds: Bounds
    tariff: Tariff | None = None
    """What the caller pays by; None: nothing."""
    tier: str | None = None
    """The service tier that the caller asked for."""
    tier_was_lost: bool = False
    """Whether the channel could not be told it: then it is not charged either."""
    scopes: tuple[Scope, ...] = ()
    """Where the request counts in the limits."""
    estimated: int = 0
    """The tokens that it was counted with at its start."""
    held: int | None = None
    """What is held for it, in nano-USD; None: nothing is."""

    def charge(self, usage: Usage, produced: Callable[[], int]) -> tuple[Charge, tuple[str, ...]]:
        """What `usage` costs the caller, and what of it was not believed (docs/billing.md).

        `produced` counts the bytes of output that were seen.
        """
        if self.tariff is None:
            return NO_CHARGE, ()
        credible, flags = self._credible(usage, produced)
        tier = self.tariff.billed_tier(self._sent_tier, usage.service_tier)
        return self.tariff.charge(credible, tier), flags

    def upstream_cost(self, channel: str, usage: Usage | None) -> int | None:
        """What `usage` costs the operator on a channel, in nano-USD; None where nothing is known of it.

        It is to be compared with the provider's bill: counts and service tier are those that it told.
        """
        tariff = None if usage is None else self.cost_of(channel)
        if tariff is None or usage is None:
            return None
        told = usage.service_tier
        served = self._sent_tier if told is None or not tariff.has_tier(told) else told
        return tariff.charge(usage, served).amount

    @property
    def _sent_tier(self) -> str | None:
        return None if self.tier_was_lost else self.tier

    def _credible(self, usage: Usage, produced: Callable[[], int]) -> tuple[Usage, tuple[str, ...]]:
        usual = (usage.output or 0) <= self.bounds.credible_output
        return believed(usage, self.bounds, 0 if usual else produced())


def with_cost(attempt: AttemptRecord, cost: int | None) -> AttemptRecord:
    """The attempt with what it cost the operator."""
    return attempt if cost is None else structs.replace(attempt, upstream_cost=cost)
