from math import nan

import pytest
from msgspec.structs import replace
from tests.unit.storage.records import ATTEMPT, RECORD, record

from tidegate.exchange.ports import RequestRecord
from tidegate.ledger.entries import Item
from tidegate.storage import rows


def test_the_columns_are_the_fields_of_the_record_in_order() -> None:
    assert RequestRecord.__struct_fields__ == rows.COLUMNS


def test_a_record_comes_back_as_it_was() -> None:
    assert rows.decode(rows.encode(RECORD)) == RECORD


def test_times_are_whole_microseconds() -> None:
    assert rows.encode(RECORD)[1] == 1_700_000_000_123_000


def test_a_lone_surrogate_cannot_be_encoded_and_is_mended() -> None:
    broken = record(1, model="a\ud800b", warnings=("dropped:\udfff",), attempts=())
    with pytest.raises(UnicodeEncodeError):
        rows.encode(broken)
    mended = rows.mended(broken)
    assert (mended.model, mended.warnings) == ("a?b", ("dropped:?",))
    rows.encode(mended)


def test_mending_makes_numbers_fit() -> None:
    mended = rows.mended(record(1, input_tokens=2**70, duration_ms=nan))
    assert (mended.input_tokens, mended.duration_ms) == (2**63 - 1, 0.0)


def test_mending_leaves_a_good_record_alone() -> None:
    assert rows.mended(RECORD) == RECORD
    assert rows.mended(RECORD).attempts == (ATTEMPT,)


def test_what_it_cost_comes_back_with_its_lines() -> None:
    item = Item(name="input", quantity=18, price="3.00", amount="0.000054")
    charged = record(1, cost=54_000, items=(item,), attempts=(replace(ATTEMPT, upstream_cost=7),))
    assert rows.decode(rows.encode(charged)) == charged


def test_an_attempt_of_an_older_version_has_no_cost() -> None:
    row = rows.encode(RECORD)
    place = rows.COLUMNS.index("attempts")
    row[place] = str(row[place]).replace(',"upstream_cost":null', "")
    assert "upstream_cost" not in str(row[place])
    assert rows.decode(row) == RECORD


@pytest.mark.parametrize(("told", "kept"), [(-1, 0), (5, 5), (2**80, 10**18)])
def test_the_cost_is_what_the_books_charge(told: int, kept: int) -> None:
    assert rows.decode(rows.encode(record(1, cost=told))).cost == kept
