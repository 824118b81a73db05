"""Compressed bodies come out whole in any chunks, and bombs cost no memory."""

import gzip
import struct
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard

from tidegate.core.failure import Kind, TidegateError
from tidegate.server.body_decoding import MAX_FRAMES, decode_body

TEXT = b'{"model":"m","messages":[{"role":"user","content":"hello hello"}]}' * 40
LIMIT = 1_000_000


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("X-GZIP", gzip.compress),
    "zlib deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstandard.compress),
    "two": ("gzip, br", lambda body: brotli.compress(gzip.compress(body))),
    "identity in a list": ("identity,zstd", zstandard.compress),
    "identity": ("identity", bytes),
    "none": ("", bytes),
}
every_encoding = pytest.mark.parametrize(("encoding", "pack"), PACKERS.values(), ids=PACKERS.keys())
every_packing = pytest.mark.parametrize(
    ("encoding", "pack"), list(PACKERS.values())[:-2], ids=list(PACKERS.keys())[:-2]
)


def decoded(encoding: str, data: bytes, size: int = 1 << 20, limit: int = LIMIT) -> bytes:
    decoder = decode_body(encoding, limit)
    for start in range(0, len(data), size):
        decoder.feed(data[start : start + size])
    return decoder.finish()


def refused(encoding: str, data: bytes, limit: int = LIMIT, size: int = 1 << 20) -> tuple[Kind, str]:
    with pytest.raises(TidegateError) as caught:
        decoded(encoding, data, size, limit)
    return caught.value.failure.kind, caught.value.failure.message


@every_encoding
@pytest.mark.parametrize("size", [1, 2, 7, 1 << 20])
def test_a_body_comes_out_whole_in_any_chunks(
    encoding: str, pack: Callable[[bytes], bytes], size: int
) -> None:
    assert decoded(encoding, pack(TEXT), size) == TEXT
    assert decoded(encoding, pack(b""), size) == b""


@every_encoding
def test_no_bytes_at_all_are_an_empty_body(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    assert decode_body(encoding, LIMIT).finish() == b""


@every_encoding
def test_the_limit_is_exact(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    assert decoded(encoding, pack(TEXT), limit=len(TEXT)) == TEXT
    assert refused(encoding, pack(TEXT), limit=len(TEXT) - 1)[0] is Kind.BODY_TOO_LARGE


@every_packing
def test_a_body_that_ends_early_is_refused(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    kind, says = refused(encoding, pack(TEXT)[:-3])
    assert kind is Kind.INVALID_REQUEST
    assert "ends before it is complete" in says


@every_packing
def test_what_is_not_compressed_is_refused(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    kind, says = refused(encoding, b'{"model":"m"}' + b"\xff" * 20)
    assert kind is Kind.INVALID_REQUEST
    assert "content-encoding" in says or "ends before" in says


@pytest.mark.parametrize(
    ("encoding", "pack"), [("br", brotli.compress), ("deflate", zlib.compress), ("deflate", raw_deflate)]
)
@pytest.mark.parametrize("size", [1, 1 << 20])
def test_data_behind_the_end_is_refused(encoding: str, pack: Callable[[bytes], bytes], size: int) -> None:
    assert refused(encoding, pack(TEXT) + b"more", size=size)[0] is Kind.INVALID_REQUEST


@pytest.mark.parametrize("size", [1, 5, 1 << 20])
def test_members_and_frames_follow_each_other(size: int) -> None:
    packed = gzip.compress(TEXT) + gzip.compress(b"!") + b"\0" * 9
    assert decoded("gzip", packed, size) == TEXT + b"!"
    skippable = struct.pack("<II", 0x184D2A50, 4) + b"skip"
    frames = skippable + zstandard.compress(TEXT) + skippable + zstandard.compress(b"!")
    assert decoded("zstd", frames, size) == TEXT + b"!"


@pytest.mark.parametrize(
    ("encoding", "frame"), [("gzip", gzip.compress(b"", mtime=0)), ("zstd", zstandard.compress(b""))]
)
def test_too_many_empty_frames_are_refused(encoding: str, frame: bytes) -> None:
    assert decoded(encoding, frame * MAX_FRAMES) == b""
    assert refused(encoding, frame * (MAX_FRAMES + 1))[0] is Kind.INVALID_REQUEST


@pytest.mark.parametrize(
    ("encoding", "bomb"),
    [
        ("gzip", gzip.compress(bytes(60_000_000))),
        ("deflate", zlib.compress(bytes(60_000_000))),
        ("br", brotli.compress(bytes(60_000_000), quality=5)),
        ("zstd", zstandard.compress(bytes(60_000_000))),
        ("gzip, gzip", gzip.compress(gzip.compress(bytes(60_000_000)))),
    ],
)
def test_a_bomb_is_refused_before_it_takes_memory(encoding: str, bomb: bytes) -> None:
    tracemalloc.start()
    try:
        assert refused(encoding, bomb)[0] is Kind.BODY_TOO_LARGE
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000


def test_what_lies_between_two_encodings_is_bounded_too() -> None:
    skippable = struct.pack("<II", 0x184D2A50, 4_000_000) + bytes(4_000_000)
    assert refused("zstd, gzip", gzip.compress(skippable))[0] is Kind.BODY_TOO_LARGE


def test_a_huge_zstd_window_is_refused() -> None:
    settings = zstandard.ZstdCompressionParameters(window_log=27)
    packer = zstandard.ZstdCompressor(compression_params=settings).compressobj()
    assert refused("zstd", packer.compress(TEXT) + packer.flush())[0] is Kind.INVALID_REQUEST


@pytest.mark.parametrize("encoding", ["compress", "gzip, magic", "gzip gzip", "gzip, br, zstd"])
def test_unknown_and_too_many_encodings_are_refused(encoding: str) -> None:
    with pytest.raises(TidegateError, match="content-encoding") as caught:
        decode_body(encoding, LIMIT)
    assert caught.value.failure.param == "content-encoding"
