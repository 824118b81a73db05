from decimal import Decimal

from tidegate.core.price import Price, PriceTier


def test_what_is_not_told_is_not_zero() -> None:
    price = Price(input=Decimal(3), output=Decimal(15))
    assert (price.cache_read, price.web_search, price.tiers) == (None, None, ())
    assert PriceTier(above_input_tokens=1).input is None
