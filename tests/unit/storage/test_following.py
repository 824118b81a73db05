from hypothesis import given
from hypothesis import strategies as st

from tidegate.storage.following import MOST_WAITED, WAITED_SECONDS, Place, advance, begin


def test_what_is_missing_among_the_newest_may_be_on_its_way() -> None:
    assert begin([9, 8, 5], 100.0) == Place(9, {6: 100 + WAITED_SECONDS, 7: 100 + WAITED_SECONDS})
    assert begin([], 100.0) == Place(0)


def test_a_number_is_missing_until_it_is_seen() -> None:
    place = advance(Place(5), [6, 9], 1.0)
    assert (place.number, set(place.missing)) == (9, {7, 8})
    place = advance(place, [8], 2.0)
    assert (place.number, set(place.missing)) == (9, {7})
    assert advance(place, [7, 10], 3.0) == Place(10, {})


def test_a_number_that_never_comes_is_given_up() -> None:
    place = advance(Place(5), [7], 1.0)
    assert set(advance(place, [], WAITED_SECONDS).missing) == {6}
    assert advance(place, [], 1.0 + WAITED_SECONDS).missing == {}


def test_a_great_gap_does_not_fill_the_memory() -> None:
    place = advance(Place(5), [10**12, 10**12 + 2], 1.0)
    assert len(place.missing) <= MOST_WAITED
    assert 10**12 + 1 in place.missing
    again = advance(place, [2 * 10**12], 2.0)
    assert len(again.missing) == MOST_WAITED
    assert min(again.missing) > 10**12 + 1


@given(st.permutations(list(range(1, 40))), st.lists(st.integers(0, 12), max_size=30), st.integers(1, 7))
def test_in_any_order_of_commits_each_number_is_read_once(
    commits: list[int], batches: list[int], limit: int
) -> None:
    """A reader as `JournalFile` is: the lowest beyond its place, and what it misses."""
    table: set[int] = set()
    left = list(commits)
    place, read = Place(0), []
    for size in [*batches, len(left), *([0] * 40)]:
        table |= set(left[:size])
        left = left[size:]
        seen = sorted(number for number in table if number > place.number)[:limit]
        seen += [number for number in place.missing if number in table]
        read += seen
        place = advance(place, seen, 0.0)
    assert sorted(read) == sorted(commits)
