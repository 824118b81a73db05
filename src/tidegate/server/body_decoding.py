"""Decodes a compressed request body as it arrives, never to more than the size limit."""

import zlib
from collections.abc import Iterable, Iterator
from typing import Protocol

import brotli
import zstandard

from tidegate.core.failure import Failure, Kind, TidegateError

MAX_ENCODINGS = 2
"""How many encodings may be laid over each other; each may blow a body up once more."""

MAX_FRAMES = 1000
"""Most gzip members or zstd frames in a body: empty ones cost work and give no output to be limited."""

_SLICE = 64 * 1024
_PIECE = 64 * 1024
_ZSTD_SLICE = 256
"""zstd gives all output of its input at once; this much of it holds at most 64 blocks of 128 KiB."""

_ZSTD_WINDOW = 8 * 1024 * 1024
"""The window that RFC 9659 allows for `content-encoding: zstd`."""

_DECODING_ERRORS = (zlib.error, brotli.error, zstandard.ZstdError)


class BodyDecoder:
    """Takes a body in chunks and keeps it decoded. Raises TidegateError for what a caller must be told."""

    def __init__(self, stages: "list[_Stage]", limit: int) -> None:
        self._stages = stages
        self._limit = limit
        self._sizes = [0] * (len(stages) + 1)
        self._body = bytearray()

    def feed(self, data: bytes) -> None:
        """Decode a chunk. Raises for broken data and for a body beyond the limit, as soon as it shows."""
        pieces: Iterable[bytes] = (data,)
        for number, stage in enumerate(self._stages):
            pieces = self._bounded(number, _through(stage, pieces))
        try:
            for piece in self._bounded(len(self._stages), pieces):
                self._body += piece
        except _DECODING_ERRORS:
            raise TidegateError(_invalid("The request body does not fit its content-encoding.")) from None

    def finish(self) -> bytes:
        """The whole decoded body. Raises where the data ended early."""
        if not all(stage.is_whole() for stage in self._stages):
            raise TidegateError(_invalid("The compressed request body ends before it is complete."))
        return bytes(self._body)

    def _bounded(self, number: int, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The pieces while they fit; what lies between two encodings is bounded like the body itself."""
        for piece in pieces:
            self._sizes[number] += len(piece)
            if self._sizes[number] > self._limit:
                raise TidegateError(_too_large(self._limit))
            yield piece


def decode_body(encoding: str, limit: int) -> BodyDecoder:
    """A decoder for the value of a `content-encoding` header; `limit` is the most bytes of the decoded body.

    Raises TidegateError where an encoding is unknown or too many are named.
    """
    names = [name.strip().lower() for name in encoding.split(",")]
    wanted = [name for name in names if name not in ("", "identity")]
    if len(wanted) > MAX_ENCODINGS:
        raise TidegateError(_invalid(f"More than {MAX_ENCODINGS} content-encodings are not read."))
    return BodyDecoder([_stage(name) for name in reversed(wanted)], limit)


class _Stage(Protocol):
    """One encoding."""

    def decode(self, data: bytes) -> Iterator[bytes]:
        """The output of some input, in bounded pieces, made only as they are taken."""

    def is_whole(self) -> bool:
        """Whether the input may end here."""


class _Broken(zlib.error):
    """The data breaks a rule that the library does not check."""


class _Gzip:
    """RFC 1952: members one after the other, zero bytes allowed behind each."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._frames = _FrameCount()
        self._fed = 0

    def decode(self, data: bytes) -> Iterator[bytes]:
        for part in _slices(data, _SLICE):
            rest = part
            self._fed += len(part)
            while rest:
                if self._member.eof:
                    rest = rest.lstrip(b"\0")
                    if not rest:
                        break
                    self._frames.add()
                    self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
                yield from _inflated(self._member, rest)
                rest = self._member.unused_data

    def is_whole(self) -> bool:
        return self._member.eof or not self._fed


class _Deflate:
    """`deflate` is zlib data by the standard (RFC 9110), and bare deflate data from some clients."""

    def __init__(self) -> None:
        self._head = b""
        self._inner: zlib._Decompress | None = None

    def decode(self, data: bytes) -> Iterator[bytes]:
        for part in _slices(data, _SLICE):
            rest = part
            if self._inner is None:
                self._head += rest
                if len(self._head) < 2:
                    continue
                self._inner = zlib.decompressobj(_deflate_window(self._head))
                rest = self._head
            if self._inner.eof:
                raise _Broken
            yield from _inflated(self._inner, rest)
            if self._inner.unused_data:
                raise _Broken

    def is_whole(self) -> bool:
        return not self._head if self._inner is None else self._inner.eof


class _Brotli:
    """RFC 7932."""

    def __init__(self) -> None:
        self._inner = brotli.Decompressor()
        self._fed = 0

    def decode(self, data: bytes) -> Iterator[bytes]:
        for part in _slices(data, _SLICE):
            self._fed += len(part)
            piece = self._inner.process(part, output_buffer_limit=_PIECE)
            while piece:  # more may be waiting inside, also when all input has been taken
                yield piece
                piece = self._inner.process(b"", output_buffer_limit=_PIECE)

    def is_whole(self) -> bool:
        return self._inner.is_finished() or not self._fed


class _Zstd:
    """RFC 8878: frames one after the other, skippable ones included."""

    def __init__(self) -> None:
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        self._frame = self._decompressor.decompressobj()
        self._frames = _FrameCount()
        self._fed = 0

    def decode(self, data: bytes) -> Iterator[bytes]:
        for part in _slices(data, _ZSTD_SLICE):
            rest = part
            self._fed += len(part)
            while rest:
                if self._frame.eof:
                    self._frames.add()
                    self._frame = self._decompressor.decompressobj()
                yield self._frame.decompress(rest)
                rest = self._frame.unused_data

    def is_whole(self) -> bool:
        return self._frame.eof or not self._fed


class _FrameCount:
    """Refuses a body of very many small frames."""

    def __init__(self) -> None:
        self._count = 1

    def add(self) -> None:
        self._count += 1
        if self._count > MAX_FRAMES:
            raise _Broken


def _stage(name: str) -> _Stage:
    match name:
        case "gzip" | "x-gzip":
            return _Gzip()
        case "deflate":
            return _Deflate()
        case "br":
            return _Brotli()
        case "zstd":
            return _Zstd()
        case _:  # callers may name anything
            known = "gzip, deflate, br, zstd or identity"
            raise TidegateError(_invalid(f"The content-encoding of the request is unknown; {known} is read."))


def _through(stage: _Stage, pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        yield from stage.decode(piece)


def _inflated(inner: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    """All output for `data`, in pieces; a full piece may have more behind it, even with no input left."""
    while True:
        piece = inner.decompress(data, _PIECE)
        yield piece
        data = inner.unconsumed_tail
        if inner.eof or (not data and len(piece) < _PIECE):
            return


def _deflate_window(head: bytes) -> int:
    """How zlib is to read the data: its two-byte header has method 8 and is a multiple of 31 (RFC 1950)."""
    is_zlib = head[0] & 15 == 8 and int.from_bytes(head[:2], "big") % 31 == 0
    return zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS


def _slices(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


def _invalid(message: str) -> Failure:
    return Failure(kind=Kind.INVALID_REQUEST, message=message, param="content-encoding")


def _too_large(limit: int) -> Failure:
    return Failure(kind=Kind.BODY_TOO_LARGE, message=f"The request body is larger than {limit} bytes.")
