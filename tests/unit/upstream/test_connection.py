import asyncio
from typing import Any

import pytest
from tests.unit.upstream.conftest import MakeUpstream, Serve
from tests.unit.upstream.peers import HELLO, OK, Line, Recorder, answering, channel, once, request, turns

from tidegate.core.failure import Kind

CUT = "the upstream closed the connection in mid-answer"
MALFORMED = "the upstream sent a malformed answer"
UNANSWERED = "the upstream closed the connection before it answered"


async def ask(serve: Serve, upstreams: MakeUpstream, script: Any, **limits: Any) -> Recorder:
    peer = await serve(script)
    upstream = upstreams(**limits)
    sink = Recorder()
    upstream.open(channel(f"http://127.0.0.1:{peer.port}/v1"), request(), sink)
    assert not sink.events  # never from inside `open`
    return await sink.over()


WHOLE = {
    "content length": [OK + b"Content-Length: 10\r\n\r\nhello", b"world"],
    "chunked": [
        OK + b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"5;x=y\r\nworld\r\n",
        b"0\r\n\r\n",
    ],
    "chunked with trailers": [
        OK + b"Transfer-Encoding: Chunked\r\n\r\na\r\nhelloworld\r\n0\r\n",
        b"x-sum: 1\r\nx-more: 2\r\n\r\n",
    ],
    "interim heads": [
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
        + OK
        + b"content-length: 10\r\n\r\nhelloworld",
    ],
    "http/1.0 with a length": [b"HTTP/1.0 200 OK\r\ncontent-length: 10\r\n\r\nhelloworld"],
    "bytes behind the end": [OK + b"content-length: 10\r\n\r\nhelloworldHTTP/1.1 200 OK\r\n\r\nmore"],
    "garbage behind the end": [OK + b"content-length: 10\r\nconnection: close\r\n\r\nhelloworldgarbage"],
    "an early line end": [b"\r\n" + OK + b"content-length: 10\r\n\r\nhelloworld"],
}


@pytest.mark.parametrize("writes", WHOLE.values(), ids=WHOLE)
async def test_a_whole_answer_is_told_once(
    serve: Serve, upstreams: MakeUpstream, writes: list[bytes]
) -> None:
    sink = await ask(serve, upstreams, once(*writes, end="keep"))
    assert (sink.status, sink.body, sink.events[0], sink.events[-1]) == (200, b"helloworld", "head", "end")
    assert sink.headers.keys().isdisjoint({"content-length", "transfer-encoding"})


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
async def test_a_close_in_order_ends_a_body_without_length(
    serve: Serve, upstreams: MakeUpstream, version: bytes
) -> None:
    sink = await ask(serve, upstreams, once(b"HTTP/" + version + b" 200 OK\r\n\r\nhello", b"world"))
    assert (sink.body, sink.events[-1]) == (b"helloworld", "end")


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
async def test_some_answers_have_no_body(serve: Serve, upstreams: MakeUpstream, status: bytes) -> None:
    sink = await ask(serve, upstreams, once(b"HTTP/1.1 " + status + b"\r\n\r\n", end="keep"))
    assert sink.events == ["head", "end"]


async def test_a_redirect_is_passed_on(serve: Serve, upstreams: MakeUpstream) -> None:
    sink = await ask(
        serve, upstreams, once(b"HTTP/1.1 307 Elsewhere\r\nLocation: http://x/\r\ncontent-length: 0\r\n\r\n")
    )
    assert (sink.status, sink.headers["location"], sink.events) == (307, "http://x/", ["head", "end"])


async def test_the_last_value_of_a_header_wins_and_names_are_lower_case(
    serve: Serve, upstreams: MakeUpstream
) -> None:
    head = OK + b"X-A: 1\r\nx-a: 2  \r\nX-Empty:\r\ncontent-length: 0\r\n\r\n"
    sink = await ask(serve, upstreams, once(head, end="keep"))
    assert sink.headers == {"x-a": "2", "x-empty": ""}


