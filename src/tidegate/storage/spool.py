"""Keeps what cannot be written to the database in a file, in order, until it can."""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias
from zlib import crc32

import msgspec
from msgspec import Struct

from tidegate.exchange.ports import RequestRecord
from tidegate.storage.booking import Wanted

log = logging.getLogger("tidegate.storage")

_HEAD = 18  # length and checksum, eight hexadecimal digits each with a blank after it
_LONGEST = 64 * 1024 * 1024


class KeptRecord(Struct, frozen=True, tag="row"):
    """A finished request."""

    record: RequestRecord


class KeptHold(Struct, frozen=True, tag="hold"):
    """A hold that was granted without the database."""

    wanted: Wanted


class KeptRelease(Struct, frozen=True, tag="release"):
    """A hold that may have been taken and must not stand."""

    id: str
    account: str | None = None


class KeptLine(Struct, frozen=True, tag="line"):
    """A line of another table, as its columns take it."""

    table: str
    values: tuple[Any, ...]


Kept: TypeAlias = KeptRecord | KeptHold | KeptRelease | KeptLine

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Kept).decode


class Spool:
    """The file of one process. Only the writer's thread uses it."""

    def __init__(self, path: Path) -> None:
        """Nothing is opened before something is to be kept."""
        self.path = path
        self.count = 0
        """Entries that were added and are not in the database yet."""
        self._file: BinaryIO | None = None
        self._size = 0
        self._whole = True
        """Whether nothing but whole entries is in the file; else it is cut before more comes to it."""

    def add(self, entries: Sequence[Kept]) -> None:
        """Have the entries on the disk when this returns. Raises OSError if they are not; then none is."""
        lines = b"".join(map(frame, entries))
        try:
            file = self._opened()
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            self._undo()
            raise
        self._size += len(lines)
        self.count += len(entries)

    def remove(self) -> None:
        """Everything in it is in the database."""
        self._close()
        self.path.unlink(missing_ok=True)
        self._size = self.count = 0

    def _opened(self) -> BinaryIO:
        if self._file is None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            self._file = os.fdopen(descriptor, "ab")
            if self._whole:
                self._size = self._file.tell()
            else:
                os.ftruncate(descriptor, self._size)
                self._whole = True
        return self._file

    def _undo(self) -> None:
        """Take back the written part of a batch: what follows must not stand behind half an entry."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # its buffer may be what cannot be written
                file.close()
            self._whole = False
            with suppress(OSError):  # it is tried again
                os.truncate(self.path, self._size)
                self._whole = True

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()


def frame(entry: Kept) -> bytes:
    """One entry as a line that tells whether it is whole."""
    body = _encode(entry)
    return b"%08x %08x " % (len(body), crc32(body)) + body + b"\n"


def read(path: Path) -> Iterator[Kept]:
    """The entries of a spool in order; none if there is no file.

    The last one may be torn by a crash: it was never promised to anybody and is left out. Anything else that
    cannot be read is told in the log, and the file is kept under another name.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        while head := file.read(_HEAD):
            body = _body(file, head)
            if body is None:
                _tell_damage(path, file)
                return
            try:
                entry = _decode(body)
            except msgspec.DecodeError as error:  # whole, but of another version
                log.error("spool: an entry of %s is not understood and left out: %s", path, error)
            else:
                yield entry


def _body(file: BinaryIO, head: bytes) -> bytes | None:
    try:
        length, checksum = int(head[:8], 16), int(head[9:17], 16)
    except ValueError:
        return None
    body = file.read(length + 1) if 0 < length <= _LONGEST else b""
    whole = len(body) == length + 1 and crc32(body[:-1]) == checksum
    return body[:-1] if whole else None


def _tell_damage(path: Path, file: BinaryIO) -> None:
    if not file.read(1):
        log.warning("spool: the last entry of %s is torn and left out", path)
        return
    saved = path.with_suffix(".damaged")
    log.error("spool: %s is damaged; what could be read is used, the whole file is kept as %s", path, saved)
    saved.write_bytes(path.read_bytes())
