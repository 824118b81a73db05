import pytest

from tidegate.observe import figures
from tidegate.observe.counts import OTHER, Counts, Series, by_label, counted, merged, value_of


def test_a_value_belongs_to_the_class_whose_bound_it_is() -> None:
    series = Series(figures.LAG)
    for value in (0, 1_000, 1_001, 2_500_000, 2_500_001):
        series.observe((), value)
    assert series.cells == {(): [5_002_002, 2, 1, *[0] * 8, 1, 1]}


def test_labels_that_are_too_many_are_others() -> None:
    series = Series(figures.REQUESTS, most=2)
    for number in range(5):
        series.add(("chat", f"m{number}", "c", "failed", "timeout"))
    series.add(("chat", "m0", "c", "failed", "timeout"))
    assert series.cells == {
        ("chat", "m0", "c", "failed", "timeout"): [2],
        ("chat", "m1", "c", "failed", "timeout"): [1],
        ("chat", OTHER, OTHER, "failed", "timeout"): [3],
    }
    assert series.overflows == 3


def test_what_an_earlier_process_counted_goes_on() -> None:
    first = Series(figures.COST)
    first.add(("m",), 5)
    counts: Counts = {figures.COST.name: first.cells}
    second = Series(figures.COST)
    second.begin_with(counts)
    second.add(("m",), 2)
    assert (second.cells, first.cells) == ({("m",): [7]}, {("m",): [5]})


@pytest.mark.parametrize(
    ("figure", "together"),
    [(figures.LOST, 7), (figures.OPEN_REQUESTS, 7), (figures.DATABASE_UP, 3), (figures.BUILD, 4)],
)
def test_what_several_tell_comes_to_one(figure: figures.Figure, together: int) -> None:
    assert merged([{figure.name: {(): [3]}}, {figure.name: {(): [4]}}]) == {figure.name: {(): [together]}}


def test_what_nobody_tells_is_left_out() -> None:
    found = merged([{figures.REDIS_UP.name: {}}, {figures.SPOOL.name: {(): [2]}}])
    assert found == {figures.SPOOL.name: {(): [2]}}
    assert value_of(found, figures.REDIS_UP) is None
    assert value_of(found, figures.SPOOL) == 2


def test_only_what_never_goes_down_is_inherited() -> None:
    counts: Counts = {figures.SPOOL.name: {(): [2]}, figures.LOST.name: {(): [3]}}
    assert counted(counts) == {figures.LOST.name: {(): [3]}}


def test_values_are_shown_in_their_unit() -> None:
    counts: Counts = {figures.HELD.name: {(): [1_500_000_000]}, figures.CHANNEL_OPEN.name: {("a",): [2]}}
    assert value_of(counts, figures.HELD) == 1.5
    assert by_label(counts, figures.CHANNEL_OPEN) == {"a": 2.0}
