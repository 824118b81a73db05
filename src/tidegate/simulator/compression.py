"""Content codings, in and out."""

import zlib
from collections.abc import Callable
from typing import Protocol as Interface

import brotli
import zstandard

from tidegate.simulator.parameters import Coding


class Unreadable(Exception):
    """A body is not in the coding it names, or would become too large."""


class Squeezer(Interface):
    """Compresses piece by piece, so that each piece can be read as soon as it arrives."""

    def piece(self, data: bytes) -> bytes:
        """The compressed form of `data`, flushed."""
        ...

    def end(self) -> bytes:
        """What closes the compressed body."""
        ...


class _Gzip:
    def __init__(self) -> None:
        self._inner = zlib.compressobj(wbits=31)

    def piece(self, data: bytes) -> bytes:
        return self._inner.compress(data) + self._inner.flush(zlib.Z_SYNC_FLUSH)

    def end(self) -> bytes:
        return self._inner.flush()


class _Brotli:
    def __init__(self) -> None:
        self._inner = brotli.Compressor(quality=4)

    def piece(self, data: bytes) -> bytes:
        return bytes(self._inner.process(data) + self._inner.flush())

    def end(self) -> bytes:
        return bytes(self._inner.finish())


class _Zstandard:
    def __init__(self) -> None:
        self._inner = zstandard.ZstdCompressor().compressobj()

    def piece(self, data: bytes) -> bytes:
        return self._inner.compress(data) + self._inner.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)

    def end(self) -> bytes:
        return self._inner.flush(zstandard.COMPRESSOBJ_FLUSH_FINISH)


def squeezer(coding: Coding) -> Squeezer:
    """A fresh compressor of a body."""
    match coding:
        case Coding.GZIP:
            return _Gzip()
        case Coding.BR:
            return _Brotli()
        case Coding.ZSTD:
            return _Zstandard()


def unpacked(body: bytes, coding: str, limit: int) -> bytes:
    """The body without its `content-encoding`, at most `limit` bytes. Raises Unreadable."""
    name = coding.strip().lower()
    if name in ("", "identity"):
        return body
    unpack = _UNPACK.get(name)
    if unpack is None:
        raise Unreadable(f"content-encoding {name!r} is not known here")
    try:
        plain = unpack(body, limit)
    except (zlib.error, brotli.error, zstandard.ZstdError, EOFError) as broken:
        raise Unreadable(f"the body is not {name}") from broken
    if len(plain) > limit:
        raise Unreadable(f"the body is larger than {limit} bytes")
    return plain


def _inflate(body: bytes, limit: int) -> bytes:
    return zlib.decompressobj(wbits=47).decompress(body, limit + 1)


def _unbrotli(body: bytes, limit: int) -> bytes:
    del limit  # checked by the caller; this library cannot stop early
    return bytes(brotli.decompress(body))


def _unzstd(body: bytes, limit: int) -> bytes:
    with zstandard.ZstdDecompressor().stream_reader(body, read_across_frames=True) as reader:
        return bytes(reader.read(limit + 1))


_UNPACK: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _inflate,
    "x-gzip": _inflate,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
