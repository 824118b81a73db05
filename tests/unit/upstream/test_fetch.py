import asyncio
import gzip

import pytest
from tests.unit.upstream.conftest import MakeUpstream, Serve
from tests.unit.upstream.peers import HELLO, OK, answering, channel, eventually, once, request

from tidegate.core.failure import Kind, TidegateError
from tidegate.upstream.fetch import fetch


async def test_a_whole_answer(serve: Serve, upstreams: MakeUpstream) -> None:
    body = b'{"a": 1}' * 100
    packed = gzip.compress(body)
    peer = await serve(
        answering(
            OK + b"X-A: b\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(packed) + packed
        )
    )
    upstream = upstreams()
    there = channel(f"http://127.0.0.1:{peer.port}")
    answer = await fetch(upstream, there, request(), limit=1000, patience=5)
    assert answer == (200, {"x-a": "b"}, body)
    assert upstream.idle_connections == 1


async def test_an_answer_that_is_too_large(serve: Serve, upstreams: MakeUpstream) -> None:
    peer = await serve(answering(HELLO))
    upstream = upstreams()
    with pytest.raises(TidegateError) as told:
        await fetch(upstream, channel(f"http://127.0.0.1:{peer.port}"), request(), limit=4, patience=5)
    assert told.value.failure.detail == "the answer is larger than 4 bytes"


async def test_an_answer_that_does_not_come(serve: Serve, upstreams: MakeUpstream) -> None:
    peer = await serve(once(end="keep"))
    upstream = upstreams()
    with pytest.raises(TidegateError) as told:
        await fetch(upstream, channel(f"http://127.0.0.1:{peer.port}"), request(), limit=4, patience=0.05)
    assert told.value.failure.kind is Kind.TIMEOUT
    await eventually(lambda: upstream.open_connections == 0)


async def test_a_break_and_a_caller_who_leaves(serve: Serve, upstreams: MakeUpstream) -> None:
    peer = await serve(once(OK + b"content-length: 9\r\n\r\nhello"))
    upstream = upstreams()
    there = channel(f"http://127.0.0.1:{peer.port}")
    with pytest.raises(TidegateError):
        await fetch(upstream, there, request(), limit=100, patience=0)
    task = asyncio.ensure_future(fetch(upstream, there, request(), limit=100, patience=0))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually(lambda: upstream.open_connections == 0)
