"""Reads what models and channels cost."""

from decimal import Decimal

from tidegate.config.table import Table
from tidegate.config.values import decimal, whole
from tidegate.core.price import Price, PriceTier
from tidegate.ledger.pricing import PLACES, PLAIN_TIERS

_usd = decimal(Decimal(1_000_000), PLACES)
_factor = decimal(Decimal(1000), PLACES)


def price(table: Table) -> Price | None:
    """The settings `price`, `price_tiers` and `service_tiers` together; None where no price is set."""
    rates = table.table("price")
    priced = not rates.is_empty
    input_, output = _base_rate(rates, "input"), _base_rate(rates, "output")
    read = Price(
        input=input_,
        output=output,
        cache_read=rates.read("cache_read", _usd, None),
        cache_write=rates.read("cache_write", _usd, None),
        cache_write_1h=rates.read("cache_write_1h", _usd, None),
        web_search=rates.read("web_search", _usd, None),
        tiers=_tiers(table),
        service_tiers=_service_tiers(table),
    )
    rates.close()
    for extra in ("price_tiers", "service_tiers"):
        if table.is_set(extra) and not priced:
            table.error(extra, "has no price to build on", "set price too, or leave it out")
    return read if priced else None


def _base_rate(rates: Table, key: str) -> Decimal:
    if rates.is_empty:
        return rates.read(key, _usd, Decimal(0))
    return rates.need(key, _usd, Decimal(0), f'write {key} = "0" if it costs nothing')


def _service_tiers(table: Table) -> dict[str, Decimal]:
    factors = table.entries("service_tiers", _factor)
    for tier, factor in factors.items():
        if tier in PLAIN_TIERS and factor != 1:
            path = (*table.path, "service_tiers", tier)
            table.report.warning(path, "always costs the plain price", "leave it out, or change the price")
    return factors


def _tiers(table: Table) -> tuple[PriceTier, ...]:
    tiers: dict[int, PriceTier] = {}
    for row in table.tables("price_tiers"):
        mend = "write above_input_tokens = 200000, say"
        above = row.need("above_input_tokens", whole(1, 1_000_000_000), 0, mend)
        if above in tiers and above:
            row.error("above_input_tokens", "is there twice", "give each tier a limit of its own")
        tiers[above] = PriceTier(
            above_input_tokens=above,
            input=row.read("input", _usd, None),
            output=row.read("output", _usd, None),
            cache_read=row.read("cache_read", _usd, None),
            cache_write=row.read("cache_write", _usd, None),
            cache_write_1h=row.read("cache_write_1h", _usd, None),
            web_search=row.read("web_search", _usd, None),
        )
        row.close()
    return tuple(tiers[above] for above in sorted(tiers))
