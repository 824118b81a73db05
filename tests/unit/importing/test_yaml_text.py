from decimal import Decimal

import pytest

from tidegate.importing.yaml_text import MOST_CHARACTERS, BadYaml, read_yaml


def test_values_are_read_as_they_are_written() -> None:
    text = "a: 0.0000025\nb: 12\nc: 'x'\nd: yes\ne: ~\nf: [1, {g: 2024-10-21}]\nh: 1e-6\ni: 0x1F\nj: 1:30\n"
    assert read_yaml(text) == {
        "a": Decimal("0.0000025"),
        "b": 12,
        "c": "x",
        "d": True,
        "e": None,
        "f": [1, {"g": "2024-10-21"}],
        "h": "1e-6",
        "i": 31,
        "j": "1:30",
    }
    assert read_yaml("") is None
    assert read_yaml("a: .inf") == {"a": ".inf"}


def test_aliases_and_merges_are_written_out() -> None:
    text = "base: &base {a: 1, b: 2}\none: {<<: *base, b: 3}\ntwo: {<<: [*base, {c: 4}]}\nthree: *base\n"
    assert read_yaml(text) == {
        "base": {"a": 1, "b": 2},
        "one": {"a": 1, "b": 3},
        "two": {"a": 1, "b": 2, "c": 4},
        "three": {"a": 1, "b": 2},
    }


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{name}: &{name} {{<<: [{', '.join([f'*{before}'] * 9)}]}}\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, "more than"),
        (MERGES, "more than"),
        ("a: &a [*a]", "an alias stands inside"),
        ("a: &a {b: {c: *a}}", "an alias stands inside"),
        ("x" * (MOST_CHARACTERS + 1), "longer than"),
        ("[" * 50_000, "nested too deeply"),
        ("a: 1\na: 2", "line 2: the name 'a' stands there twice"),
        ("? [a]\n: 1", "a name that is no text"),
        ("a: !!python/object/apply:os.system ['true']", "a tag that is not read here"),
        ("a: !secret x", "a tag that is not read here"),
        ("a: {<<: 5}", "<< takes names with values"),
        ("a: [1", "line"),
        ("a: b: c", "line 1"),
        ("\x00", "no YAML"),
        ("a: 1\n---\nb: 2", "no YAML"),
        ("a: {b: $" + "{c}}", "expected ',' or '}', but got '{'"),
    ],
)
def test_what_cannot_be_read_is_told(text: str, words: str) -> None:
    with pytest.raises(BadYaml, match=words.replace("[", r"\[")):
        read_yaml(text)


@pytest.mark.parametrize("text", ["password: *Secret123", "a: &Secret1 x\nb: &Secret1 y", "a: !Secret1! x"])
def test_a_password_that_looks_like_yaml_is_not_repeated(text: str) -> None:
    with pytest.raises(BadYaml, match="line ") as raised:
        read_yaml(text)
    assert "Secret" not in str(raised.value)
