from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property.ledger.prices import TIERS, prices

from tidegate.core.price import Price, PriceTier
from tidegate.core.usage import Usage
from tidegate.ledger.holds import (
    MOST_INPUT,
    MOST_OUTPUT,
    MOST_SEARCHES,
    UNSEEN_INPUT,
    UNSEEN_OUTPUT,
    Bounds,
    affordable_output,
    believed,
    worst,
)
from tidegate.ledger.money import MOST
from tidegate.ledger.pricing import Tariff

SONNET = Tariff.of(
    Price(
        input=Decimal("3.00"),
        output=Decimal("15.00"),
        cache_read=Decimal("0.30"),
        cache_write=Decimal("3.75"),
        cache_write_1h=Decimal("6.00"),
        web_search=Decimal("10.00"),
        tiers=(PriceTier(above_input_tokens=200_000, input=Decimal("2.00"), output=Decimal("22.50")),),
        service_tiers={"priority": Decimal("2.0")},
    )
)
FREE = Tariff.of(Price(input=Decimal(0), output=Decimal(0)))
SMALL = Bounds(input=500, firm=True, output=100, choices=2)

bounds = st.builds(
    Bounds,
    input=st.integers(0, 500_000),
    firm=st.booleans(),
    output=st.integers(0, 100_000),
    choices=st.integers(1, 4),
    searches=st.integers(0, 10),
)


def test_a_hold_is_at_the_dearest_class_of_the_prompt_and_for_all_choices() -> None:
    assert worst(SONNET, None, SMALL) == 500 * 6000 + 200 * 15_000
    assert worst(SONNET, "priority", SMALL) == 2 * (500 * 6000 + 200 * 15_000)


def test_a_hold_covers_the_searches() -> None:
    searching = Bounds(input=500, firm=False, output=100, searches=3)
    assert worst(SONNET, None, searching) == 500 * 6000 + 100 * 15_000 + 3 * 10_000_000


def test_a_hold_covers_every_context_tier_that_can_be_reached() -> None:
    long = Bounds(input=200_001, firm=True, output=10)
    assert worst(SONNET, None, long) == 200_001 * 6000 + 10 * 22_500
    cheaper_above = Tariff.of(
        Price(
            input=Decimal(6),
            output=Decimal(1),
            tiers=(PriceTier(above_input_tokens=200_000, input=Decimal(3)),),
        )
    )
    assert worst(cheaper_above, None, long) == 200_000 * 6000 + 10 * 1000


def test_a_hold_never_outgrows_a_database_column() -> None:
    dear = Tariff.of(Price(input=Decimal(1_000_000), output=Decimal(1_000_000)))
    absurd = Bounds(input=10**12, firm=True, output=10**12, choices=128)
    assert worst(dear, None, absurd) == MOST
    assert affordable_output(dear, None, absurd, MOST) == 10**12


@pytest.mark.parametrize(
    ("granted", "limit"),
    [
        (500 * 6000 - 1, 0),
        (500 * 6000, 0),
        (500 * 6000 + 2 * 15_000 - 1, 0),
        (500 * 6000 + 2 * 15_000, 1),
        (500 * 6000 + 34 * 15_000, 17),
        (10**9, 100),
    ],
)
def test_what_is_granted_sets_the_limit_of_each_choice(granted: int, limit: int) -> None:
    assert affordable_output(SONNET, None, SMALL, granted) == limit


def test_what_costs_nothing_has_no_limit() -> None:
    assert worst(FREE, None, SMALL) == 0
    assert affordable_output(FREE, None, SMALL, 0) == 100


@given(prices, st.sampled_from(TIERS), bounds, st.data())
def test_no_usage_within_the_bounds_costs_more_than_the_hold(
    price: Price, tier: str | None, most: Bounds, data: st.DataObject
) -> None:
    tariff = Tariff.of(price)
    prompt = data.draw(st.integers(0, most.input))
    read = data.draw(st.integers(0, prompt))
    written = data.draw(st.integers(0, prompt - read))
    usage = Usage(
        input=prompt - read - written,
        cache_read=read,
        cache_write=written,
        cache_write_1h=data.draw(st.integers(0, written)),
        output=data.draw(st.integers(0, most.output * most.choices)),
        web_searches=data.draw(st.integers(0, most.searches)),
    )
    assert tariff.charge(usage, tier).amount <= worst(tariff, tier, most)
    assert believed(usage, most, 0) == (usage, ())


