import pytest

from tidegate.admin.amounts import read_amount, read_payment, read_refund
from tidegate.admin.ports import Invalid


def test_amounts_are_exact() -> None:
    assert read_amount("10.00") == 10_000_000_000
    assert read_amount("0.000000001") == 1
    assert read_amount("1000000000") == 10**18


NO_AMOUNTS: list[object] = [
    *("0", "0.0", "-1", "+1", "1e3", "1.", ".5", "", " 1", "1 ", "NaN", "Infinity", "١٠", "10,00", "1_0"),
    *("1.0000000001", "1000000000.000000001", 10, 10.5, True, None, [], {}),
]


@pytest.mark.parametrize("raw", NO_AMOUNTS)
def test_what_is_no_amount(raw: object) -> None:
    assert read_amount(raw) is None
    with pytest.raises(Invalid) as caught:
        read_payment({"amount": raw})
    assert [fault.field for fault in caught.value.faults] == ["amount"]


def test_a_reference_is_made_where_none_is_given() -> None:
    one, other = read_payment({"amount": "1"}), read_payment({"amount": "1", "reference": None})
    assert one[1].startswith("credit_")
    assert one[1] != other[1]
    assert read_payment({"amount": "1", "reference": "invoice 7/é"}) == (10**9, "invoice 7/é")


@pytest.mark.parametrize(
    "reference",
    ["", " a", "a\n", "\ud800", "x" * 201, "req_1", "opening:acme", "late:req_1", 5, ["a"], False],
)
def test_what_is_no_reference(reference: object) -> None:
    with pytest.raises(Invalid) as caught:
        read_payment({"amount": "1", "reference": reference})
    assert [fault.field for fault in caught.value.faults] == ["reference"]


def test_everything_that_is_wrong_is_named() -> None:
    with pytest.raises(Invalid) as caught:
        read_payment({"amuont": "1", "reference": ""})
    assert [fault.field for fault in caught.value.faults] == ["amount", "amuont", "reference"]


def test_a_refund_without_an_amount_means_all_of_it() -> None:
    amount, reference = read_refund({})
    assert (amount, reference.startswith("refund_")) == (None, True)
    assert read_refund({"amount": "0.05", "reference": "r"}) == (50_000_000, "r")
    with pytest.raises(Invalid) as caught:
        read_refund({"amount": "0", "reference": "req_1", "more": 1})
    assert [fault.field for fault in caught.value.faults] == ["amount", "more", "reference"]
