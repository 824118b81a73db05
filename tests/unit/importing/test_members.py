from decimal import Decimal

import pytest

from tidegate.importing.members import Members
from tidegate.importing.notes import Note, Notes
from tidegate.importing.yaml_text import Value


@pytest.fixture
def notes() -> Notes:
    return Notes()


def test_what_is_taken_is_not_told_and_the_rest_is(notes: Notes) -> None:
    members = Members({"a": 1, "b": "x", "c": None, "d": 2}, "top", notes)
    assert members.number("a") == 1
    assert members.text("b") == "x"
    assert "d" in members
    members.close({"d": "is not needed"})
    assert notes.left == [Note("top.d", "is not needed")]
    assert members.names() == ()


def test_what_nobody_knows_has_a_reason_too(notes: Notes) -> None:
    Members({"a": {"b": "secret"}}, "", notes).close({})
    assert notes.left == [Note("a", "is not known here")]


@pytest.mark.parametrize("value", [True, [1], {"a": 1}])
def test_a_text_is_a_text(notes: Notes, value: Value) -> None:
    assert Members({"a": value}, "", notes).text("a") is None
    assert notes.left == [Note("a", "should be a text")]


def test_numbers_may_be_written_as_text(notes: Notes) -> None:
    members = Members({"a": "1e-06", "b": Decimal("2.5"), "c": 7, "d": None}, "", notes)
    assert [members.number(name) for name in "abcde"] == [Decimal("0.000001"), Decimal("2.5"), 7, None, None]
    assert notes.left == []


@pytest.mark.parametrize("value", [-1, "x", "nan", True, [], 10**13, "os.environ/RPM"])
def test_what_is_no_number_is_told(notes: Notes, value: Value) -> None:
    assert Members({"a": value}, "", notes).number("a") is None
    assert len(notes.left) == 1


def test_flags_lists_and_mappings_are_checked(notes: Notes) -> None:
    members = Members({"a": "yes", "b": {}, "c": [], "d": True, "e": ["x"]}, "", notes)
    assert (members.flag("a"), members.flag("d"), members.flag("z")) == (None, True, None)
    assert (members.items("b"), members.items("e"), members.items("z")) == ([], [("e[0]", "x")], [])
    assert members.inner("c").names() == ()
    assert [note.path for note in notes.left] == ["a", "b", "c"]
