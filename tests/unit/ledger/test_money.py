from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.ledger.money import MOST, NANO, exact_usd, rounded, scaled, to_nano, usd


@pytest.mark.parametrize(
    ("amount", "nano"),
    [
        ("0", 0),
        ("-0", 0),
        ("0E+999999", 0),
        ("25.00", 25 * NANO),
        ("0.000000001", 1),
        ("-1.5", -1_500_000_000),
        ("1.500000000000", 1_500_000_000),
        ("1E+9", MOST),
        ("-1000000000", -MOST),
    ],
)
def test_an_amount_is_exact_in_nano_usd(amount: str, nano: int) -> None:
    assert to_nano(Decimal(amount)) == nano


@pytest.mark.parametrize(
    "amount",
    [
        "0.0000000001",
        "1.0000000000000000000000000000001",  # more digits than a context of decimals keeps
        "1000000000.000000001",
        "1000000000.0000000000000000000000001",
        "-1000000001",
        "1E+10",
        "1E+999999",
        "1E-999999999",
        "9" * 5000,
        "NaN",
        "sNaN",
        "Infinity",
        "-Infinity",
    ],
)
def test_what_is_no_amount_has_none(amount: str) -> None:
    assert to_nano(Decimal(amount)) is None


def test_the_surroundings_do_not_round_an_amount() -> None:
    with localcontext(prec=2):
        assert to_nano(Decimal("123.456789012")) == 123_456_789_012


@given(st.integers(-MOST, MOST))
def test_a_written_amount_reads_the_same(nano: int) -> None:
    written = usd(nano)
    assert to_nano(Decimal(written)) == nano
    assert len(written.partition(".")[2]) == 9


@pytest.mark.parametrize(
    ("nano", "written"),
    [
        (0, "0.000000000"),
        (234_000, "0.000234000"),
        (-1_500_000_000, "-1.500000000"),
        (-1, "-0.000000001"),
        (25 * NANO, "25.000000000"),
    ],
)
def test_an_amount_is_written_with_nine_decimals(nano: int, written: str) -> None:
    assert usd(nano) == written


@pytest.mark.parametrize(
    ("atto", "nano"),
    [
        (0, 0),
        (1, 0),
        (499_999_999, 0),
        (500_000_000, 1),
        (1_499_999_999, 1),
        (1_500_000_000, 2),
        (MOST * NANO * 7, MOST),
    ],
)
def test_half_a_nano_usd_goes_up(atto: int, nano: int) -> None:
    assert rounded(atto) == nano


@given(st.integers(0, 10**30))
def test_an_exact_amount_loses_nothing(atto: int) -> None:
    written = exact_usd(atto)
    assert scaled(Decimal(written), 18) == atto
    decimals = written.partition(".")[2]
    assert len(decimals) == 9 or decimals[-1] != "0"
