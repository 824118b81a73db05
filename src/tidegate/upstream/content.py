"""Content encodings undone piece by piece: whatever has been flushed comes out, and no piece is large."""

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import brotli
import zstandard

PIECE = 262_144
"""Bytes; the most that one piece of decoded output holds."""

_MAX_LAYERS = 4
_ZSTD_SLICE = 32
"""Bytes fed to zstandard at once. It cannot stop in the middle, and a block of 4 bytes may say 128 KiB."""
_ZSTD_WINDOW = 8 << 20
"""RFC 9659 §3: a window for content encoding is 8 MiB at most."""


_PLAIN = frozenset({"", "identity", "none", "utf-8", "utf8"})
"""Nothing to undo; `none` is how some web frameworks keep event streams from being compressed."""


class ContentError(Exception):
    """The encoding is unknown, or the bytes do not keep to it."""


class Decoder(Protocol):
    """Undoes one encoding of one body."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The output that is ready after `data`, in pieces made as they are asked for. Raises ContentError.

        An iterator must be used up before the next call.
        """

    @property
    def is_whole(self) -> bool:
        """Whether the encoded body has come to its end, or never begun."""


def decoder_for(encodings: str) -> Decoder | None:
    """The decoder for a `content-encoding` value; None where there is nothing to undo. Raises ContentError.

    The value lists encodings in the order they were applied (RFC 9110 §8.4).
    """
    names = [name.strip().lower() for name in encodings.split(",")]
    wanted = [name for name in names if name not in _PLAIN]
    if len(wanted) > _MAX_LAYERS:
        raise ContentError("too many content encodings")
    for name in wanted:
        if name not in _DECODERS:
            raise ContentError(f"content encoding {name[:40]!r} is not known")
    layers = [_DECODERS[name]() for name in reversed(wanted)]
    match layers:
        case []:
            return None
        case [only]:
            return only
        case _:
            return _Layers(layers)


class _Layers:
    """Several encodings, outermost first."""

    def __init__(self, layers: Sequence[Decoder]) -> None:
        self._layers = layers

    def feed(self, data: bytes) -> Iterator[bytes]:
        return self._feed(0, data)

    def _feed(self, depth: int, data: bytes) -> Iterator[bytes]:
        if depth == len(self._layers):
            yield data
            return
        for piece in self._layers[depth].feed(data):
            yield from self._feed(depth + 1, piece)

    @property
    def is_whole(self) -> bool:
        return all(layer.is_whole for layer in self._layers)


class _Inflater:
    """gzip, also of several members, and deflate, with its zlib header or (as some send it) without."""

    def __init__(self, wbits: int | None) -> None:
        self._wbits = wbits
        self._begun = b""
        self._inflate = None if wbits is None else zlib.decompressobj(wbits)
        self.is_whole = True

    def feed(self, data: bytes) -> Iterator[bytes]:
        if data:
            self.is_whole = False
        if self._inflate is None:
            self._begun += data
            if len(self._begun) < 2:
                return
            self._wbits = _deflate_wbits(self._begun)
            self._inflate = zlib.decompressobj(self._wbits)
            data, self._begun = self._begun, b""
        yield from self._inflated(self._inflate, data)

    def _inflated(self, inflate: "zlib._Decompress", rest: bytes) -> Iterator[bytes]:
        while True:
            try:
                out = inflate.decompress(rest, PIECE)
            except zlib.error as error:
                raise ContentError(str(error)) from error
            rest = inflate.unconsumed_tail
            if out:
                yield out
            if inflate.eof:
                self.is_whole = True
                rest = inflate.unused_data
                if not rest:
                    return
                self._inflate = inflate = self._next_member()
                self.is_whole = False
            elif not rest and len(out) < PIECE:
                return

    def _next_member(self) -> "zlib._Decompress":
        if self._wbits != _GZIP:
            raise ContentError("bytes after the end of the compressed body")
        return zlib.decompressobj(_GZIP)


class _Brotli:
    """br, RFC 7932."""

    def __init__(self) -> None:
        self._decompress = brotli.Decompressor()
        self.is_whole = True

    def feed(self, data: bytes) -> Iterator[bytes]:
        while True:
            try:
                out = self._decompress.process(data, output_buffer_limit=PIECE // 2)
            except brotli.error as error:
                raise ContentError(str(error)) from error
            self.is_whole = self._decompress.is_finished()
            yield from _cut(out)
            if self.is_whole or not out:
                return
            data = b""


class _Zstandard:
    """zstd, RFC 8878; frames may follow each other."""

    def __init__(self) -> None:
        self._maker = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        self._frame = self._maker.decompressobj()
        self.is_whole = True

    def feed(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _ZSTD_SLICE):
            part = data[start : start + _ZSTD_SLICE]
            while part:
                if self._frame.eof:
                    self._frame = self._maker.decompressobj()
                try:
                    out = self._frame.decompress(part)
                except zstandard.ZstdError as error:
                    raise ContentError(str(error)) from error
                self.is_whole = self._frame.eof
                yield from _cut(out)
                part = self._frame.unused_data if self._frame.eof else b""


_GZIP = 31
"""zlib's code for "32 KiB window, gzip header"."""

_DECODERS: dict[str, Callable[[], Decoder]] = {
    "gzip": lambda: _Inflater(_GZIP),
    "x-gzip": lambda: _Inflater(_GZIP),
    "deflate": lambda: _Inflater(None),
    "br": _Brotli,
    "zstd": _Zstandard,
}


def _deflate_wbits(begun: bytes) -> int:
    """Tell a zlib header (RFC 1950 §2.2: method 8, check bits) from a raw deflate block."""
    is_zlib = begun[0] & 0x0F == 8 and begun[0] >> 4 <= 7 and int.from_bytes(begun[:2], "big") % 31 == 0
    return zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS


def _cut(out: bytes) -> Iterator[bytes]:
    if len(out) <= PIECE:
        if out:
            yield out
        return
    for start in range(0, len(out), PIECE):
        yield out[start : start + PIECE]
