import pytest

from tidegate.admin.parameters import Wanted, read_wanted
from tidegate.admin.problems import Problem
from tidegate.storage.pages import Filters


def test_nothing_given_is_the_newest_fifty() -> None:
    assert read_wanted([]) == Wanted(filters=Filters(), limit=50, before=None)


@pytest.mark.parametrize("limit", [1, 500])
def test_the_bounds_of_the_limit_are_inside(limit: int) -> None:
    assert read_wanted([("limit", str(limit))]).limit == limit


def test_a_long_or_odd_name_is_shown_short_and_plain() -> None:
    with pytest.raises(Problem) as refused:
        read_wanted([("é\n" * 1_000, "1")])
    assert refused.value.parameter is not None
    assert refused.value.parameter.isascii()
    assert len(refused.value.detail) < 600
