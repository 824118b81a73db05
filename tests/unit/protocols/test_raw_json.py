"""Parts of JSON keep their text."""

from msgspec import Raw

from tidegate.protocols import raw_json
from tidegate.protocols.loose import encoded


def test_numbers_and_escapes_keep_their_spelling_on_one_line() -> None:
    body = b'\xef\xbb\xbf{ "a" : 1.50e3,\n "b": [ "\\u00e9",\r\n {"c": 12345678901234567890123} ] }'
    assert encoded(raw_json.members_of(body)) == (
        b'{"a":1.50e3,"b":["\\u00e9",{"c":12345678901234567890123}]}'
    )


def test_lone_surrogates_are_replaced() -> None:
    assert raw_json.string_of(raw_json.members_of(b'{"a":"x\\ud83d"}')["a"]) == "x\ufffd"


def test_what_is_no_object_has_no_members() -> None:
    assert raw_json.members_of(b"<html>") == {}
    assert raw_json.members_of(b"[1]") == {}
    assert raw_json.object_of(None) == raw_json.object_of(Raw(b"[]")) == {}
    assert raw_json.array_of(None) == raw_json.array_of(Raw(b"{}")) == []
    assert raw_json.objects_of(Raw(b'[1,{"a":2},null]')) == [{"a": Raw(b"2")}]


def test_what_a_value_says() -> None:
    assert not raw_json.is_told(None)
    assert not raw_json.is_told(raw_json.NULL)
    assert raw_json.is_text(raw_json.EMPTY_TEXT)
    assert not raw_json.says_something(raw_json.EMPTY_TEXT)
    assert raw_json.says_something(Raw(b'"x"'))
    assert raw_json.value_of(None) is None
    assert raw_json.string_of(Raw(b"5")) == ""


def test_a_value_as_a_string() -> None:
    assert raw_json.as_text(None) == raw_json.as_text(raw_json.NULL) == raw_json.EMPTY_TEXT
    assert raw_json.as_text(Raw(b'"x"')) == Raw(b'"x"')
    assert raw_json.as_text(Raw(b'{"a":1}')) == Raw(b'"{\\"a\\":1}"')


def test_picking() -> None:
    members = {"a": Raw(b"1"), "b": Raw(b"2"), "c": Raw(b"3")}
    assert list(raw_json.picked(members, "c", "x", "a")) == ["c", "a"]
    assert list(raw_json.without(members, "a", "x")) == ["b", "c"]
