"""What the tokens of one request cost: a price list compiled to integers, times the counts, rounded once."""

from collections.abc import Mapping
from decimal import Decimal

from msgspec import Struct

from tidegate.core.price import Price, PriceTier
from tidegate.core.usage import Usage
from tidegate.ledger.entries import Charge, Item
from tidegate.ledger.money import exact_usd, rounded, scaled

PLACES = 6
"""Prices and factors have at most so many decimals: price times factor is then whole atto-USD per token."""
PLAIN_TIERS = frozenset({None, "auto", "default", "standard", "standard_only"})
"""Service tiers that every model has, at factor 1."""

_ONE = 10**PLACES
_LINES = ("input", "cache_read", "cache_write", "cache_write_1h", "output", "web_search")


class Line(Struct, frozen=True, gc=False):
    """One class of what is sold: `rate` is atto-USD for one of it, `price` the same as an Item's text."""

    name: str
    rate: int
    price: str


class Rates(Struct, frozen=True):
    """What holds for a request whose whole prompt has more than `above` tokens, its service tier included.

    `lines` are input, cache_read, cache_write, cache_write_1h, output, web_search. The others are atto-USD:
    `prompt` for one prompt token of the dearest class, `output` for an output token, `search` for a search.
    """

    above: int
    lines: tuple[Line, ...]
    prompt: int
    output: int
    search: int


class Tariff(Struct, frozen=True):
    """A price list, ready to charge by. Built with `of`, once for each price."""

    factors: Mapping[str, int]
    """Service tier -> factor in millionths, without the plain tiers."""
    plain: tuple[Rates, ...]
    tiered: Mapping[str, tuple[Rates, ...]]

    @staticmethod
    def of(price: Price) -> "Tariff":
        """Compile a price. Raises ValueError for prices and factors that the config does not allow."""
        factors = {
            tier: _millionths(factor)
            for tier, factor in price.service_tiers.items()
            if tier not in PLAIN_TIERS
        }
        return Tariff(
            factors=factors,
            plain=_by_context(price, _ONE),
            tiered={tier: _by_context(price, factor) for tier, factor in factors.items()},
        )

    def has_tier(self, tier: str | None) -> bool:
        """Whether it is told what a service tier costs."""
        return tier in PLAIN_TIERS or tier in self.factors

    def rates(self, tier: str | None) -> tuple[Rates, ...]:
        """By context length, longest first; a service tier without a factor costs what the plain ones do."""
        return self.plain if tier is None else self.tiered.get(tier, self.plain)

    def billed_tier(self, asked: str | None, told: str | None) -> str | None:
        """The service tier to charge by: the one `told` by the upstream, unless it is dearer than `asked`."""
        if told is None or told == asked or not self.has_tier(told):
            return asked
        return told if self._factor(told) <= self._factor(asked) else asked

    def charge(self, usage: Usage, tier: str | None) -> Charge:
        """What `usage` costs. Added up exactly, rounded once: half a nano-USD or more goes up.

        The context tier is that of the whole prompt and holds for all tokens. Counts are not negative.
        """
        fresh, read, written = usage.input or 0, usage.cache_read or 0, usage.cache_write or 0
        hour = min(usage.cache_write_1h or 0, written)
        prompt = fresh + read + written
        rates = next(rates for rates in self.rates(tier) if prompt > rates.above)
        counts = (fresh, read, written - hour, hour, usage.output or 0, usage.web_searches or 0)
        total, items = 0, []
        for line, quantity in zip(rates.lines, counts, strict=True):
            if quantity:
                amount = quantity * line.rate
                total += amount
                items.append(Item(line.name, quantity, line.price, exact_usd(amount)))
        return Charge(amount=rounded(total), items=tuple(items))

    def _factor(self, tier: str | None) -> int:
        return _ONE if tier is None else self.factors.get(tier, _ONE)


def _by_context(price: Price, factor: int) -> tuple[Rates, ...]:
    """The rates of every context tier, longest first; the last one holds for any prompt."""
    rates = [_rates(-1, base := _set(price), factor)]
    for tier in sorted(price.tiers, key=lambda tier: tier.above_input_tokens):
        base = {**base, **_set(tier)}
        rates.append(_rates(tier.above_input_tokens, base, factor))
    return tuple(reversed(rates))


def _set(prices: Price | PriceTier) -> dict[str, Decimal]:
    told = {name: getattr(prices, name) for name in _LINES}
    return {name: amount for name, amount in told.items() if amount is not None}


def _rates(above: int, prices: Mapping[str, Decimal], factor: int) -> Rates:
    """What is not set costs what comes nearest to it; a search is free."""
    fresh = prices["input"]
    written = prices.get("cache_write", fresh)
    amounts = (
        fresh,
        prices.get("cache_read", fresh),
        written,
        prices.get("cache_write_1h", written),
        prices["output"],
        prices.get("web_search", Decimal(0)),
    )
    lines = tuple(_line(name, amount, factor) for name, amount in zip(_LINES, amounts, strict=True))
    return Rates(
        above=above,
        lines=lines,
        prompt=max(line.rate for line in lines[:4]),
        output=lines[4].rate,
        search=lines[5].rate,
    )


def _line(name: str, price: Decimal, factor: int) -> Line:
    """Token prices are USD per million, and price times factor counts in 1e-12; searches are per thousand."""
    product = _millionths(price) * factor
    whole, rest = divmod(product, 10 ** (2 * PLACES))
    decimals = f"{rest:0{2 * PLACES}d}".rstrip("0").ljust(2, "0")
    return Line(name, product * 1000 if name == "web_search" else product, f"{whole}.{decimals}")


def _millionths(amount: Decimal) -> int:
    found = scaled(amount, PLACES)
    if found is None or found < 0:
        raise ValueError(f"a price or factor must have at most {PLACES} decimals and not be negative")
    return found
