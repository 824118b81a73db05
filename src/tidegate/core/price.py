"""What tokens cost, as the operator wrote it: exact decimals in USD."""

from collections.abc import Mapping
from decimal import Decimal

from msgspec import Struct


class PriceTier(Struct, frozen=True, kw_only=True):
    """Prices for a whole prompt of more than `above_input_tokens` tokens; None keeps the price below it."""

    above_input_tokens: int
    input: Decimal | None = None
    output: Decimal | None = None
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None
    cache_write_1h: Decimal | None = None
    web_search: Decimal | None = None


class Price(Struct, frozen=True, kw_only=True):
    """USD per million tokens; `web_search` is USD per thousand calls. None means "not told".

    `tiers` rise by `above_input_tokens`. `service_tiers` maps a service tier to the factor of all prices.
    """

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None
    cache_write_1h: Decimal | None = None
    web_search: Decimal | None = None
    tiers: tuple[PriceTier, ...] = ()
    service_tiers: Mapping[str, Decimal] = {}
