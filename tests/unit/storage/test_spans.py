import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.storage.spans import LENGTHS, LONGEST, MOST_BUCKETS, Span, span_of

DAY = 86_400


def test_a_range_is_cut_into_the_shortest_buckets_that_are_few_enough() -> None:
    assert span_of(3_600, 7_200) == Span(3_600, 7_200, 60)
    assert span_of(3_601.5, 7_200.5) == Span(3_600, 7_260, 60)
    assert [span_of(0, days * DAY).bucket for days in (1, 7, 30, 90, 365)] == [
        600,
        3_600,
        14_400,
        43_200,
        2 * DAY,
    ]
    with pytest.raises(ValueError, match="too long"):
        span_of(0, LONGEST * 2)


@given(st.floats(0, 2e9), st.floats(0.001, float(LONGEST)))
def test_the_buckets_hold_the_range_and_little_more(since: float, length: float) -> None:
    until = since + length
    span = span_of(since, until)
    assert span.since <= since < span.since + span.bucket
    assert span.until - span.bucket < until <= span.until
    assert 1 <= len(span.starts) <= MOST_BUCKETS
    assert span.since % span.bucket == 0


def test_buckets_of_a_day_begin_at_midnight() -> None:
    assert all(DAY % length == 0 for length in LENGTHS if length <= DAY)
