"""What one request costs its caller and its operator."""

from decimal import Decimal

from tests.unit.exchange.said import DONE, HELLO, STOP, STREAM, USAGE, WITH_USAGE, breaks, chunk, says
from tests.unit.exchange.scene import CUT, KEY, Scene, channel, turns

from tidegate.core.price import Price
from tidegate.core.usage import Usage
from tidegate.exchange.tab import Tab, Tariffs
from tidegate.ledger.entries import NO_CHARGE
from tidegate.ledger.holds import Bounds
from tidegate.routing.catalog import Account, Model

PRICE = Price(input=Decimal(1), output=Decimal(2), service_tiers={"priority": Decimal(3)})
BOUNDS = Bounds(input=100, firm=True, output=10, choices=2)


def tab(price: Price | None = PRICE, tier: str | None = None) -> Tab:
    tariffs = Tariffs()
    return Tab(
        cost_of=lambda name: tariffs.of(PRICE if name == "priced" else None),
        bounds=BOUNDS,
        tariff=tariffs.of(price),
        tier=tier,
    )


def test_a_price_list_is_compiled_once() -> None:
    tariffs = Tariffs()
    assert tariffs.of(PRICE) is tariffs.of(PRICE)
    assert tariffs.of(None) is None


def test_nothing_priced_costs_nothing() -> None:
    assert tab(None).charge(Usage(input=9, output=9), lambda: 0) == (NO_CHARGE, ())


def test_the_tier_that_the_answer_names_is_charged_if_it_has_a_price() -> None:
    used = Usage(input=10, output=1)
    assert tab(tier="priority").charge(used, lambda: 0)[0].amount == 36_000
    told = Usage(input=10, output=1, service_tier="default")
    assert tab(tier="priority").charge(told, lambda: 0)[0].amount == 12_000
    unpriced = Usage(input=10, output=1, service_tier="scale")
    assert tab(tier="priority").charge(unpriced, lambda: 0)[0].amount == 36_000


def test_a_tier_that_no_channel_was_told_is_not_charged() -> None:
    asked = tab(tier="priority")
    asked.tier_was_lost = True
    assert asked.charge(Usage(input=10, output=1), lambda: 0)[0].amount == 12_000


def test_impossible_counts_are_capped_and_flagged_and_the_output_is_looked_at_only_then() -> None:
    looked: list[int] = []

    def produced() -> int:
        looked.append(1)
        return 25

    charge, flags = tab().charge(Usage(input=10, output=20), produced)
    assert (charge.amount, flags, looked) == (50_000, (), [])
    charge, flags = tab().charge(Usage(input=10, output=10**15), produced)
    assert (charge.amount, flags, looked) == (10_000 + 25 * 2_000, ("clamped:usage.output_tokens",), [1])


def test_the_operators_cost_is_known_where_the_channel_has_a_price_and_told_what_was_used() -> None:
    assert tab().upstream_cost("priced", Usage(input=10, output=1)) == 12_000
    assert tab().upstream_cost("priced", None) is None
    assert tab().upstream_cost("free", Usage(input=10)) is None


def test_the_operator_pays_for_the_tier_that_was_served_whoever_asked_for_it() -> None:
    dear = Usage(input=10, output=1, service_tier="priority")
    assert tab().upstream_cost("priced", dear) == 36_000
    assert tab().charge(dear, lambda: 0)[0].amount == 12_000
    cheap = Usage(input=10, output=1, service_tier="default")
    assert tab(tier="priority").upstream_cost("priced", cheap) == 12_000
    assert tab(tier="priority").upstream_cost("priced", Usage(input=10, output=1)) == 36_000
    unpriced = Usage(input=10, output=1, service_tier="scale")
    assert tab(tier="priority").upstream_cost("priced", unpriced) == 36_000


def scene() -> Scene:
    own = Price(input=Decimal("0.5"), output=Decimal(1))
    return Scene(
        channel("a", price=own),
        channel("b", price=Price(input=Decimal("0.1"), output=Decimal("0.2"))),
        models=[Model(name="m", first_event_timeout=120, idle_timeout=360, price=PRICE)],
        accounts=[Account(name="acme", prepaid=True)],
        key=KEY,
    )


async def test_the_caller_pays_the_model_and_the_row_tells_each_attempts_own_cost() -> None:
    """B167: a channel that fails by itself before its first word is free to the caller."""
    played = scene()
    spent = chunk({"role": "assistant"}, usage={"prompt_tokens": 1000, "completion_tokens": 0})
    await played.play(WITH_USAGE, breaks(CUT, spent), says(HELLO, STOP, USAGE, DONE))
    assert played.row.cost == 7 * 1_000 + 2 * 2_000
    assert [attempt.upstream_cost for attempt in played.row.attempts] == [500_000, 7 * 100 + 2 * 200]


async def test_what_came_before_an_interruption_is_charged_and_its_cost_noted() -> None:
    played = scene()
    await played.play(STREAM, breaks(CUT, HELLO))
    row = played.row
    assert (row.outcome, row.usage_source, row.output_tokens) == ("interrupted", "estimated", 2)
    assert row.cost == row.input_tokens * 1_000 + 2 * 2_000
    assert row.attempts[0].upstream_cost == row.input_tokens * 500 + 2 * 1_000


async def test_failures_before_the_first_word_cost_nothing() -> None:
    played = scene()
    await played.play(STREAM, breaks(CUT), breaks(CUT))
    assert (played.row.outcome, played.row.cost, played.row.items) == ("failed", 0, ())


async def test_a_client_that_leaves_an_accepted_stream_pays_input_and_output() -> None:
    played = scene()
    await played.start(STREAM)
    played.call.head()
    played.call.body(HELLO)
    await played.leave()
    assert played.row.outcome == "client_closed"
    assert played.row.cost == played.row.input_tokens * 1_000 + 2 * 2_000 > 4_000


async def test_a_client_that_leaves_before_acceptance_pays_nothing() -> None:
    played = scene()
    await played.start(STREAM)
    await turns()
    await played.leave()
    assert (played.row.status, played.row.cost) == (499, 0)
