"""Compressed bodies as providers send them: each event flushed as it is written."""

import gzip
import zlib
from collections.abc import Callable, Sequence

import brotli
import zstandard

Flushed = Callable[[Sequence[bytes]], list[bytes]]
"""Events to the writes of one body: the last one ends it."""


def deflated(wbits: int) -> Flushed:
    def encode(events: Sequence[bytes]) -> list[bytes]:
        maker = zlib.compressobj(wbits=wbits)
        writes = [maker.compress(event) + maker.flush(zlib.Z_SYNC_FLUSH) for event in events]
        return [*writes, maker.flush()]

    return encode


def gzip_members(events: Sequence[bytes]) -> list[bytes]:
    """A member for each event, as some servers do instead of flushing."""
    return [gzip.compress(event) for event in events]


def brotlied(events: Sequence[bytes]) -> list[bytes]:
    maker = brotli.Compressor()
    return [*[maker.process(event) + maker.flush() for event in events], maker.finish()]


def zstandarded(events: Sequence[bytes]) -> list[bytes]:
    maker = zstandard.ZstdCompressor().compressobj()
    flush = zstandard.COMPRESSOBJ_FLUSH_BLOCK
    return [*[maker.compress(event) + maker.flush(flush) for event in events], maker.flush()]


def zstandard_frames(events: Sequence[bytes]) -> list[bytes]:
    return [zstandard.ZstdCompressor().compress(event) for event in events]


def gzipped_then_brotlied(events: Sequence[bytes]) -> list[bytes]:
    """`content-encoding: gzip, br`: the last one named is the outermost."""
    return brotlied(deflated(31)(events))


ENCODINGS: dict[str, tuple[str, Flushed]] = {
    "gzip": ("gzip", deflated(31)),
    "gzip of several members": ("x-gzip", gzip_members),
    "deflate with a zlib header": ("deflate", deflated(15)),
    "deflate without": ("Deflate", deflated(-15)),
    "br": ("br", brotlied),
    "zstd": ("zstd", zstandarded),
    "zstd of several frames": ("zstd", zstandard_frames),
    "two in a row": ("gzip, br", gzipped_then_brotlied),
    "with identity": ("identity, GZIP ,", deflated(31)),
}

NOTHING = b"\0" * (64 << 20)
BOMBS: dict[str, tuple[str, bytes]] = {
    "gzip": ("gzip", gzip.compress(NOTHING, 9)),
    "br": ("br", brotli.compress(NOTHING, quality=5)),
    "zstd": ("zstd", zstandard.ZstdCompressor(level=3).compress(NOTHING)),
    "gzip in gzip": ("gzip, gzip", gzip.compress(gzip.compress(NOTHING, 9), 9)),
}
