from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.upstream.encodings import ENCODINGS

from tidegate.core.failure import Failure
from tidegate.exchange.ports import Headers
from tidegate.upstream.connection import Connection
from tidegate.upstream.content import decoder_for
from tidegate.upstream.limits import Limits
from tidegate.upstream.roles import Push

bodies = st.lists(st.binary(min_size=1, max_size=40), max_size=8)
cuts = st.lists(st.integers(1, 60), min_size=1, max_size=40)
interim = st.sampled_from([b"", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 X\r\nlink: </a>\r\n\r\n"])
excess = st.sampled_from([b"", b"x", b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad", b"\x16\x03"])


class Wire:
    """As much of a transport as a connection sees."""

    def __init__(self) -> None:
        self.aborted = False

    def get_extra_info(self, name: str) -> Any:
        return Socket() if name == "socket" else None

    def write(self, _: bytes) -> None:
        """Requests go nowhere."""

    def is_reading(self) -> bool:
        return True

    def is_closing(self) -> bool:
        return self.aborted

    def get_write_buffer_size(self) -> int:
        return 0

    def abort(self) -> None:
        self.aborted = True


class Socket:
    def fileno(self) -> int:
        return 0


class Shelf:
    """Keeps nothing, but counts what it could have kept."""

    def __init__(self) -> None:
        self.kept = 0

    def opened(self, connection: Connection) -> None: ...

    def give_back(self, connection: Connection) -> None:
        self.kept += 1

    def withdraw(self, connection: Connection) -> None: ...

    def closed(self, connection: Connection) -> None: ...


class Heard:
    """What a listener was told."""

    def __init__(self) -> None:
        self.told: list[object] = []
        self.pieces: list[bytes] = []

    def on_head(self, status: int, headers: Headers) -> Push:
        self.told.append((status, headers))
        return self.pieces.append

    def on_whole(self) -> None:
        self.told += [b"".join(self.pieces), "whole"]

    def on_broken(self, failure: Failure, *, heard: bool) -> None:
        self.told += [b"".join(self.pieces), failure.message]


def pieces(wire: bytes, sizes: Sequence[int]) -> list[bytes]:
    """The wire in pieces of these sizes, over and over."""
    found, at, turn = [], 0, 0
    while at < len(wire):
        size = sizes[turn % len(sizes)]
        found.append(wire[at : at + size])
        at, turn = at + size, turn + 1
    return found


def listen(reads: Sequence[bytes]) -> tuple[list[object], int]:
    """What is told when the peer's bytes come in these reads and the connection ends after them."""
    shelf, heard = Shelf(), Heard()
    connection = Connection(shelf, [], Limits())
    wire: Any = Wire()
    connection.connection_made(wire)
    connection.start(heard, b"", b"")
    for read in reads:
        if wire.aborted:
            break
        connection.data_received(read)
    if not wire.aborted:
        connection.eof_received()
    connection.connection_lost(None)
    return heard.told, shelf.kept


def chunked(body: Sequence[bytes]) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in body) + b"0\r\nx-trailer: 1\r\n\r\n"


@given(bodies, cuts, interim, excess)
def test_any_chunking_of_a_chunked_answer_tells_the_same(
    body: list[bytes], sizes: list[int], before: bytes, behind: bytes
) -> None:
    wire = before + b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b c \r\n\r\n" + chunked(body)
    told, kept = listen(pieces(wire + behind, sizes))
    assert told == [(200, [("transfer-encoding", "chunked"), ("x-a", "b c")]), b"".join(body), "whole"]
    assert kept == 1 or behind


@given(bodies, cuts, excess)
def test_any_chunking_of_a_sized_answer_tells_the_same(
    body: list[bytes], sizes: list[int], behind: bytes
) -> None:
    whole = b"".join(body)
    wire = b"HTTP/1.1 429 Slow\r\ncontent-length: %d\r\n\r\n%s" % (len(whole), whole)
    told, kept = listen(pieces(wire + behind, sizes))
    assert told == [(429, [("content-length", str(len(whole)))]), whole, "whole"]
    assert kept == 1 or behind


@given(bodies, cuts)
def test_any_chunking_of_an_answer_that_a_close_ends_tells_the_same(
    body: list[bytes], sizes: list[int]
) -> None:
    told, kept = listen(pieces(b"HTTP/1.0 200 OK\r\n\r\n" + b"".join(body), sizes))
    assert (told, kept) == ([(200, []), b"".join(body), "whole"], 0)


@given(bodies, cuts, st.data())
def test_a_cut_anywhere_is_told_once_after_what_had_come(
    body: list[bytes], sizes: list[int], data: Any
) -> None:
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    wire = head + chunked(body)
    end = data.draw(st.integers(0, len(wire) - 1))
    told, kept = listen(pieces(wire[:end], sizes))
    assert kept == 0
    if end < len(head):
        assert told == [b"", "the upstream closed the connection before it answered"]
    else:
        assert told[0] == (200, [("transfer-encoding", "chunked")])
        assert isinstance(told[1], bytes)
        assert b"".join(body).startswith(told[1])
        assert told[2:] == ["the upstream closed the connection in mid-answer"]


@given(bodies, cuts, st.integers(0, 200), st.binary(max_size=6))
def test_damage_is_told_the_same_in_any_chunking(
    body: list[bytes], sizes: list[int], at: int, damage: bytes
) -> None:
    wire = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nx-a: b\r\n\r\n" + chunked(body)
    damaged = wire[:at] + damage + wire[at + len(damage) :]
    at_once, _ = listen([damaged])
    in_pieces, _ = listen(pieces(damaged, sizes))
    assert in_pieces == at_once
    assert at_once[-1] == "whole" or str(at_once[-1]).startswith("the upstream ")


@given(st.sampled_from(sorted(ENCODINGS)), bodies, cuts)
def test_any_chunking_decodes_to_the_same(name: str, body: list[bytes], sizes: list[int]) -> None:
    names, encode = ENCODINGS[name]
    decoder = decoder_for(names)
    assert decoder is not None
    out = [part for read in pieces(b"".join(encode(body)), sizes) for part in decoder.feed(read)]
    assert b"".join(out) == b"".join(body)
    assert all(out)
    assert decoder.is_whole
