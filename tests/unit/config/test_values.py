from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from tidegate.config import values
from tidegate.config.values import Wrong
from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret

ODD: list[Any] = [True, [], {}, date(2026, 1, 1), "x\ny", "", "nonsense", Decimal("NaN"), Decimal("Infinity")]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (0, 0.0),
        (10, 10.0),
        (Decimal("0.5"), 0.5),
        ("500ms", 0.5),
        ("10s", 10.0),
        ("1.5s", 1.5),
        ("6m", 360.0),
        ("1h", 3600.0),
        ("90d", 7_776_000.0),
        (" 10 s ", 10.0),
        ("0s", 0.0),
    ],
)
def test_a_duration_is_read_as_seconds(raw: object, expected: float) -> None:
    assert values.seconds(raw) == expected


@pytest.mark.parametrize(
    "raw",
    [
        *ODD,
        -1,
        "-1s",
        Decimal("-0.1"),
        "10",
        "10 weeks",
        "s",
        "1e3s",
        10**400,
        Decimal("1e999999"),
        "999999d",
        "٣s",
    ],
)
def test_what_is_no_duration_is_told(raw: object) -> None:
    assert isinstance(values.seconds(raw), Wrong)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [("3.00", Decimal("3.00")), (3, Decimal(3)), (Decimal("0.30"), Decimal("0.30")), ("0", Decimal(0))],
)
def test_a_price_is_exact(raw: object, expected: Decimal) -> None:
    read = values.decimal(Decimal(100), 6)(raw)
    assert read == expected
    assert str(read) == str(expected)


@pytest.mark.parametrize(
    "raw",
    [*ODD, "-1", -1, "100.01", "1e2", "1,5", "0.0000001", Decimal("1e-99"), 10**400, "9" * 5000, "１"],
)
def test_what_is_no_price_is_told(raw: object) -> None:
    assert isinstance(values.decimal(Decimal(100), 6)(raw), Wrong)


@pytest.mark.parametrize("raw", [*ODD, 0, 11, "5", Decimal(5), 10**400])
def test_a_whole_number_has_its_type_and_bounds(raw: object) -> None:
    assert values.whole(1, 10)(10) == 10
    assert isinstance(values.whole(1, 10)(raw), Wrong)


@pytest.mark.parametrize("raw", [1, True, None, [], "x\ny", "x\x7f", "", "  ", "\udc80"])
def test_text_is_one_line_with_something_in_it(raw: object) -> None:
    assert values.text("a b") == "a b"
    assert isinstance(values.text(raw), Wrong)


def test_a_message_may_have_several_lines() -> None:
    assert values.free_text("a\nb") == "a\nb"


@pytest.mark.parametrize("raw", ["sk abc", "sk\n", "sk-ü", "", 5, '"sk" '])
def test_a_credential_fits_into_a_header(raw: object) -> None:
    assert values.credential("sk-abc_1.2/3=") == Secret("sk-abc_1.2/3=")
    wrong = values.credential(raw)
    assert isinstance(wrong, Wrong)
    assert "sk" not in wrong.message + wrong.mend


def test_a_choice_is_one_of_its_values() -> None:
    assert values.choice(Protocol)("chat") is Protocol.CHAT
    wrong = values.choice(Protocol)("Chat")
    assert wrong == Wrong(
        "is none of the values it can have", 'choose one of "chat", "responses", "messages"'
    )
    assert isinstance(values.choice(Protocol)(["chat"]), Wrong)


@pytest.mark.parametrize("raw", ["true", 1, 0, None, []])
def test_a_flag_is_true_or_false(raw: object) -> None:
    assert values.flag(False) is False
    assert isinstance(values.flag(raw), Wrong)


def test_a_secret_may_be_any_text() -> None:
    assert values.secret("two words") == Secret("two words")
    assert isinstance(values.secret(""), Wrong)
    assert isinstance(values.secret(3), Wrong)
