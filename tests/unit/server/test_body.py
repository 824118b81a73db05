"""A request body is read whole, in time and within its size."""

import asyncio
import gzip
from typing import Any

import pytest
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_exceptions import TransferEncodingError
from aiohttp.streams import EmptyStreamReader, StreamReader
from aiohttp.web_protocol import RequestPayloadError

from tidegate.core.failure import Failure, Kind
from tidegate.server.body import CUT, TOO_LARGE, TOO_SLOW, read_body


async def reader() -> StreamReader:
    loop = asyncio.get_running_loop()
    protocol = BaseProtocol(loop)
    protocol.connection_made(asyncio.Transport())
    return StreamReader(protocol, 2**16, loop=loop)


async def fed(*parts: bytes, end: bool = True) -> StreamReader:
    content = await reader()
    for part in parts:
        content.feed_data(part)
    if end:
        content.feed_eof()
    return content


async def test_a_body_that_is_there_already() -> None:
    assert await read_body(await fed(b"ab", b"c"), "", 3, 30) == b"abc"
    assert await read_body(await fed(b"ab", b"c"), "", 2, 30) is TOO_LARGE
    assert await read_body(EmptyStreamReader(), "", 2, 30) == b""
    assert await read_body(await fed(), "", 0, 30) == b""


async def test_a_body_that_comes_in_parts() -> None:
    content = await fed(b"a", end=False)
    reading = asyncio.get_running_loop().create_task(read_body(content, "", 3, 30))
    for part in (b"b", b"c"):
        await asyncio.sleep(0)
        content.feed_data(part)
    content.feed_eof()
    assert await reading == b"abc"


async def test_a_body_that_does_not_end_is_refused_once_it_is_too_large() -> None:
    content = await fed(b"abcd", end=False)
    assert await asyncio.wait_for(read_body(content, "", 3, 30), 5) is TOO_LARGE


async def test_a_body_that_does_not_come_in_time() -> None:
    assert await read_body(await fed(b"a", end=False), "", 9, 0.01) is TOO_SLOW


async def test_a_patience_of_zero_never_ends() -> None:
    content = await fed(b"a", end=False)
    reading = asyncio.get_running_loop().create_task(read_body(content, "", 9, 0))
    await asyncio.sleep(0)
    assert not reading.done()
    content.feed_eof()
    assert await reading == b"a"


@pytest.mark.parametrize("fault", [TransferEncodingError("x"), RequestPayloadError("x")])
async def test_a_body_that_is_cut_or_malformed(fault: Exception) -> None:
    content = await fed(b"a", end=False)
    content.set_exception(fault)
    assert await read_body(content, "", 9, 30) is CUT


async def test_a_client_that_leaves_is_told_to_the_caller() -> None:
    content = await fed(b"a", end=False)
    content.set_exception(ConnectionResetError("gone"))
    with pytest.raises(ConnectionResetError):
        await read_body(content, "", 9, 30)


async def test_a_compressed_body_and_what_is_wrong_with_one() -> None:
    packed = gzip.compress(b"x" * 100)
    assert await read_body(await fed(packed), "gzip", 100, 30) == b"x" * 100
    for parts, encoding, limit, kind in (
        ([packed], "gzip", 99, Kind.BODY_TOO_LARGE),
        ([packed[:-4]], "gzip", 100, Kind.INVALID_REQUEST),
        ([b"plain"], "gzip", 100, Kind.INVALID_REQUEST),
        ([packed], "rot13", 100, Kind.INVALID_REQUEST),
    ):
        found: Any = await read_body(await fed(*parts), encoding, limit, 30)
        assert isinstance(found, Failure)
        assert found.kind is kind


async def test_no_encoding_by_another_name() -> None:
    assert await read_body(await fed(b"abc"), "identity", 3, 30) == b"abc"
    assert await read_body(await fed(b"abc"), "identity", 2, 30) is TOO_LARGE
