from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.admin.bodies import parse_object
from tidegate.admin.problems import Problem


def test_fractions_are_exact() -> None:
    assert parse_object(b'{"a": 0.1, "b": 5, "c": null}') == {"a": Decimal("0.1"), "b": 5, "c": None}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'"text"',
        b"null",
        b"{",
        b"\xff",
        '{"a": 1}'.encode("utf-16"),
        '{"a": 1}'.encode("utf-32"),
        b'{"a": "\xed\xa0\x80"}',
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": "\\ud800"}',
        b'{"\\udc00": 1}',
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": 1e999999999999999999999}',
        b'{"a":' * 100_000,
        b'{"a": ' + b"[" * 100_000,
        b'{"a": 1, "a": 2}',
        b'{"x": {"b": 1, "b": 2}}',
    ],
)
def test_everything_else_is_a_400(body: bytes) -> None:
    with pytest.raises(Problem) as caught:
        parse_object(body)
    assert caught.value.status == 400


def test_a_byte_order_mark_is_no_fault() -> None:
    assert parse_object('{"a": "é"}'.encode("utf-8-sig")) == {"a": "é"}


@pytest.mark.timeout(10)
def test_a_member_that_comes_twice_is_found_in_one_pass() -> None:
    names = "".join(f'"{number:x}":0,' for number in range(100_000))
    with pytest.raises(Problem, match="'z' occurs twice"):
        parse_object(f'{{{names}"z":0,"z":0}}'.encode())


def test_an_error_does_not_repeat_the_body() -> None:
    with pytest.raises(Problem) as caught:
        parse_object(b'{"api_key": "sk-secret-1", }')
    assert "sk-secret" not in caught.value.detail


@given(st.binary(max_size=200))
def test_no_bytes_break_it(body: bytes) -> None:
    with suppress(Problem):
        assert isinstance(parse_object(body), dict)
