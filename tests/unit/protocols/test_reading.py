"""What servers send is read as far as it makes sense, and nothing that they send raises."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from tidegate.protocols.reading import load, read, salvage


class Inner(Struct):
    text: str | None = None
    number: int | None = None


class Outer(Struct):
    name: str | None = None
    inner: Inner | None = None
    several: list[Inner] | None = None
    either: str | dict[str, int] | None = None
    renamed: int = msgspec.field(default=7, name="Renamed")


DECODER = msgspec.json.Decoder(Outer)
NAMES = ["name", "inner", "several", "either", "Renamed", "text", "number"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b'{"name":"a","inner":{"text":"t"},"more":[1]}', Outer(name="a", inner=Inner(text="t"))),
        (b"{}", Outer()),
        (b'{"name":null,"inner":null}', Outer()),
        (b'{"name":5,"inner":{"text":"t"}}', Outer(inner=Inner(text="t"))),
        (b'{"name":"a","inner":[]}', Outer(name="a")),
        (b'{"inner":{"text":1,"number":2}}', Outer(inner=Inner(number=2))),
        (b'{"several":[{"text":"a"},7,{"number":"x"}]}', Outer(several=[Inner(text="a"), Inner()])),
        (b'{"several":{"text":"a"}}', Outer()),
        (b'{"either":{"a":1},"name":[]}', Outer(either={"a": 1})),
        (b'{"either":{"a":"x"}}', Outer()),
        (b'{"Renamed":"x"}', Outer()),
        (b'{"Renamed":3,"name":1}', Outer(renamed=3)),
        (b'{"name":"x\\ud83d"}', Outer(name="x\ufffd")),
        (b'{"name":"a","name":"b"}', Outer(name="b")),
        (b'{"inner":{"number":1e400},"name":"a"}', Outer(name="a", inner=Inner())),
    ],
)
def test_what_fits_is_kept(text: bytes, expected: Outer) -> None:
    assert read(DECODER, Outer, text) == expected


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"null", b"7", b'"x"', b'{"a":NaN}', b"{", b"<html>", b"\xff{}"]
)
def test_what_is_no_object_is_none(text: bytes) -> None:
    assert read(DECODER, Outer, text) is None


def test_deep_nesting_is_no_crash() -> None:
    deep = b'{"name":"a","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert read(DECODER, Outer, deep) is None
    assert load(deep) is None


def test_every_string_that_is_read_can_be_written() -> None:
    found = load(b'{"\\udead":["\\ud800",{"x":"\\udfff"}]}')
    assert msgspec.json.encode(found) == '{"�":["�",{"x":"�"}]}'.encode()


def test_numbers_out_of_range_are_numbers() -> None:
    assert load(b'{"a":1e400,"b":123456789012345678901234567890}') == {
        "a": float("inf"),
        "b": 123456789012345678901234567890,
    }


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_salvage_gives_the_shape_or_nothing(value: object) -> None:
    found = salvage(value, Outer)
    assert isinstance(found, Outer) if isinstance(value, dict) else found is None


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_raise(text: bytes) -> None:
    read(DECODER, Outer, text)
    load(text)
