"""Turns costs per token into prices per million tokens."""

import re
from collections.abc import Iterator
from decimal import Decimal

from msgspec import Struct

from tidegate.importing.members import Members
from tidegate.importing.notes import Notes
from tidegate.importing.toml_text import Plain

_RATES = {
    "input_cost_per_token": "input",
    "output_cost_per_token": "output",
    "cache_read_input_token_cost": "cache_read",
    "cache_creation_input_token_cost": "cache_write",
    "cache_creation_input_token_cost_above_1hr": "cache_write_1h",
}
_TIER = re.compile(r"(.+)_above_(\d+)k_tokens")
_MILLION = Decimal(1_000_000)
_PLACES = Decimal("0.000001")
_MOST = Decimal(1_000_000)


class Pricing(Struct, frozen=True):
    """Rates by our names in USD per million tokens; tiers by the prompt's length above which they hold."""

    rates: dict[str, str]
    tiers: dict[int, dict[str, str]]

    def settings(self) -> dict[str, Plain]:
        """As a model has them."""
        found: dict[str, Plain] = {"price": self.rates}
        if self.tiers:
            tiers = sorted(self.tiers.items())
            found["price_tiers"] = [{"above_input_tokens": above, **rates} for above, rates in tiers]
        return found


def pricing(sources: tuple[Members, ...], notes: Notes) -> Pricing | None:
    """What the members say of costs; the first that says something of a rate counts."""
    rates: dict[str, str] = {}
    tiers: dict[int, dict[str, str]] = {}
    place = ""
    for members, name, ours, above in _costs(sources):
        place = members.at(name)
        price = _per_million(members, name, notes)
        if price is not None:
            (tiers.setdefault(above, {}) if above else rates).setdefault(ours, price)
    if not rates and not tiers:
        return None
    for needed in ("input", "output"):
        if needed not in rates:
            notes.change(place, f"the cost of {needed} is not told, so it is 0")
    return Pricing({"input": "0", "output": "0", **rates}, tiers)


def _costs(sources: tuple[Members, ...]) -> Iterator[tuple[Members, str, str, int]]:
    """Members that tell a cost: our name of the rate, and the tokens above which it holds, 0 for always."""
    for members in sources:
        for name in members.names():
            tier = _TIER.fullmatch(name)
            ours = _RATES.get(tier[1] if tier else name)
            if ours is not None:
                yield members, name, ours, int(tier[2]) * 1000 if tier else 0


def _per_million(members: Members, name: str, notes: Notes) -> str | None:
    cost = members.number(name)
    if cost is None:
        return None
    exact = cost * _MILLION
    if exact > _MOST:
        notes.leave(members.at(name), "is more than a million dollars per million tokens")
        return None
    rounded = exact.quantize(_PLACES)
    if rounded != exact:
        notes.change(members.at(name), "is rounded to six decimals of a dollar per million tokens")
    return f"{rounded.normalize():f}"
