"""Counts that lie inside each other become disjoint."""

from tidegate.core.usage import Usage
from tidegate.protocols.token_counts import disjoint, inside, prompt_of


def test_parts_never_exceed_the_whole() -> None:
    usage = disjoint(prompt=10, cache_read=15, cache_write=3, output=4, reasoning=9)
    assert usage == Usage(input=0, cache_read=10, cache_write=0, output=4, reasoning=4)


def test_nothing_told_is_no_usage() -> None:
    assert disjoint(prompt=None, cache_read=5, cache_write=5, output=None, reasoning=5) is None


def test_only_an_output_is_told() -> None:
    assert disjoint(prompt=None, cache_read=5, cache_write=None, output=3, reasoning=None) == Usage(output=3)


def test_the_prompt_is_the_sum_of_its_parts() -> None:
    assert prompt_of(Usage(input=76, cache_read=1024, cache_write=100)) == 1200
    assert prompt_of(Usage()) == 0


def test_inside() -> None:
    assert inside(None, 3) is None
    assert inside(5, None) == 5
    assert inside(5, 3) == 3
