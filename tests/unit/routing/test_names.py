import pytest

from tidegate.routing.names import Lookup, covers, is_pattern, narrower, visible


@pytest.mark.parametrize(
    ("name", "model", "expected"),
    [
        ("sonnet", "sonnet", True),
        ("sonnet", "sonnet-2", False),
        ("son*", "sonnet", True),
        ("son*", "son", True),
        ("son*", "so", False),
        ("*", "", True),
        ("*", "anything", True),
        ("gpt-*", "gpt-4*", True),
        ("gpt-4*", "gpt-*", False),
    ],
)
def test_a_pattern_covers_what_has_its_prefix(name: str, model: str, expected: bool) -> None:
    assert covers(name, model) is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("a", "a", "a"),
        ("a", "b", None),
        ("gpt-*", "gpt-4o", "gpt-4o"),
        ("gpt-4o", "gpt-*", "gpt-4o"),
        ("gpt-*", "gpt-4*", "gpt-4*"),
        ("*", "*", "*"),
        ("gpt-*", "claude-*", None),
    ],
)
def test_what_two_names_share_is_the_narrower(one: str, other: str, expected: str | None) -> None:
    assert narrower(one, other) == expected


def test_a_lookup_finds_the_exact_name_then_the_longest_pattern() -> None:
    kept = Lookup({"*": 0, "gpt-*": 1, "gpt-4*": 2, "gpt-4o": 3})
    assert list(kept.all("gpt-4o")) == [3, 2, 1, 0]
    assert list(kept.all("gpt-5")) == [1, 0]
    assert kept.first("gpt-4o-mini") == 2
    assert Lookup({"gpt-*": 1}).first("gpt") is None


def test_a_name_that_looks_like_a_pattern_is_found_by_the_pattern() -> None:
    assert Lookup({"sim*": 1}).first("sim*") == 1
    assert is_pattern("sim*")


def test_visible_names_are_those_both_offered_and_allowed() -> None:
    assert visible(["b", "a", "a"], None) == ("a", "b")
    assert visible(["gpt-*", "sonnet"], ["gpt-4*", "sonnet", "opus"]) == ("gpt-4*", "sonnet")
    assert visible(["gpt-4o"], ["gpt-*", "gpt-4*"]) == ("gpt-4o",)
    assert visible(["a"], []) == ()
