"""An event is edited in one place and keeps every other byte."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.protocols.frames import frame

from tidegate.protocols.cleaning import cleaner
from tidegate.protocols.event_edits import cleaned, event_name, with_data, with_model

CLEAN = cleaner(secrets=("upstream-credential-1",), hosts=("inner.example.com",))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (None, None),
        ("response.created", b"response.created"),
        ("é", "é".encode()),
        ("a\nb", None),
        ("a\rdata: x", None),
    ],
)
def test_a_name_stands_on_one_line_or_is_none(kind: str | None, name: bytes | None) -> None:
    assert event_name(kind) == name


@pytest.mark.parametrize(
    ("data", "inside", "expected"),
    [
        (b'{"model":"up"}', None, b'{"model":"p"}'),
        (b'{ "a":1.50, "model" : "up" ,"b":[ ]}', None, b'{ "a":1.50, "model" : "p" ,"b":[ ]}'),
        (b'{"x":{"model":"in"},"model":"up"}', None, b'{"x":{"model":"in"},"model":"p"}'),
        (
            b'{"text":"\\"model\\":\\"up\\"","model":"up"}',
            None,
            b'{"text":"\\"model\\":\\"up\\"","model":"p"}',
        ),
        (b'{"mod\\u0065l":"up"}', None, b'{"mod\\u0065l":"p"}'),
        (b'{"model":"a\\/b\\"c"}', None, b'{"model":"p"}'),
        (
            b'{"message":{"model":"up","id":1},"model":"x"}',
            "message",
            b'{"message":{"model":"p","id":1},"model":"x"}',
        ),
        (b'{"t":"\\ud800","model":"up"}', None, b'{"t":"\\ud800","model":"p"}'),
        (b'{"a":1}', None, b'{"a":1}'),
        (b'{"message":[],"model":"up"}', "message", b'{"message":[],"model":"up"}'),
        (b'{"message":{"a":1}}', "message", b'{"message":{"a":1}}'),
        (b'{"model":"a","model":"b"}', None, b'{"model":"a","model":"b"}'),
        (b"no json", None, b"no json"),
    ],
)
def test_the_model_is_set_in_its_place_alone(data: bytes, inside: str | None, expected: bytes) -> None:
    assert with_model(data, "p", inside) == expected


@settings(deadline=None)
@given(st.text())
def test_any_name_of_a_model_is_written_as_json(name: str) -> None:
    name = name.encode("utf-8", "replace").decode()
    assert json.loads(with_model(b'{"model":"up"}', name)) == {"model": name}


@pytest.mark.parametrize(
    ("raw", "event", "expected"),
    [
        (b'data: {"a":1}\n\n', None, b"data: NEW\n\n"),
        (b'data:{"a":1}\r\n\r\n', None, b"data:NEW\r\n\r\n"),
        (b'id: 7\ndata: {"a":1}\n\n', None, b"id: 7\ndata: NEW\n\n"),
        (b'data: {"a":1}\nid: 7\nx: y\n\n', None, b"data: NEW\nid: 7\nx: y\n\n"),
        (b'id: {"a":1}\ndata: {"a":1}\n\n', None, b'id: {"a":1}\ndata: NEW\n\n'),
        (b'event: e\rdata:  {"a":1}\r\r', b"e", b"event: e\rdata: NEW\r\r"),
        (b'data: {"a":1}\n\n', b"e", b"event: e\ndata: NEW\n\n"),
        (b'event: e\nid: 7\ndata: {"a":1}\n\n', None, b"id: 7\ndata: NEW\n\n"),
        (b'data: {"a":\ndata: 1}\n\n', None, b"data: NEW\n\n"),
        (b'data: {"a":1}\ndata:\n\n', None, b"data: NEW\n\n"),
        (b': c\ndata: {"a":1}\n\n', None, b"data: NEW\n\n"),
        (b'data: {"a":1}', None, b"data: NEW\n\n"),
    ],
)
def test_other_data_takes_the_place_of_the_old(raw: bytes, event: bytes | None, expected: bytes) -> None:
    assert with_data(frame(raw), b"NEW", event) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{ "error":{"message":"boom","code":1.50}}', None),
        (
            b'{"error":{"message":"key upstream-credential-1 bad","code":1.50},"x": 1}',
            b'{"error":{"message":"key [redacted] bad","code":1.50},"x": 1}',
        ),
        (b'{"error":"at inner.example.com today"}', b'{"error":"at [redacted] today"}'),
        (b'{"error":"","message":""}', None),
        (
            b'{"error":{"message":"x","metadata":{"raw":["see upstream-credential-1 ok"]}}}',
            b'{"error":{"message":"x","metadata":{"raw":["see [redacted] ok"]}}}',
        ),
        (
            b'{"type":"error","message":"x inner.example.com y","param":null}',
            b'{"type":"error","message":"x [redacted] y","param":null}',
        ),
        (
            b'{"response":{"tools":"upstream-credential-1","error":{"message":"x upstream-credential-1 y"}}}',
            b'{"response":{"tools":"upstream-credential-1","error":{"message":"x [redacted] y"}}}',
        ),
        (b'{"response":null,"error":{"code":123456789012345678901234567890}}', None),
    ],
)
def test_what_an_error_says_is_cleaned_in_place(data: bytes, expected: bytes | None) -> None:
    assert cleaned(data, CLEAN) == (data if expected is None else expected)


@pytest.mark.parametrize(
    "data",
    [
        b'{"error":{"message":"upstream-credential-1","message":"x"}}',
        b'{"error":"a","error":"upstream-credential-1"}',
        b'{"error":' + b"[" * 40 + b'"upstream-credential-1"' + b"]" * 40 + b"}",
        b'["upstream-credential-1"]',
        b"upstream-credential-1",
    ],
)
def test_what_cannot_be_cleaned_in_place_is_not_passed_on(data: bytes) -> None:
    assert cleaned(data, CLEAN) is None
