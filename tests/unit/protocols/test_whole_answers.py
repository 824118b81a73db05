"""What whole answers have in common."""

import json

import pytest

from tidegate.core.failure import Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.whole_answers import argument_text, broken_stream, no_answer, texts_of, under_name


def renamed(body: bytes) -> bytes:
    return under_name(body, json.loads(body.removeprefix(b"\xef\xbb\xbf")), "public")


def test_only_the_top_level_model_is_changed_and_every_other_byte_stays() -> None:
    body = b'{ "a": {"model":"up"},\n  "model" :\t"up" , "x": 1.50, "text": "model up" }\n'
    assert (
        renamed(body) == b'{ "a": {"model":"up"},\n  "model" :\t"public" , "x": 1.50, "text": "model up" }\n'
    )


@pytest.mark.parametrize("body", [b'{"model": "public"}', b'{"a": 1}', b'{"model": "p\\u0075blic"}'])
def test_without_a_difference_nothing_is_changed(body: bytes) -> None:
    assert renamed(body) == body


def test_a_byte_order_mark_goes_and_null_is_replaced() -> None:
    assert renamed(b'\xef\xbb\xbf{"model":null}') == b'{"model":"public"}'


def test_malformed_characters_are_replaced_as_in_a_stream() -> None:
    assert renamed_text(b'{"a":"\xe5\x8c", "model":"up"}') == '{"a":"\ufffd", "model":"public"}'
    assert renamed_text(b'{"a":"\xff \xc3\xa9"}') == '{"a":"\ufffd é"}'


def renamed_text(body: bytes) -> str:
    return under_name(body, json.loads(body.decode(errors="replace")), "public").decode()


def test_a_model_told_twice_does_not_show() -> None:
    assert renamed(b'{"model":"up","model":"up2"}') == b'{"model":"public"}'


@pytest.mark.parametrize(
    ("value", "kind", "detail"),
    [
        (None, Kind.UPSTREAM, "no JSON"),
        ([], Kind.UPSTREAM, "not an answer"),
        ({"error": {"message": "m", "type": "overloaded_error"}}, Kind.OVERLOADED, "m"),
        ({"type": "error", "error": {"type": "rate_limit_error"}}, Kind.RATE_LIMIT, "rate_limit_error"),
        ({"object": "error", "message": "m"}, Kind.UPSTREAM, "m"),
    ],
)
def test_why_a_body_is_no_answer(value: object, kind: Kind, detail: str) -> None:
    failure = no_answer(Protocol.CHAT, value)
    assert failure.kind is kind
    assert detail in (failure.detail or "")


def test_a_broken_stream_is_the_upstreams() -> None:
    assert broken_stream("why").kind is Kind.UPSTREAM


def test_texts() -> None:
    assert list(texts_of("a")) == ["a"]
    assert list(texts_of([{"text": "a"}, {"refusal": "b"}, {"type": "x"}, 5])) == ["a", "b"]
    assert list(texts_of(None)) == []
    assert (argument_text(None), argument_text("{"), argument_text({"a": 1})) == ("", "{", '{"a":1}')
