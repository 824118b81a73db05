"""Token counts: what is told, what is not, and what replaces what."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.usage import Usage, count

counts = st.none() | st.integers(0, 10**9)
usages = st.builds(
    Usage,
    input=counts,
    cache_read=counts,
    cache_write=counts,
    output=counts,
    reasoning=counts,
    cache_write_1h=counts,
    web_searches=counts,
    service_tier=st.none() | st.sampled_from(["default", "priority"]),
)


@given(usages, usages)
def test_what_was_told_later_wins_and_what_was_not_stays(first: Usage, later: Usage) -> None:
    merged = first.merged(later)
    for field in Usage.__struct_fields__:
        told = getattr(later, field)
        assert getattr(merged, field) == (getattr(first, field) if told is None else told)


@given(usages)
def test_nothing_told_changes_nothing(usage: Usage) -> None:
    assert usage.merged(Usage()) == usage
    assert Usage().merged(usage) == usage


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (0, 0),
        (12, 12),
        (12.0, 12),
        ("12", 12),
        (None, None),
        (True, None),
        (-1, None),
        (1.5, None),
        (math.nan, None),
        (math.inf, None),
        (-math.inf, None),
        (1e300, None),
        ("", None),
        ("-1", None),
        ("1.0", None),
        ("²", None),
        ("9" * 5000, None),
        ([], None),
        ({"n": 1}, None),
    ],
)
def test_a_count_is_whole_and_not_negative_or_not_told(written: object, read: int | None) -> None:
    assert count(written) == read
