from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.storage.spans import LENGTHS, LEVELS, LONGEST, MOST_BUCKETS, Span, Tile, span_of, tiles

DAY = 86_400
NOW = 1_000 * DAY


def test_a_range_is_cut_into_the_shortest_buckets_that_are_few_enough() -> None:
    assert span_of(NOW - 3_600, NOW, NOW) == Span(NOW - 3_600, NOW, 60)
    assert span_of(NOW - 3_598.5, NOW + 0.5, NOW) == Span(NOW - 3_600, NOW + 60, 60)
    lengths = [span_of(NOW - days * DAY, NOW, NOW).bucket for days in (1, 7, 30, 90, 365)]
    assert lengths == [600, 3_600, 14_400, 43_200, 2 * DAY]
    with pytest.raises(ValueError, match="too long"):
        span_of(0, LONGEST * 2, NOW)


def test_what_is_long_ago_has_only_long_buckets() -> None:
    spans = [span_of(NOW - days * DAY, NOW - days * DAY + 3_600, NOW).bucket for days in (1, 3, 20, 70, 500)]
    assert spans == [60, 600, 3_600, 14_400, DAY]


@given(since=st.floats(0, 2e9), length=st.floats(0.001, float(LONGEST)), age=st.floats(0, 1e9))
def test_the_buckets_hold_the_range_and_little_more(since: float, length: float, age: float) -> None:
    until = since + length
    span = span_of(since, until, until + age)
    assert span.since <= since < span.since + span.bucket
    assert span.until - span.bucket < until <= span.until
    assert 1 <= len(span.starts) <= MOST_BUCKETS
    assert span.since % span.bucket == 0
    assert span.level is LEVELS[-1] or span.since >= span.level.oldest(until + age)


@given(since=st.integers(0, 10**6), count=st.integers(1, MOST_BUCKETS), bucket=st.sampled_from(LENGTHS))
def test_tiles_are_the_range_without_gap_or_overlap(since: int, count: int, bucket: int) -> None:
    span = Span(since * bucket, (since + count) * bucket, bucket)
    found = tiles(span)
    assert [span.since, *(tile.until for tile in found)] == [*(tile.since for tile in found), span.until]
    assert all(tile.since % tile.level.seconds == tile.until % tile.level.seconds == 0 for tile in found)
    assert all(tile.level.seconds >= span.level.seconds for tile in found)


def test_the_coarsest_buckets_are_in_the_middle() -> None:
    hour = 3_600
    assert tiles(Span(NOW - 5 * hour, NOW + DAY + hour, hour)) == [
        Tile(LEVELS[2], NOW - 5 * hour, NOW - 4 * hour),
        Tile(LEVELS[3], NOW - 4 * hour, NOW),
        Tile(LEVELS[4], NOW, NOW + DAY),
        Tile(LEVELS[2], NOW + DAY, NOW + DAY + hour),
    ]


def test_each_level_divides_the_next_and_is_kept_shorter() -> None:
    for fine, coarse in pairwise(LEVELS):
        assert coarse.seconds % fine.seconds == 0
        assert coarse.kept > fine.kept
    assert all(DAY % length == 0 for length in LENGTHS if length <= DAY)
