"""The input of a tool call, told in the form in which the client declared the tool."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.events import CallKind
from tidegate.protocols.call_inputs import CallInput, unwrapped
from tidegate.protocols.custom_tools import wrapped_input

FUNCTION, CUSTOM = CallKind.FUNCTION, CallKind.CUSTOM


def told(arrives: CallKind, wanted: CallKind, *pieces: str, cut: bool = False) -> list[str]:
    """What is said, piece by piece."""
    call = CallInput(arrives, wanted)
    said = [call.add(piece) for piece in pieces] + [call.rest(cut=cut)]
    assert call.text() == "".join(said)
    return [piece for piece in said if piece]


@given(st.text())
def test_what_was_wrapped_is_unwrapped_again(text: str) -> None:
    assert unwrapped(wrapped_input(text)) == text
    assert unwrapped(json.dumps({"input": text}, indent=1)) == text


@given(st.text(max_size=20), st.booleans(), st.data())
def test_of_a_cut_wrapper_all_that_came_is_read(text: str, ascii: bool, data: st.DataObject) -> None:
    whole = json.dumps({"input": text}, ensure_ascii=ascii, separators=(",", ":"))
    end = data.draw(st.integers(len('{"input":"'), len(whole)))
    assert text.startswith(unwrapped(whole[:end]))


def test_a_cut_escape_is_left_out() -> None:
    assert unwrapped('{"input":"leaf \\ud83c\\ud') == "leaf "
    assert unwrapped('{"input":"line\\') == "line"
    assert unwrapped('{"input":"whole"') == "whole"


@pytest.mark.parametrize(
    "text", ["", "ls -la", '{"command":"ls"}', '{"input":5}', "[1]", '"x"', '{"inp', "\x00"]
)
def test_what_is_no_wrapper_is_the_models_own_words(text: str) -> None:
    assert unwrapped(text) == text


def test_lone_surrogates_can_be_written() -> None:
    unwrapped('{"input":"a\\ud800b"}').encode()


def test_a_form_that_is_wanted_goes_through_piece_by_piece() -> None:
    assert told(FUNCTION, FUNCTION, '{"a"', "", ":1}") == ['{"a"', ":1}"]
    assert told(CUSTOM, CUSTOM, "ls", " -l") == ["ls", " -l"]


def test_arguments_begin_with_their_first_mark() -> None:
    assert told(FUNCTION, FUNCTION, " ", "\n", ' {"a"', " ", ":1} ") == ['{"a"', " ", ":1} "]
    assert told(FUNCTION, FUNCTION, " \n", "\t") == ["{}"]
    assert told(CUSTOM, CUSTOM, " ", " ls") == [" ", " ls"]


def test_a_wrapped_custom_tool_is_told_once_at_the_end() -> None:
    assert told(FUNCTION, CUSTOM, '{"inp', 'ut":"a', 'b"}') == ["ab"]
    assert told(FUNCTION, CUSTOM, '{"input":"a', cut=True) == ["a"]
    assert told(FUNCTION, CUSTOM) == []


def test_free_text_is_wrapped_for_a_client_that_knows_functions_only() -> None:
    assert told(CUSTOM, FUNCTION, 'say "', 'hi"') == ['{"input":"say \\"hi\\""}']
    assert told(CUSTOM, FUNCTION) == ['{"input":""}']
    assert told(CUSTOM, FUNCTION, "ls", cut=True) == ['{"input":"ls']


def test_no_arguments_are_an_empty_object_except_of_a_call_that_was_cut() -> None:
    assert told(FUNCTION, FUNCTION) == ["{}"]
    assert told(FUNCTION, FUNCTION, cut=True) == []
    assert told(CUSTOM, CUSTOM) == []
