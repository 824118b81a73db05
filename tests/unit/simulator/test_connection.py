import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tidegate.core.protocol import Protocol
from tidegate.simulator import connection
from tidegate.simulator.app import Simulator, start

from .reading import PATHS, events, request

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    running = await start("127.0.0.1", 0)
    yield running
    await running.close()


class Caller:
    """One connection on which everything can be seen."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def post(self, protocol: Protocol, model: str, *, version: str = "1.1", **members: Any) -> None:
        body = json.dumps(request(protocol, model, **members)).encode()
        path = f"{PATHS[protocol]}?beta=true"
        self.writer.write(
            f"POST {path} HTTP/{version}\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
        )

    async def head(self) -> bytes:
        return await self.reader.readuntil(b"\r\n\r\n")

    async def chunk(self) -> bytes:
        size = int(await self.reader.readuntil(b"\r\n"), 16)
        return (await self.reader.readexactly(size + 2))[:-2]

    async def body(self) -> bytes:
        pieces = []
        while piece := await self.chunk():
            pieces.append(piece)
        return b"".join(pieces)


@pytest.fixture
async def caller(simulator: Simulator) -> AsyncIterator[Caller]:
    reader, writer = await asyncio.open_connection(simulator.host, simulator.port)
    yield Caller(reader, writer)
    writer.close()


async def test_one_answer_after_the_other_on_one_connection(simulator: Simulator, caller: Caller) -> None:
    caller.post(Protocol.CHAT, "sim;text=one", stream=False)
    caller.post(Protocol.MESSAGES, "sim;text=two")
    first = await caller.head()
    length = int(first.split(b"content-length: ")[1].split(b"\r\n")[0])
    assert b"one" in await caller.reader.readexactly(length)
    assert (await caller.head()).startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"two" in await caller.body()
    assert [(entry.path, entry.query) for entry in simulator.requests] == [
        ("/v1/chat/completions", "beta=true"),
        ("/v1/messages", "beta=true"),
    ]


async def test_every_event_is_a_chunk_of_its_own(caller: Caller) -> None:
    caller.post(Protocol.CHAT, "sim;text=a b")
    await caller.head()
    assert len(events(await caller.chunk())) == 1


async def test_a_reset_comes_after_all_that_was_said(caller: Caller) -> None:
    caller.post(Protocol.CHAT, "sim;text=a b c d e f;cut_after=5;cut=reset")
    await caller.head()
    said = b"".join([await caller.chunk() for _ in range(6)])
    assert len(events(said)) == 6
    with pytest.raises(ConnectionResetError):
        await caller.reader.read()


async def test_a_reset_instead_of_an_answer(caller: Caller) -> None:
    caller.post(Protocol.CHAT, "sim;drop=reset")
    with pytest.raises(ConnectionResetError):
        await caller.reader.read()


async def test_a_truncated_body_ends_in_the_middle(caller: Caller) -> None:
    caller.post(Protocol.CHAT, "sim;cut_after=2;cut=truncate")
    assert not (await caller.reader.read()).endswith(b"0\r\n\r\n")


async def test_a_clean_cut_ends_the_body_in_order(caller: Caller) -> None:
    caller.post(Protocol.CHAT, "sim;cut_after=2")
    told = await caller.reader.read()
    assert told.endswith(b"\r\n0\r\n\r\n")
    assert b"[DONE]" not in told


async def test_every_byte_in_a_chunk_of_its_own(caller: Caller) -> None:
    caller.post(Protocol.CHAT, "sim;text=a;split")
    await caller.head()
    assert [len(await caller.chunk()) for _ in range(50)] == [1] * 50


async def test_http10_ends_the_body_with_the_connection(caller: Caller) -> None:
    caller.post(Protocol.CHAT, "sim;text=a;http10")
    head, _, told = (await caller.reader.read()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.0 200 OK")
    assert b"transfer-encoding" not in head
    assert events(told)[-1] == (None, "[DONE]")


async def test_a_caller_that_speaks_http10_gets_no_chunks(caller: Caller) -> None:
    caller.post(Protocol.CHAT, "sim;text=a", version="1.0")
    assert events((await caller.reader.read()).partition(b"\r\n\r\n")[2])[-1] == (None, "[DONE]")


async def test_trailers_interim_and_second_answers(caller: Caller) -> None:
    caller.post(Protocol.CHAT, "sim;text=a;interim;trailers;twice;close")
    told = await caller.reader.read()
    assert told.startswith(b"HTTP/1.1 103 Early Hints\r\n")
    assert b"0\r\nx-simulated-trailer: 1\r\n\r\n" in told


async def test_a_second_answer_that_nobody_asked_for(caller: Caller) -> None:
    caller.post(Protocol.CHAT, "sim;text=a;twice", stream=False)
    first = await caller.head()
    await caller.reader.readexactly(int(first.split(b"content-length: ")[1].split(b"\r\n")[0]))
    assert (await caller.head()).startswith(b"HTTP/1.1 200 OK")


async def test_a_connection_that_closes_without_having_said_so(caller: Caller) -> None:
    caller.post(Protocol.CHAT, "sim;text=a;close_silently", stream=False)
    told = await caller.reader.read()
    assert b"connection: close" not in told


async def test_a_caller_that_waits_is_told_to_go_on(caller: Caller) -> None:
    caller.writer.write(b"POST /v1/messages HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n")
    assert await caller.head() == b"HTTP/1.1 100 Continue\r\n\r\n"
    caller.writer.write(b"{}")
    assert (await caller.head()).startswith(b"HTTP/1.1 400 Bad Request")


async def test_what_is_not_http_is_refused(caller: Caller) -> None:
    caller.writer.write(b"\x16\x03\x01 hello\r\n\r\n")
    assert (await caller.reader.read()).startswith(b"HTTP/1.1 400")


async def test_a_body_over_the_limit_is_refused(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MAX_BODY", 10)
    caller.post(Protocol.CHAT, "sim")
    assert (await caller.reader.read()).startswith(b"HTTP/1.1 413")


async def test_a_client_that_leaves_is_noticed(simulator: Simulator, caller: Caller) -> None:
    caller.post(Protocol.CHAT, "sim;stall_after=1")
    await caller.head()
    await caller.chunk()
    assert (simulator.tally.open_streams, simulator.tally.abandoned) == (1, 0)
    caller.writer.close()
    for _ in range(1000):
        if not simulator.tally.open_streams:
            break
        await asyncio.sleep(0.001)
    assert simulator.tally.abandoned == 1


async def test_a_client_that_reads_nothing_costs_bounded_memory(simulator: Simulator, caller: Caller) -> None:
    reader, writer = await asyncio.open_connection(simulator.host, simulator.port, limit=1024)
    slow = Caller(reader, writer)
    slow.post(Protocol.CHAT, "sim;words=200000")
    await slow.head()
    caller.post(Protocol.CHAT, "sim;text=a", stream=False)
    await caller.head()  # others are served meanwhile
    assert (simulator.tally.open_streams, simulator.tally.abandoned) == (1, 0)
    writer.close()


async def test_two_hundred_streams_at_once_are_all_whole(simulator: Simulator) -> None:
    async def one() -> bytes:
        reader, writer = await asyncio.open_connection(simulator.host, simulator.port)
        caller = Caller(reader, writer)
        caller.post(Protocol.CHAT, "sim;words=5;rate=50")
        await caller.head()
        told = await caller.body()
        writer.close()
        return told

    told = await asyncio.gather(*(one() for _ in range(200)))
    assert len({*told}) == 1
    assert events(told[0])[-1] == (None, "[DONE]")
