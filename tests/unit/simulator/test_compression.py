import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard

from tidegate.simulator.compression import Unreadable, squeezer, unpacked
from tidegate.simulator.parameters import Coding


def reader(coding: Coding) -> Callable[[bytes], bytes]:
    match coding:
        case Coding.GZIP:
            return zlib.decompressobj(wbits=31).decompress
        case Coding.BR:
            plain = brotli.Decompressor()
            return lambda data: bytes(plain.process(data))
        case Coding.ZSTD:
            return zstandard.ZstdDecompressor().decompressobj().decompress


@pytest.mark.parametrize("coding", list(Coding))
def test_each_piece_can_be_read_as_soon_as_it_arrives(coding: Coding) -> None:
    press, read = squeezer(coding), reader(coding)
    for piece in (b"one", b"two" * 1000, b"three"):
        assert read(press.piece(piece)) == piece
    assert read(press.end()) == b""


@pytest.mark.parametrize("coding", list(Coding))
def test_a_body_is_unpacked(coding: Coding) -> None:
    press = squeezer(coding)
    packed = press.piece(b"a" * 1000) + press.end()
    assert unpacked(packed, coding.value.upper(), 1000) == b"a" * 1000
    with pytest.raises(Unreadable):
        unpacked(packed, coding.value, 999)
    with pytest.raises(Unreadable):
        unpacked(b"plain text", coding.value, 999)


def test_plain_bodies_stay_and_unknown_codings_do_not_pass() -> None:
    assert unpacked(b"x", "", 1) == unpacked(b"x", "identity", 1) == b"x"
    with pytest.raises(Unreadable):
        unpacked(b"x", "rot13", 1)
