from decimal import Decimal
from pathlib import Path

import pytest
from tests.unit.config.files import CHANNEL, KEY, read, told

START = CHANNEL + '\n[[models]]\nname = "sonnet"\n'
BASE = 'price = { input = "3.00", output = "15.00" }\n'


def test_prices_and_tiers_are_exact(tmp_path: Path) -> None:
    text = (
        'price = { input = "3.000001", output = "15", cache_read = "0.30", cache_write = 3.75, '
        'cache_write_1h = 6, web_search = "10.00" }\n'
        'price_tiers = [ { above_input_tokens = 400000, input = "9" }, '
        '{ above_input_tokens = 200000, input = "6.00", output = "22.50" } ]\n'
        'service_tiers = { priority = "2.0", flex = "0.5" }'
    )
    price = read(tmp_path, START + text).models[0].price
    assert price is not None
    assert (price.input, price.cache_write, price.web_search) == (
        Decimal("3.000001"),
        Decimal("3.75"),
        Decimal("10.00"),
    )
    assert [tier.above_input_tokens for tier in price.tiers] == [200_000, 400_000]
    assert (price.tiers[0].output, price.tiers[1].output) == (Decimal("22.50"), None)
    assert price.service_tiers == {"priority": Decimal("2.0"), "flex": Decimal("0.5")}


def test_without_a_price_there_is_none(tmp_path: Path) -> None:
    assert read(tmp_path, START).models[0].price is None


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ('price = { input = "3" }', ["price.output"]),
        ('price = { input = "3", output = "-1" }', ["price.output"]),
        ('price = { input = "lots", output = "1" }', ["price.input"]),
        ('price = { input = "3", output = "1", cached = "1" }', ["price.cached"]),
        ('price = "3"', ["price"]),
        ('service_tiers = { priority = "2" }', ["service_tiers"]),
        ('price_tiers = [ { above_input_tokens = 1, input = "1" } ]', ["price_tiers"]),
        (BASE + 'service_tiers = { priority = "x" }', ["service_tiers.priority"]),
        (BASE + 'price_tiers = [ { input = "1" } ]', ["price_tiers[0].above_input_tokens"]),
        (BASE + "price_tiers = [ { above_input_tokens = 0 } ]", ["price_tiers[0].above_input_tokens"]),
        (
            BASE + "price_tiers = [ { above_input_tokens = 5 }, { above_input_tokens = 5 } ]",
            ["price_tiers[1].above_input_tokens"],
        ),
        (BASE + "price_tiers = [ { above_input_tokens = 5, inptu = 3 } ]", ["price_tiers[0].inptu"]),
        (BASE + "price_tiers = 5", ["price_tiers"]),
    ],
)
def test_each_mistake_is_told_at_its_key(tmp_path: Path, text: str, keys: list[str]) -> None:
    assert [where for _, where, _ in told(tmp_path, START + text)] == [f"models[0].{key}" for key in keys]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ('"3.0000001"', "has more than 6 decimals"),
        ("3.0000001", "has more than 6 decimals"),
        ('"-0.5"', "is negative"),
        ("-1", "is negative"),
        ('"1000000.01"', "is too large"),
        ("1e300", "is too large"),
        ("inf", "is no decimal"),
        ('"1e3"', "is no decimal"),
        ('"free"', "is no decimal"),
        ("true", "must be a decimal, not true or false"),
    ],
)
def test_a_price_that_cannot_be_meant_is_told_with_its_field(
    tmp_path: Path, written: str, message: str
) -> None:
    places = {
        f'price = {{ input = "3", output = "1", cache_read = {written} }}': "price.cache_read",
        BASE + f"service_tiers = {{ priority = {written} }}": "service_tiers.priority",
        BASE + f"price_tiers = [ {{ above_input_tokens = 5, output = {written} }} ]": "price_tiers[0].output",
    }
    for text, key in places.items():
        [(_, where, said)] = told(tmp_path, START + text)
        assert (where, said) == (f"models[0].{key}", message)


def test_a_factor_of_the_plain_tier_is_a_warning(tmp_path: Path) -> None:
    text = KEY + START + BASE + 'service_tiers = { default = "1.0", auto = "0.5" }'
    [warning] = read(tmp_path, text).warnings
    assert (warning.key, warning.name) == ("models[0].service_tiers.auto", "sonnet")
