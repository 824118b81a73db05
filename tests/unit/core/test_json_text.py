"""What is refused as JSON, in which words, and what is found where."""

import json

import pytest

from tidegate.core.json_text import (
    MAX_ELEMENTS,
    MAX_MEMBERS,
    DuplicateMemberError,
    JsonError,
    elements,
    kind_of,
    load,
    members,
    replaced,
    shown,
    without_bom,
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "is empty"),
        (b" \r\n\t", "is empty"),
        (b"hello", "not valid JSON: invalid character at line 1, column 1 (byte 0)"),
        (b'{\n "a": 1,\n "b": tru}', "not valid JSON: invalid character at line 3, column"),
        (b'{"a":1', "ends before it is complete"),
        (b'{"a":"', "ends before it is complete"),
        (b'{"a":1}{"a":2}', "trailing characters at line 1, column 9 (byte 8)"),
        (b'{"a":1,}', "trailing comma"),
        (b'{"a":NaN}', "NaN and Infinity are not JSON: line 1, column 6"),
        (b'{"a":[1,-Infinity]}', "NaN and Infinity are not JSON"),
        (b"[1]", "is not an object"),
        (b'"x"', "is not an object"),
        (b"null", "is not an object"),
        (b'{"a":"\xff"}', "not valid UTF-8 at line 1, column 7 (byte 6)"),
        (b'{"a":"\xed\xa0\x80"}', "not valid UTF-8"),
        ('{"a":1}'.encode("utf-16"), "UTF-16"),
        ('{"a":1}'.encode("utf-16-le"), "UTF-16"),
        ('{"a":1}'.encode("utf-32-be"), "UTF-32"),
        (b'{"a":' + b"[" * 5_000_000, "nested too deeply"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b'{"a":"\\ud800","b":}', "not valid JSON"),
    ],
)
def test_what_is_no_object_is_refused_with_a_reason(text: bytes, says: str) -> None:
    with pytest.raises(JsonError) as caught:
        members(text)
    assert says in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":1,"b":2,"a":3}',
        b'{"a":1,"a":1}',
        b'{"a":1, "\\u0061":1}',
        b'{"\\u0061":12,"a":1}',
        b'{"a":1,"a":12}',
        b'{"a":[1],"b":"a","a":"x"}',
        b'{"a":"\\ud800","a":1}',
    ],
)
def test_a_member_twice_is_named(text: bytes) -> None:
    with pytest.raises(DuplicateMemberError, match="`a` occurs more than once") as caught:
        members(text)
    assert caught.value.member == "a"


def test_nested_and_quoted_repeats_are_no_duplicates() -> None:
    assert list(members(b'{"a":{"b":1,"b":2},"b":"{\\"a\\":1}","c":[{"a":1,"a":2}]}')) == ["a", "b", "c"]


def test_spans_of_a_part_count_from_the_start_of_the_text() -> None:
    text = b'{"outer": {"inner" : [ 1 , "two" ] }}'
    inner = members(text, members(text)["outer"])["inner"]
    assert text[slice(*inner)] == b'[ 1 , "two" ]'
    assert [text[start:end] for start, end in elements(text, inner)] == [b"1", b'"two"']
    assert elements(b"[ ]", (0, 3)) == []


@pytest.mark.parametrize("text", [b"{}", b"1", b"[1,", b""])
def test_elements_of_something_else_are_refused(text: bytes) -> None:
    with pytest.raises(JsonError):
        elements(text, (0, len(text)))


def test_one_byte_order_mark_is_dropped() -> None:
    assert without_bom(b"\xef\xbb\xbf{}") == b"{}"
    assert without_bom(b"\xef\xbb\xbf\xef\xbb\xbf{}") == b"\xef\xbb\xbf{}"
    assert without_bom(b"{}") == b"{}"


def test_lone_surrogates_are_replaced_and_pairs_are_kept() -> None:
    text = rb'{"a":"\ud83d\ude00 \ud800 \\ud800 \udc00\ud800A","z":1}'
    spans = members(text)
    assert load(text, spans["a"]) == "😀 \ufffd \\ud800 \ufffd\ufffdA"
    assert text[slice(*spans["z"])] == b"1"


def test_numbers_beyond_the_quick_decoder_are_read() -> None:
    text = b'{"a":1e999,"b":' + b"9" * 40 + b',"c":' + b"9" * 5000 + b"}"
    spans = members(text)
    assert load(text, spans["a"]) == float("inf")
    assert load(text, spans["b"]) == 10**40 - 1
    with pytest.raises(JsonError, match="cannot be read"):
        load(text, spans["c"])


@pytest.mark.parametrize("text", [b"NaN", b"[1", b"[" * 200_000, b"\xff", b'"\\ud800" NaN'])
def test_loading_what_was_never_checked_fails_in_order(text: bytes) -> None:
    with pytest.raises(JsonError):
        load(text)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (b'"x"', "string"),
        (b"{}", "object"),
        (b"[]", "array"),
        (b"true", "bool"),
        (b"false", "bool"),
        (b"null", "null"),
        (b"-1", "number"),
        (b"0.5", "number"),
    ],
)
def test_the_first_byte_tells_the_kind(value: bytes, kind: str) -> None:
    text = b'{"a": ' + value + b"}"
    assert kind_of(text, members(text)["a"]) == kind


def test_edits_are_made_in_any_order_and_may_not_overlap() -> None:
    assert replaced(b"abcdef", [(4, 5, b"E!"), (0, 1, b""), (2, 2, b"+")]) == b"b+cdE!f"
    assert replaced(b"abc", []) == b"abc"
    with pytest.raises(ValueError, match="overlap"):
        replaced(b"abcdef", [(0, 3, b"x"), (2, 4, b"y")])


def test_objects_and_arrays_beyond_all_use_are_refused() -> None:
    many = {f"k{number}": number for number in range(MAX_MEMBERS + 1)}
    with pytest.raises(JsonError, match="more than"):
        members(json.dumps(many).encode())
    text = json.dumps([0] * (MAX_ELEMENTS + 1)).encode()
    with pytest.raises(JsonError, match="more than"):
        elements(text, (0, len(text)))


def test_names_are_shown_printable_and_short() -> None:
    assert shown("a\n\x1b[0m") == "a\ufffd\ufffd[0m"
    assert len(shown("x" * 5000)) == 101
