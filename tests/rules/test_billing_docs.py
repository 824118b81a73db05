"""Every worked example of docs/billing.md comes out as it says."""

import re
import tomllib
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.harness.memory_books import Books

from tidegate.config.prices import price
from tidegate.config.report import Report
from tidegate.config.sources import Sources
from tidegate.config.table import Table
from tidegate.core.usage import Usage
from tidegate.ledger.books import apply
from tidegate.ledger.entries import Balance
from tidegate.ledger.holds import (
    LEAST_OUTPUT,
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
from tidegate.ledger.money import MOST, NANO, to_nano, usd
from tidegate.ledger.periods import period_of
from tidegate.ledger.pricing import PLAIN_TIERS, Tariff
from tidegate.protocols.input_bound import IMAGE_TOKENS, MOST_FILE_TOKENS

PAGE = (Path(__file__).parents[2] / "docs" / "billing.md").read_text(encoding="utf-8")
EXAMPLES: list[dict[str, Any]] = [
    tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
]
PRICING = ("price", "price_tiers", "service_tiers")
CHARGES = {*PRICING, "asked", "told", "usage", "items", "cost"}
HOLDS = {*PRICING, "asked", "bounds", "hold", "available", "limit"}
CAPS = {*PRICING, "bounds", "produced", "usage", "believed", "warnings", "cost"}


def tariff(example: dict[str, Any]) -> Tariff:
    """The price as the config reads it."""
    report = Report("billing.md", {}, example)
    values = {name: value for name, value in example.items() if name in PRICING}
    read = price(Table(values, (), report, Sources(Path(), {})))
    assert not report.problems()
    assert read is not None
    return Tariff.of(read)


def bounds(example: dict[str, Any]) -> Bounds:
    return Bounds(firm=True, **example["bounds"])


def nano(amount: str) -> int:
    read = to_nano(Decimal(amount))
    assert read is not None
    return read


def picked(has: str) -> list[dict[str, Any]]:
    return [example for example in EXAMPLES if has in example]


def table(header: str) -> list[list[str]]:
    """The cells of the rows below a header row."""
    rows = PAGE[PAGE.index(header) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_every_example_is_checked_by_one_of_these_tests() -> None:
    kinds = [
        [kind for kind, has in ((CHARGES, "items"), (HOLDS, "hold"), (CAPS, "believed")) if has in example]
        for example in EXAMPLES
    ]
    assert len(EXAMPLES) == 13
    for example, [kind] in zip(EXAMPLES, kinds, strict=True):
        assert set(example) <= kind


@pytest.mark.parametrize("example", picked("items"))
def test_a_charge_is_as_worked_out(example: dict[str, Any]) -> None:
    prices = tariff(example)
    tier = prices.billed_tier(example.get("asked"), example.get("told"))
    charge = prices.charge(Usage(**example["usage"]), tier)
    lines = [f"{item.name}: {item.quantity} at {item.price} = {item.amount}" for item in charge.items]
    assert lines == example["items"]
    assert usd(charge.amount) == example["cost"]


@pytest.mark.parametrize("example", picked("hold"))
def test_a_hold_is_as_worked_out(example: dict[str, Any]) -> None:
    prices, tier, most = tariff(example), example.get("asked"), bounds(example)
    assert usd(worst(prices, tier, most)) == example["hold"]
    if "available" in example:
        assert affordable_output(prices, tier, most, nano(example["available"])) == example["limit"]


@pytest.mark.parametrize("example", picked("believed"))
def test_an_impossible_count_is_charged_as_it_says(example: dict[str, Any]) -> None:
    used, warnings = believed(Usage(**example["usage"]), bounds(example), example["produced"])
    assert used == Usage(**example["believed"])
    assert list(warnings) == example["warnings"]
    assert usd(tariff(example).charge(used, None).amount) == example["cost"]


def test_the_postings_make_the_balances_beside_them() -> None:
    balance = Balance("acme", 0, 0)
    books, held = Books(), dict[str, str]()
    rows = table("| reference | kind | from | to | amount | balance | held |")
    assert len(rows) == 10
    costs = {"req_1": "0.25", "req_2": "0.40", "req_3": "0"}
    for reference, kind, _from, _to, amount, *_ in rows:
        match kind:
            case "credit":
                assert books.credit(reference, "acme", nano(amount), 0) is None
            case "refund":
                assert books.refund(reference, "acme", nano(amount), 0) is None
            case "hold":
                held[reference] = amount
                books.hold(reference, "acme", None, nano(amount), nano(amount), prepaid=True, now=0)
            case _:  # settle and release come together
                books.settle(reference, "acme", None, nano(costs[reference]), 0)
    for row, posting in zip(rows, books.postings, strict=True):
        balance = apply(balance, posting)
        amounts = (posting.amount, balance.balance, balance.held)
        movement = [posting.reference, posting.kind, posting.source, posting.target]
        assert row == [*movement, *map(usd, amounts)]


def test_the_kinds_of_postings_are_listed() -> None:
    listed = {(kind.strip("`"), source, target) for kind, source, target, _ in table("| kind | from | to |")}
    used = {
        (kind, source, target)
        for _, kind, source, target, *_ in table("| reference | kind | from | to | amount |")
    }
    assert used == listed


def test_periods_are_those_of_the_table() -> None:
    rows = table("| admitted at (UTC) |")
    assert len(rows) == 4
    for at, day, month, left in rows:
        moment = datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp()
        assert (period_of(moment, "day").key, period_of(moment, "month").key) == (day, month)
        assert period_of(moment, "day").end - moment == int(left)


@pytest.mark.parametrize(
    ("start", "numbers"),
    [
        ("The largest amount", [MOST // NANO]),
        ("| a picture in the request |", [IMAGE_TOKENS]),
        ("| a picture or file by address or id |", [IMAGE_TOKENS]),
        ("| another file in the request |", [MOST_FILE_TOKENS]),
        ("| whole prompt |", [UNSEEN_INPUT, MOST_INPUT]),
        ("| output | more than", [UNSEEN_OUTPUT, MOST_OUTPUT]),
        ("| web searches |", [MOST_SEARCHES]),
        ("  16 tokens: 402.", [LEAST_OUTPUT, 402]),
        ("1,000,000,000 USD is refused", [MOST // NANO]),
    ],
)
def test_the_numbers_are_those_of_the_code(start: str, numbers: list[int]) -> None:
    [line] = [line for line in PAGE.splitlines() if start in line]
    found = [int(number.replace(",", "")) for number in re.findall(r"(?<![\w.])\d[\d,]*\d", line)]
    assert found == numbers


def test_the_plain_tiers_are_listed() -> None:
    [line] = [line for line in PAGE.splitlines() if line.startswith("too. No tier, ")]
    assert {None, *re.findall(r"`(\w+)`", line)} == PLAIN_TIERS
