import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.observe.plain import plain_json, plain_line

HARMFUL = "\x7f\x85\x9b\u200f\u202e\u2028\u2066\ufeff\U000e0041\U0001bca0"


@pytest.mark.parametrize("letter", HARMFUL)
def test_what_steers_a_terminal_is_written_out(letter: str) -> None:
    text = json.dumps({"model": f"a{letter}b"}, ensure_ascii=False)
    shown = plain_json(text)
    assert letter in text
    assert letter not in shown
    assert json.loads(shown) == {"model": f"a{letter}b"}
    assert letter not in plain_line(f"a{letter}b")


def test_what_can_be_read_stays() -> None:
    text = '{"model":"Zürich 東京 🦀 e\u0301"}'
    assert plain_json(text) is text
    assert plain_line(text) is text


@pytest.mark.parametrize(
    ("letter", "shown"),
    [
        ("\n", "\\n"),
        ("\x1b", "\\x1b"),
        ("\x9b", "\\x9b"),
        ("\u202e", "\\u202e"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_a_line_shows_what_was_there(letter: str, shown: str) -> None:
    assert plain_line(f"a{letter}b") == f"a{shown}b"


@given(st.text())
def test_any_text_is_printable_then_and_json_is_the_same(text: str) -> None:
    assert plain_line(text).isprintable()
    shown = plain_json(json.dumps(text, ensure_ascii=False))
    assert shown.isprintable()
    assert json.loads(shown) == text
