"""A file of the console with its type, its tag, and its packed forms, each made once."""

import gzip
from enum import Enum
from hashlib import sha256
from pathlib import PurePosixPath

import brotli

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".md": "text/plain; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_PACKED_ALREADY = (".ico", ".png", ".woff2")
_WORTH_IT = 512
"""Bytes below which packing saves nothing that is noticed."""


class Coding(Enum):
    """How a body is packed; the value is that of `content-encoding`."""

    PLAIN = "identity"
    GZIP = "gzip"
    BROTLI = "br"


class Packed:
    """One file, in memory."""

    def __init__(self, name: str, content: bytes) -> None:
        suffix = PurePosixPath(name).suffix.lower()
        self.media_type = _TYPES.get(suffix, "application/octet-stream")
        self._packable = suffix not in _PACKED_ALREADY and len(content) >= _WORTH_IT
        self._bodies = {Coding.PLAIN: content}
        self._tag = sha256(content).hexdigest()[:32]

    def best_for(self, accept_encoding: str) -> Coding:
        """The shortest form that a browser takes, by its header (RFC 9110, section 12.5.3)."""
        if not self._packable:
            return Coding.PLAIN
        taken = _taken(accept_encoding)
        return next((one for one in (Coding.BROTLI, Coding.GZIP) if one.value in taken), Coding.PLAIN)

    def body(self, coding: Coding) -> bytes:
        """The bytes in a form; they are packed when they are first asked for."""
        if coding not in self._bodies:
            self._bodies[coding] = _pack(self._bodies[Coding.PLAIN], coding)
        return self._bodies[coding]

    def etag(self, coding: Coding) -> str:
        """What tells this content, in this form, from any other."""
        return f'"{self._tag}"' if coding is Coding.PLAIN else f'"{self._tag}-{coding.value}"'


def _pack(content: bytes, coding: Coding) -> bytes:
    match coding:
        case Coding.PLAIN:
            return content
        case Coding.GZIP:
            return gzip.compress(content, 6, mtime=0)
        case Coding.BROTLI:
            packed: bytes = brotli.compress(content, quality=5)
            return packed


def _taken(accept_encoding: str) -> set[str]:
    taken = set()
    for word in accept_encoding.lower().split(","):
        coding, _, parameters = word.partition(";")
        weight = parameters.strip().removeprefix("q=").strip() or "1"
        if weight.strip("0.") != "":  # a weight of zero says that it is not taken
            taken.add(coding.strip())
    return taken
