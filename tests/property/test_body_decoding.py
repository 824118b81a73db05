"""Compressed bodies come out the same in any chunks, and any bytes are decoded or refused in order."""

import gzip
import zlib
from collections.abc import Callable
from itertools import pairwise

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.failure import TidegateError
from tidegate.server.body_decoding import decode_body

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}


def decoded(encoding: str, data: bytes, cuts: list[int]) -> bytes | None:
    """None for what is refused."""
    decoder = decode_body(encoding, 100_000)
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    try:
        for start, end in pairwise(places):
            decoder.feed(data[start:end])
        return decoder.finish()
    except TidegateError:
        return None


cuts = st.lists(st.integers(0, 10_000), max_size=5)


@pytest.mark.parametrize("encoding", PACKERS)
@given(body=st.binary(max_size=300), times=st.integers(1, 200), cuts=cuts)
def test_any_body_comes_out_the_same_in_any_chunks(
    encoding: str, body: bytes, times: int, cuts: list[int]
) -> None:
    assert decoded(encoding, PACKERS[encoding](body * times), cuts) == body * times


@pytest.mark.parametrize("encoding", PACKERS)
@given(body=st.binary(max_size=60), noise=st.binary(max_size=4), at=st.integers(0, 200), cuts=cuts)
def test_damage_is_refused_or_harmless_whatever_the_chunks(
    encoding: str, body: bytes, noise: bytes, at: int, cuts: list[int]
) -> None:
    packed = PACKERS[encoding](body)
    damaged = packed[:at] + noise + packed[at + len(noise) :]
    assert decoded(encoding, damaged, cuts) == decoded(encoding, damaged, [])
    decoded(encoding, noise + body, cuts)