BROKEN = {
    "nothing": ([], "close", UNANSWERED),
    "nothing, reset": ([], "reset", UNANSWERED),
    "half a head": ([OK + b"content-le"], "close", UNANSWERED),
    "short of its length": ([OK + b"content-length: 10\r\n\r\nhello"], "close", CUT),
    "short of its length, reset": ([OK + b"content-length: 10\r\n\r\nhello"], "reset", CUT),
    "chunked, cut": ([OK + b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"], "close", CUT),
    "chunked, cut in the last chunk": (
        [OK + b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"],
        "close",
        CUT,
    ),
    "no length, reset": ([OK + b"\r\nhello"], "reset", CUT),
    "bad chunk size": ([OK + b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n"], "keep", MALFORMED),
    "two lengths": ([OK + b"content-length: 5\r\ncontent-length: 6\r\n\r\nhello"], "keep", MALFORMED),
    "length and chunked": (
        [OK + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n"],
        "keep",
        MALFORMED,
    ),
    "unknown transfer encoding": ([OK + b"transfer-encoding: gzip\r\n\r\n"], "keep", MALFORMED),
    "two transfer encodings": ([OK + b"transfer-encoding: gzip, chunked\r\n\r\n"], "keep", MALFORMED),
    "switched protocols": (
        [b"HTTP/1.1 101 X\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nab"],
        "keep",
        MALFORMED,
    ),
    "101 without upgrade": ([b"HTTP/1.1 101 X\r\n\r\n"], "keep", MALFORMED),
    "status below 100": ([b"HTTP/1.1 099 X\r\n\r\n"], "keep", MALFORMED),
    "http/2": ([b"\x00\x00\x12\x04\x00\x00\x00\x00\x00"], "keep", MALFORMED),
    "not http": ([b"SSH-2.0-OpenSSH_9.2\r\n"], "keep", MALFORMED),
    "folded header": ([OK + b"x: a\r\n b\r\n\r\n"], "keep", MALFORMED),
}


@pytest.mark.parametrize(("writes", "end", "message"), BROKEN.values(), ids=BROKEN)
async def test_a_broken_answer_is_a_failure(
    serve: Serve, upstreams: MakeUpstream, writes: list[bytes], end: str, message: str
) -> None:
    sink = await ask(serve, upstreams, once(*writes, end=end))
    assert sink.failure is not None
    assert (sink.failure.kind, sink.failure.message) == (Kind.UPSTREAM, message)
    assert sink.failure.detail
    assert sink.body in (b"", b"hello")


async def test_bytes_before_a_break_in_the_same_read_are_told(serve: Serve, upstreams: MakeUpstream) -> None:
    answer = OK + b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n"
    sink = await ask(serve, upstreams, once(answer, end="keep"))
    assert (sink.events, sink.body) == (["head", "body", "failure"], b"hello")


TOO_MUCH = {
    "one long value": OK + b"x: " + b"a" * 70_000 + b"\r\n\r\n",
    "an endless value": OK + b"x: " + b"a" * 70_000,
    "many headers": OK + b"".join(b"x-%d: 1\r\n" % number for number in range(257)) + b"\r\n",
    "many interim heads": b"HTTP/1.1 100 Continue\r\n\r\n" * 4_000,
    "an endless trailer": OK + b"transfer-encoding: chunked\r\n\r\n0\r\nx: " + b"a" * 140_000,
    "an endless chunk extension": OK + b"transfer-encoding: chunked\r\n\r\n5;" + b"a" * 140_000,
}


@pytest.mark.parametrize("answer", TOO_MUCH.values(), ids=TOO_MUCH)
async def test_what_is_not_body_is_bounded(serve: Serve, upstreams: MakeUpstream, answer: bytes) -> None:
    pieces = [answer[start : start + 16_384] for start in range(0, len(answer), 16_384)]
    sink = await ask(serve, upstreams, once(*pieces, end="keep"))
    assert sink.failure is not None
    assert sink.failure.message == MALFORMED


async def test_a_head_at_the_limits_is_read(serve: Serve, upstreams: MakeUpstream) -> None:
    headers = b"".join(b"x-%d: 1\r\n" % number for number in range(254)) + b"y: " + b"a" * 60_000
    sink = await ask(serve, upstreams, once(OK + headers + b"\r\ncontent-length: 0\r\n\r\n", end="keep"))
    assert sink.events == ["head", "end"]


async def test_what_arrives_in_one_read_is_told_in_one_piece(serve: Serve, upstreams: MakeUpstream) -> None:
    chunks = b"".join(b"1\r\n%c\r\n" % letter for letter in b"abcdefgh") + b"0\r\n\r\n"
    sink = await ask(serve, upstreams, once(OK + b"transfer-encoding: chunked\r\n\r\n", chunks, end="keep"))
    assert sink.pieces == [b"abcdefgh"]


async def test_an_answer_before_the_request_is_out_is_read(serve: Serve, upstreams: MakeUpstream) -> None:
    async def refuse(line: Line) -> None:
        await line.reader.readuntil(b"\r\n\r\n")
        await line.send(b"HTTP/1.1 413 Too Large\r\ncontent-length: 5\r\n\r\nlarge")
        await line.reader.read(1)
        line.close()  # with bytes unread: the kernel sends a reset

    peer = await serve(refuse)
    upstream = upstreams()
    sink = Recorder()
    body = b"x" * 30_000_000
    upstream.open(channel(f"http://127.0.0.1:{peer.port}"), request(body), sink)
    await sink.over()
    assert (sink.status, sink.body) == (413, b"large")
    await turns(3)
    assert upstream.idle_connections == 0


async def test_a_large_body_arrives_whole(serve: Serve, upstreams: MakeUpstream) -> None:
    got: list[bytes] = []

    async def script(line: Line) -> None:
        got.append(await line.request())
        await line.send(HELLO)

    peer = await serve(script)
    sink = Recorder()
    body = bytes(range(256)) * 20_000
    upstreams().open(channel(f"http://127.0.0.1:{peer.port}"), request(body), sink)
    await sink.over()
    assert got[0].endswith(body)


async def test_a_sink_that_raises_costs_its_own_call_only(serve: Serve, upstreams: MakeUpstream) -> None:
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    peer = await serve(answering(HELLO))
    upstream = upstreams()
    there = channel(f"http://127.0.0.1:{peer.port}")
    bad = Recorder()

    def burst(event: str) -> None:
        if event == "body":
            raise ValueError("a bug")

    bad.react = burst
    upstream.open(there, request(), bad)
    await bad.over()
    good = Recorder()
    upstream.open(there, request(), good)
    assert (await good.over()).body == b"hello"
    assert bad.events[-1] in ("failure", "end")
    assert complaints
