"""What tokens cost: the price list's rules, each by an amount worked out by hand."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property.ledger.prices import TIERS, prices, usages

from tidegate.core.price import Price, PriceTier
from tidegate.core.usage import Usage
from tidegate.ledger.entries import Item
from tidegate.ledger.money import MOST, scaled
from tidegate.ledger.pricing import Tariff


def price(text: str, **more: Any) -> Price:
    """`price("3.00 15.00", cache_read="0.30")`."""
    input_, output = text.split()
    money: dict[str, Any] = {
        name: Decimal(value) if isinstance(value, str) else value for name, value in more.items()
    }
    return Price(input=Decimal(input_), output=Decimal(output), **money)


def cost(of: Price, usage: Usage, tier: str | None = None) -> int:
    return Tariff.of(of).charge(usage, tier).amount


SONNET = price("3.00 15.00", cache_read="0.30", cache_write="3.75", cache_write_1h="6.00", web_search="10.00")


def test_every_class_has_its_price_and_its_line() -> None:
    usage = Usage(input=18, cache_read=100, cache_write=50, cache_write_1h=20, output=12, web_searches=2)
    charge = Tariff.of(SONNET).charge(usage, None)
    assert charge.items == (
        Item("input", 18, "3.00", "0.000054000"),
        Item("cache_read", 100, "0.30", "0.000030000"),
        Item("cache_write", 30, "3.75", "0.000112500"),
        Item("cache_write_1h", 20, "6.00", "0.000120000"),
        Item("output", 12, "15.00", "0.000180000"),
        Item("web_search", 2, "10.00", "0.020000000"),
    )
    assert charge.amount == 20_496_500


def test_what_is_nothing_or_not_told_has_no_line() -> None:
    charge = Tariff.of(SONNET).charge(Usage(input=0, output=12), None)
    assert [item.name for item in charge.items] == ["output"]
    nothing = Tariff.of(SONNET).charge(Usage(), None)
    assert (nothing.amount, nothing.items) == (0, ())


def test_reasoning_is_part_of_output() -> None:
    assert cost(SONNET, Usage(output=50, reasoning=30)) == cost(SONNET, Usage(output=50)) == 750_000


def test_the_counts_of_the_providers_own_examples() -> None:
    listed = price("10 50", cache_read="1", cache_write="12.5")
    messages = Usage(input=6, cache_write=159_217, cache_read=0, output=2745)
    chat = Usage(input=1000, cache_read=9000, output=100)
    assert cost(listed, messages) == round((6 * 10 + 159_217 * 12.5 + 2745 * 50) * 1000)
    assert cost(listed, chat) == (1000 * 10 + 9000 * 1 + 100 * 50) * 1000


def test_what_is_not_set_costs_what_comes_nearest_and_a_search_is_free() -> None:
    usage = Usage(input=1, cache_read=1, cache_write=2, cache_write_1h=1, web_searches=5)
    assert cost(price("3 15"), usage) == 4 * 3000
    assert cost(price("3 15", cache_write="4"), usage) == 2 * 3000 + 2 * 4000


def test_one_hour_writes_are_no_more_than_the_writes() -> None:
    assert cost(SONNET, Usage(cache_write=10, cache_write_1h=50)) == 10 * 6000
    assert cost(SONNET, Usage(cache_write_1h=50)) == 0


LONG = price(
    "3 15",
    cache_read="0.3",
    tiers=(
        PriceTier(above_input_tokens=400, input=Decimal(12), web_search=Decimal(20)),
        PriceTier(above_input_tokens=200, input=Decimal(6), output=Decimal("22.5")),
    ),
    service_tiers={"priority": Decimal(2), "flex": Decimal("0.5"), "default": Decimal(9)},
)


@pytest.mark.parametrize(
    ("usage", "nano"),
    [
        (Usage(input=200, output=1), 200 * 3000 + 15_000),
        (Usage(input=201, output=1), 201 * 6000 + 22_500),
        (Usage(input=1, cache_read=200, output=1), 6000 + 200 * 300 + 22_500),
        (Usage(input=1, cache_write=200), 6000 + 200 * 6000),
        (Usage(cache_read=150, cache_write=50), 150 * 300 + 50 * 3000),
        (Usage(input=400, output=1), 400 * 6000 + 22_500),
        (Usage(input=401, output=1), 401 * 12_000 + 22_500),
        (Usage(input=400, web_searches=1), 400 * 6000),
        (Usage(input=401, web_searches=1), 401 * 12_000 + 20_000_000),
    ],
)
def test_the_whole_prompt_chooses_the_tier_for_all_tokens(usage: Usage, nano: int) -> None:
    assert cost(LONG, usage) == nano


@pytest.mark.parametrize(
    ("tier", "input_price", "known"),
    [
        (None, 3000, True),
        ("auto", 3000, True),
        ("default", 3000, True),
        ("standard", 3000, True),
        ("standard_only", 3000, True),
        ("priority", 6000, True),
        ("flex", 1500, True),
        ("scale", 3000, False),
        ("", 3000, False),
    ],
)
def test_a_service_tier_multiplies_all_prices(tier: str | None, input_price: int, known: bool) -> None:
    tariff = Tariff.of(LONG)
    assert tariff.charge(Usage(input=1), tier).amount == input_price
    assert tariff.has_tier(tier) is known


def test_the_lines_show_the_price_with_its_factor_and_searches_too() -> None:
    charge = Tariff.of(LONG).charge(Usage(input=401, web_searches=1), "priority")
    assert charge.items == (
        Item("input", 401, "24.00", "0.009624000"),
        Item("web_search", 1, "40.00", "0.040000000"),
    )


@pytest.mark.parametrize(
    ("asked", "told", "billed"),
    [
        (None, None, None),
        ("priority", None, "priority"),
        ("priority", "priority", "priority"),
        ("priority", "default", "default"),
        ("priority", "flex", "flex"),
        ("priority", "scale", "priority"),
        (None, "priority", None),
        ("auto", "priority", "auto"),
        ("auto", "flex", "flex"),
        (None, "standard", "standard"),
        ("flex", "default", "flex"),
        ("scale", "priority", "scale"),
    ],
)
def test_the_tier_that_was_given_counts_unless_it_is_dearer_than_the_one_asked_for(
    asked: str | None, told: str | None, billed: str | None
) -> None:
    assert Tariff.of(LONG).billed_tier(asked, told) == billed


@pytest.mark.parametrize(
    ("of", "usage", "nano", "lines"),
    [
        (price("0.000001 0"), Usage(input=499), 0, ["0.000000000499"]),
        (price("0.000001 0"), Usage(input=500), 1, ["0.0000000005"]),
        (price("0.0004 0.0001"), Usage(input=1, output=1), 1, ["0.0000000004", "0.0000000001"]),
        (price("0.0015 0"), Usage(input=1), 2, ["0.0000000015"]),
        (price("0 0.001"), Usage(output=1), 1, ["0.000000001"]),
    ],
)
def test_the_sum_is_rounded_once_and_half_goes_up(
    of: Price, usage: Usage, nano: int, lines: list[str]
) -> None:
    charge = Tariff.of(of).charge(usage, None)
    assert charge.amount == nano
    assert [item.amount for item in charge.items] == lines


def test_a_small_factor_keeps_a_price_exact() -> None:
    tiny = price("0.000001 0", service_tiers={"flex": Decimal("0.000001")})
    [item] = Tariff.of(tiny).charge(Usage(input=3), "flex").items
    assert (item.price, item.amount) == ("0.000000000001", "0.000000000000000003")


def test_a_charge_never_outgrows_a_database_column() -> None:
    dear = price("1000000 1000000", service_tiers={"priority": Decimal(1000)})
    huge = 10**18 - 1
    usage = Usage(input=huge, cache_read=huge, output=huge, web_searches=huge)
    assert Tariff.of(dear).charge(usage, "priority").amount == MOST


@pytest.mark.parametrize("bad", ["0.0000001", "-1", "NaN", "Infinity"])
def test_a_price_that_the_config_refuses_is_no_tariff(bad: str) -> None:
    with pytest.raises(ValueError, match="at most 6 decimals"):
        Tariff.of(price(f"{bad} 1"))
    with pytest.raises(ValueError, match="at most 6 decimals"):
        Tariff.of(price("1 1", service_tiers={"priority": Decimal(bad)}))


def by_fractions(of: Price, usage: Usage, tier: str | None) -> int:
    """The written rules, worked out with fractions instead of scaled integers."""
    prompt = (usage.input or 0) + (usage.cache_read or 0) + (usage.cache_write or 0)
    reached = sorted(
        (tier for tier in of.tiers if prompt > tier.above_input_tokens), key=lambda t: t.above_input_tokens
    )

    def rate(name: str, otherwise: Fraction) -> Fraction:
        told = [getattr(each, name) for each in (of, *reached)]
        set_ = [Fraction(each) for each in told if each is not None]
        return set_[-1] if set_ else otherwise

    fresh = rate("input", Fraction(0))
    write = rate("cache_write", fresh)
    hour = min(usage.cache_write_1h or 0, usage.cache_write or 0)
    tokens = (
        (usage.input or 0) * fresh
        + (usage.cache_read or 0) * rate("cache_read", fresh)
        + ((usage.cache_write or 0) - hour) * write
        + hour * rate("cache_write_1h", write)
        + (usage.output or 0) * rate("output", Fraction(0))
    )
    searches = (usage.web_searches or 0) * rate("web_search", Fraction(0))
    factor = Fraction(of.service_tiers.get(tier or "", Decimal(1)))
    nano = (tokens / 10**6 + searches / 1000) * factor * 10**9
    return int(nano + Fraction(1, 2))


@given(prices, usages, st.sampled_from(TIERS))
def test_a_charge_is_what_the_rules_say_and_its_lines_come_to_it(
    of: Price, usage: Usage, tier: str | None
) -> None:
    charge = Tariff.of(of).charge(usage, tier)
    assert charge.amount == by_fractions(of, usage, tier)
    exact = sum(scaled(Decimal(item.amount), 18) or 0 for item in charge.items)
    assert 0 <= (exact + 5 * 10**8) - charge.amount * 10**9 < 10**9
    for item in charge.items:
        per = 1000 if item.name == "web_search" else 10**6
        assert Fraction(item.price) * item.quantity / per == Fraction(item.amount)
