import tracemalloc
import zlib

import pytest
import zstandard
from tests.unit.upstream.encodings import BOMBS, ENCODINGS, NOTHING, Flushed

from tidegate.upstream.content import PIECE, ContentError, Decoder, decoder_for

EVENTS = [b'data: {"n":1}\n\n', b"data: two\n\n" * 50, b"data: [DONE]\n\n"]


def made(names: str) -> Decoder:
    decoder = decoder_for(names)
    assert decoder is not None
    return decoder


@pytest.mark.parametrize(("names", "encode"), ENCODINGS.values(), ids=ENCODINGS)
def test_each_event_comes_out_when_it_was_flushed(names: str, encode: Flushed) -> None:
    decoder = made(names)
    writes = encode(EVENTS)
    assert decoder.is_whole
    for event, write in zip(EVENTS, writes, strict=False):
        assert b"".join(decoder.feed(write)) == event
    assert b"".join(piece for write in writes[len(EVENTS) :] for piece in decoder.feed(write)) == b""
    assert decoder.is_whole


@pytest.mark.parametrize(("names", "encode"), ENCODINGS.values(), ids=ENCODINGS)
def test_bytes_come_one_by_one(names: str, encode: Flushed) -> None:
    decoder = made(names)
    wire = b"".join(encode(EVENTS))
    out = [piece for byte in wire for piece in decoder.feed(bytes([byte]))]
    assert b"".join(out) == b"".join(EVENTS)
    assert decoder.is_whole


@pytest.mark.parametrize(("names", "encode"), ENCODINGS.values(), ids=ENCODINGS)
def test_a_body_that_stops_in_the_middle_is_not_whole(names: str, encode: Flushed) -> None:
    decoder = made(names)
    list(decoder.feed(b"".join(encode(EVENTS))[:-1]))
    assert not decoder.is_whole


@pytest.mark.parametrize(("names", "encode"), ENCODINGS.values(), ids=ENCODINGS)
def test_bytes_that_do_not_keep_to_the_encoding_are_refused(names: str, encode: Flushed) -> None:
    wire = b"".join(encode(EVENTS))
    with pytest.raises(ContentError):
        list(made(names).feed(b"\xff\xff\xff\xff\xff\xff" + wire))
    decoder = made(names)
    list(decoder.feed(wire))
    with pytest.raises(ContentError):
        list(decoder.feed(b"more than there is" * 10))


@pytest.mark.parametrize(("names", "bomb"), BOMBS.values(), ids=BOMBS)
def test_a_bomb_comes_in_small_pieces_and_takes_no_memory(names: str, bomb: bytes) -> None:
    decoder = made(names)
    tracemalloc.start()
    try:
        sizes = [len(piece) for piece in decoder.feed(bomb)]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sum(sizes) == len(NOTHING)
    assert max(sizes) <= PIECE
    assert peak < 4 << 20
    assert decoder.is_whole


def test_a_window_that_is_too_large_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=25)
    maker = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    with pytest.raises(ContentError):
        list(made("zstd").feed(maker.compress(b"x" * 100) + maker.flush()))


def test_deflate_waits_for_two_bytes_to_tell_its_kind() -> None:
    decoder = made("deflate")
    assert list(decoder.feed(zlib.compress(b"hello")[:1])) == []
    assert not decoder.is_whole


@pytest.mark.parametrize("names", ["", "identity", " Identity , ,", "none", "UTF-8"])
def test_some_names_mean_nothing_is_encoded(names: str) -> None:
    assert decoder_for(names) is None


@pytest.mark.parametrize("names", ["compress", "gzip, compress", "br,br,br,br,br", "gzip br"])
def test_other_encodings_are_refused(names: str) -> None:
    with pytest.raises(ContentError):
        decoder_for(names)
