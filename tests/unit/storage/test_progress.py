"""Which rows are counted, whatever order their transactions are committed in."""

from hypothesis import given
from hypothesis import strategies as st

from tidegate.storage.progress import (
    FAR_BEHIND,
    MOST_GAPS,
    WAITED_SECONDS,
    Gap,
    Moment,
    Progress,
    acceptable,
    advance,
    put_off,
    shorten,
)

ORDERED = Moment(1_000.0)


def test_where_rows_appear_in_order_nothing_is_waited_for() -> None:
    progress = advance(Progress(3), [], [4, 9], ORDERED)
    assert progress == Progress(9)
    assert (progress.is_counted(7), progress.is_counted(10)) == (True, False)


def test_a_gap_is_waited_for_until_all_transactions_of_its_time_are_over() -> None:
    found = Moment(100.0, oldest=50, upcoming=60)
    progress = advance(Progress(3), [], [6], found)
    assert progress == Progress(6, (Gap(4, 5, 100.0 + WAITED_SECONDS, 60),))
    assert not progress.is_counted(5)
    late = 101.0 + WAITED_SECONDS
    assert advance(progress, [], [], Moment(late, 59, 70)).gaps == progress.gaps
    assert advance(progress, [], [], Moment(101.0, 60, 70)).gaps == progress.gaps
    assert advance(progress, [], [], Moment(late, 60, 70)).gaps == ()


def test_a_row_in_a_gap_cuts_it_in_two() -> None:
    gap = Gap(4, 9, 1e9, 5)
    cut = advance(Progress(9, (gap,)), [4, 7], [], Moment(0.0, 0, 1)).gaps
    assert cut == (Gap(5, 6, 1e9, 5), Gap(8, 9, 1e9, 5))


def test_with_too_many_gaps_the_rest_waits() -> None:
    numbers = list(range(2, 3 * MOST_GAPS, 2))
    moment = Moment(0.0, 0, 1)
    count = acceptable(Progress(0), numbers, moment)
    assert count == MOST_GAPS
    assert len(advance(Progress(0), [], numbers[:count], moment).gaps) == MOST_GAPS
    assert acceptable(Progress(0), numbers, ORDERED) == len(numbers)


def test_far_behind_the_newest_come_first() -> None:
    assert put_off(Progress(5), 5 + FAR_BEHIND, ORDERED) == Progress(5)
    progress = put_off(Progress(5), 1_000_000, Moment(100.0, 3, 7))
    [backlog] = progress.backlog
    assert (backlog.first, backlog.last, backlog.before) == (6, progress.reached, 7)
    assert not backlog.is_over(Moment(101.0, 7, 8))
    assert backlog.is_over(Moment(100.0 + WAITED_SECONDS, 7, 8))
    progress = shorten(progress, [progress.reached, progress.reached - 10], more=True)
    assert progress.backlog[0].last == progress.reached - 11
    assert progress.is_counted(progress.reached)
    assert shorten(progress, [], more=False).backlog == ()


@given(
    commits=st.permutations(list(range(1, 30))),
    undone=st.sets(st.integers(1, 29), max_size=5),
    batches=st.lists(st.integers(0, 6), max_size=40),
    limit=st.integers(1, 7),
    data=st.data(),
)
def test_in_any_order_of_commits_each_row_is_counted_once(
    commits: list[int], undone: set[int], batches: list[int], limit: int, data: st.DataObject
) -> None:
    """Number n is inserted by transaction n; some are undone, the others are committed in any order."""
    table: set[int] = set()
    over: set[int] = set()
    counted: list[int] = []
    progress, now, waiting = Progress(), 0.0, list(commits)
    for batch in [*batches, *[len(commits)] * 40]:
        for number in [waiting.pop(0) for _ in range(min(batch, len(waiting)))]:
            over.add(number)
            if number not in undone:
                table.add(number)
        # Transactions have begun up to the highest that is over, and perhaps some more.
        upcoming = max(over | {0}) + 1 + data.draw(st.integers(0, 3))
        oldest = next(number for number in range(1, upcoming + 1) if number not in over or number == upcoming)
        moment = Moment(now, oldest, upcoming)
        late = sorted(number for gap in progress.gaps for number in table if gap.first <= number <= gap.last)
        new = sorted(number for number in table if number > progress.reached)[:limit]
        new = new[: acceptable(progress, new, moment)]
        progress = advance(progress, late, new, moment)
        counted += [*late, *new]
        now += WAITED_SECONDS / 3
    assert sorted(counted) == sorted(table)
    assert all(progress.is_counted(number) for number in table)
