import pytest

from tidegate.doctor.members import count, elements, is_object_text, part, word


@pytest.mark.parametrize("value", [None, 5, "text", [], {"a": None}, {}])
def test_what_is_of_another_kind_is_nothing(value: object) -> None:
    assert part(value, "a") == {}
    assert elements(value, "a") == []
    assert word(value, "a") == ""
    assert count(value, "a") is None


def test_what_is_there_is_given() -> None:
    assert part({"a": {"b": 1}}, "a") == {"b": 1}
    assert elements({"a": [1]}, "a") == [1]
    assert word({"a": "b"}, "a") == "b"
    assert count({"a": 5}, "a") == 5
    assert count({"a": True}, "a") is None


@pytest.mark.parametrize(
    ("text", "right"), [("{}", True), ('{"a": 1}', True), ("[]", False), ("", False), ("[" * 100_000, False)]
)
def test_an_object_is_told_from_anything_else(text: str, right: bool) -> None:
    assert is_object_text(text) is right