@given(prices, st.sampled_from(TIERS), bounds, st.integers(0, 10**12))
def test_the_affordable_limit_is_the_largest_that_is_covered(
    price: Price, tier: str | None, most: Bounds, granted: int
) -> None:
    tariff = Tariff.of(price)
    limit = affordable_output(tariff, tier, most, granted)

    def held(output: int) -> int:
        bound = Bounds(
            input=most.input,
            firm=most.firm,
            output=output,
            choices=most.choices,
            searches=most.searches,
        )
        return worst(tariff, tier, bound)

    assert 0 <= limit <= most.output
    assert limit == 0 or held(limit) <= granted
    assert limit == most.output or held(limit + 1) > granted


def test_what_a_provider_adds_unseen_is_believed() -> None:
    most = Usage(input=500 + UNSEEN_INPUT, output=200 + UNSEEN_OUTPUT, web_searches=MOST_SEARCHES)
    assert believed(most, SMALL, 0) == (most, ())


def test_output_that_came_is_believed_whatever_the_limit_was() -> None:
    usage = Usage(output=90_000)
    assert believed(usage, SMALL, 90_000) == (usage, ())
    assert believed(usage, SMALL, 1000) == (
        Usage(output=1000),
        ("clamped:usage.output_tokens",),
    )


def test_a_limit_beyond_all_answers_makes_nothing_credible() -> None:
    wild = Bounds(input=500, firm=True, output=10**25, choices=3)
    most = Usage(output=MOST_OUTPUT + UNSEEN_OUTPUT)
    assert believed(most, wild, 0) == (most, ())
    told = Usage(output=MOST_OUTPUT + UNSEEN_OUTPUT + 1)
    assert believed(told, wild, 0) == (Usage(output=MOST_OUTPUT), ("clamped:usage.output_tokens",))
    assert believed(told, wild, MOST_OUTPUT + 1) == (told, ())


def test_each_impossible_count_is_flagged_and_falls_back_to_what_was_held_for() -> None:
    told = Usage(input=10**9, output=10**15, reasoning=10**12, web_searches=10**6, service_tier="flex")
    assert believed(told, SMALL, 50) == (
        Usage(input=500, output=200, reasoning=200, web_searches=0, service_tier="flex"),
        ("clamped:usage.input_tokens", "clamped:usage.output_tokens", "clamped:usage.web_searches"),
    )


def test_a_count_of_reasoning_below_the_output_stays() -> None:
    used, _ = believed(Usage(output=10**9, reasoning=5), SMALL, 0)
    assert used == Usage(output=200, reasoning=5)


@pytest.mark.parametrize(
    ("told", "used"),
    [
        (
            Usage(input=10**9, cache_read=300, cache_write=100),
            Usage(input=100, cache_read=300, cache_write=100),
        ),
        (Usage(input=7, cache_read=300, cache_write=10**9), Usage(input=0, cache_read=300, cache_write=200)),
        (
            Usage(input=7, cache_read=10**9, cache_write=9, cache_write_1h=9),
            Usage(input=0, cache_read=500, cache_write=0, cache_write_1h=0),
        ),
        (
            Usage(cache_read=400, cache_write=10**9, cache_write_1h=60),
            Usage(cache_read=400, cache_write=100, cache_write_1h=60),
        ),
        (Usage(input=10**9, cache_write_1h=60), Usage(input=500, cache_write_1h=0)),
    ],
)
def test_of_an_impossible_prompt_the_dear_part_goes_first(told: Usage, used: Usage) -> None:
    assert believed(told, SMALL, 0) == (used, ("clamped:usage.input_tokens",))


def test_a_prompt_that_is_not_all_in_the_request_may_be_as_long_as_any() -> None:
    loose = Bounds(input=500, firm=False, output=100)
    told = Usage(input=MOST_INPUT)
    assert believed(told, loose, 0) == (told, ())
    assert believed(Usage(input=MOST_INPUT + 1), loose, 0)[0] == Usage(input=500)
    longer = Bounds(input=MOST_INPUT, firm=False, output=100)
    assert believed(Usage(input=MOST_INPUT + 1), longer, 0)[1] == ()


def test_searches_that_were_held_for_are_believed() -> None:
    searching = Bounds(input=500, firm=False, output=100, searches=200)
    assert believed(Usage(web_searches=200), searching, 0)[1] == ()
    assert believed(Usage(web_searches=201), searching, 0)[0] == Usage(web_searches=200)
