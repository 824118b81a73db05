"""What every dialect refuses in a body before it looks at its own members."""

import json

import pytest

from tidegate.core.failure import Failure, Kind
from tidegate.protocols.request_body import (
    ARRAY,
    MODEL_LIMIT,
    NUMBER,
    STRING,
    RequestBody,
    lacks_messages,
    read_body,
    read_model,
    value_at,
)

SHAPES = {"temperature": NUMBER, "stop": STRING + ARRAY, "messages": ARRAY}


def read(value: object) -> RequestBody:
    body = read_body(json.dumps(value).encode(), SHAPES)
    assert isinstance(body, RequestBody)
    return body


@pytest.mark.parametrize(
    ("body", "says", "param"),
    [
        (b"", "empty", None),
        (b"hello", "not valid JSON", None),
        (b"[1]", "not an object", None),
        (b'{"a":1,"a":2}', "`a` occurs more than once", "a"),
        (b'{"temperature":"hot"}', "`temperature` must be a number, not a string", "temperature"),
        (b'{"stop":1}', "`stop` must be a string or an array, not a number", "stop"),
        (b'{"stop":true}', "not true or false", "stop"),
        (b'{"temperature":[]}', "must be a number, not an array", "temperature"),
    ],
)
def test_a_wrong_body_is_refused_and_the_field_named(body: bytes, says: str, param: str | None) -> None:
    failure = read_body(body, SHAPES)
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.param) == (Kind.INVALID_REQUEST, param)
    assert says in failure.message


def test_null_and_unknown_members_of_any_type_pass() -> None:
    body = read({"temperature": None, "stop": None, "vendor_x": {"deep": [1]}})
    assert not body.has("temperature")
    assert body.has("vendor_x")
    assert not body.has("absent")
    assert body.value("absent") is None


def test_a_byte_order_mark_is_dropped_and_spans_fit_what_is_left() -> None:
    body = read_body(b'\xef\xbb\xbf{"model":"m"}', SHAPES)
    assert isinstance(body, RequestBody)
    assert body.text[slice(*body.members["model"])] == b'"m"'


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({}, "is missing"),
        ({"model": None}, "must be a string"),
        ({"model": 7}, "must be a string"),
        ({"model": ""}, "is empty"),
        ({"model": "x" * (MODEL_LIMIT + 1)}, "longer than 512"),
    ],
)
def test_the_model_must_be_a_name(value: object, says: str) -> None:
    failure = read_model(read(value))
    assert isinstance(failure, Failure)
    assert failure.param == "model"
    assert says in failure.message


def test_the_longest_model_name_and_escapes_are_read() -> None:
    assert read_model(read({"model": "é" * MODEL_LIMIT})) == "é" * MODEL_LIMIT


@pytest.mark.parametrize(
    ("body", "says"),
    [(b"{}", "missing"), (b'{"messages":null}', "must be an array"), (b'{"messages": [ \n]}', "is empty")],
)
def test_a_conversation_needs_a_message(body: bytes, says: str) -> None:
    read = read_body(body, SHAPES)
    assert isinstance(read, RequestBody)
    failure = lacks_messages(read)
    assert failure is not None
    assert failure.param == "messages"
    assert says in failure.message


def test_what_cannot_be_decoded_is_not_told() -> None:
    assert value_at(b"9" * 5000, (0, 5000)) is None
