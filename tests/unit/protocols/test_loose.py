"""Whatever stands there, looking at it does not fail."""

import pytest

from tidegate.protocols.loose import decoded, encoded, listing, mapping, mappings, text


@pytest.mark.parametrize("body", [b"", b"{", b"<html>", b"[" * 100_000, b"NaN", b"data: {}\n\n"])
def test_what_is_no_json_is_none(body: bytes) -> None:
    assert decoded(body) is None


def test_decoding_is_lenient_where_json_is() -> None:
    assert decoded(b'\xef\xbb\xbf {"a":"\\ud83d"}\n') == {"a": "\ufffd"}
    assert decoded(b'["\xe5\x8c","\xff","\xc3\xa9"]') == ["\ufffd", "\ufffd", "é"]


def test_other_types_count_as_absent() -> None:
    assert mapping([1]) == {}
    assert listing({"a": 1}) == []
    assert mappings([1, {"a": 1}, None]) == [{"a": 1}]
    assert (text(""), text(5), text("x")) == (None, None, "x")


def test_json_is_compact_and_unescaped() -> None:
    assert encoded({"a": "é"}) == '{"a":"é"}'.encode()
