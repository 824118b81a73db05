import asyncio
import socket
from typing import Any

import pytest
from tests.unit.upstream.certificates import Authority
from tests.unit.upstream.conftest import MakeUpstream, Serve
from tests.unit.upstream.peers import HELLO, OK, Line, Recorder, answering, channel, once, request

from tidegate.core.failure import Failure, Kind
from tidegate.exchange.ports import UpstreamRequest
from tidegate.upstream import race
from tidegate.upstream.race import Address

SECURE = "could not establish a secure connection to the upstream"


async def fails(upstream: Any, base_url: str, **more: Any) -> Failure:
    sink = Recorder()
    upstream.open(channel(base_url, **more), request(), sink)
    assert sink.events == []
    failure = (await sink.over()).failure
    assert failure is not None
    assert sink.events == ["failure"]
    return failure


async def test_the_request_on_the_wire(serve: Serve, upstreams: MakeUpstream) -> None:
    got: list[bytes] = []

    async def script(line: Line) -> None:
        got.append(await line.request())
        await line.send(HELLO)

    peer = await serve(script)
    sink = Recorder()
    upstreams().open(channel(f"http://127.0.0.1:{peer.port}/v1/"), request(b'{"a":1}', accept="*/*"), sink)
    await sink.over()
    assert got == [
        b"POST /v1/chat/completions HTTP/1.1\r\n"
        b"host: 127.0.0.1:%d\r\naccept-encoding: identity\r\nauthorization: Bearer sk-test\r\n"
        b"accept: */*\r\nuser-agent: tidegate/0.1.0\r\ncontent-type: application/json\r\n"
        b'content-length: 7\r\n\r\n{"a":1}' % peer.port
    ]


async def test_a_refused_connection_is_told_without_the_host(upstreams: MakeUpstream) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        failure = await fails(upstreams(), f"http://127.0.0.1:{taken.getsockname()[1]}")
    assert (failure.kind, failure.message) == (Kind.UPSTREAM, "could not connect to the upstream")
    assert "refused" in (failure.detail or "").lower()


@pytest.mark.parametrize("host", ["does-not-exist.invalid", "x" * 64 + ".example"])
async def test_a_name_that_is_not_found_is_told_without_the_host(upstreams: MakeUpstream, host: str) -> None:
    failure = await fails(upstreams(), f"http://{host}/")
    assert (failure.kind, failure.message) == (Kind.UPSTREAM, "could not connect to the upstream")


@pytest.mark.parametrize(
    ("more", "detail"),
    [
        ({"base_url": "ftp://x"}, "base_url must begin with https:// or http://"),
        (
            {"headers": {"content-length": "0"}},
            "header 'content-length' of the channel is set by the gateway itself",
        ),
        ({"ca_file": "/does/not/exist.pem"}, "ca_file /does/not/exist.pem: No such file or directory"),
    ],
)
async def test_a_channel_that_cannot_work_fails_its_calls(
    upstreams: MakeUpstream, more: dict[str, Any], detail: str
) -> None:
    failure = await fails(upstreams(), **{"base_url": "https://127.0.0.1:1"} | more)
    assert (failure.kind, failure.detail) == (Kind.UPSTREAM, detail)


async def test_a_request_that_would_break_the_framing_is_not_sent(upstreams: MakeUpstream) -> None:
    sink = Recorder()
    evil = UpstreamRequest("POST", "/x", (("x-a", "1\r\nx-b: 2"),), b"")
    call = upstreams().open(channel("http://127.0.0.1:1"), evil, sink)
    call.pause()
    call.resume()
    await sink.over()
    assert sink.failure is not None
    assert sink.failure.kind is Kind.INTERNAL


@pytest.mark.parametrize("way", ["cancel", "finish"])
async def test_a_call_that_is_to_fail_can_be_silenced(upstreams: MakeUpstream, way: str) -> None:
    upstream = upstreams()
    sink = Recorder()
    getattr(upstream.open(channel("ftp://x"), request(), sink), way)()
    await fails(upstream, "ftp://x")
    assert sink.events == []


async def test_tls_with_a_file_of_extra_roots(
    serve: Serve, upstreams: MakeUpstream, authority: Authority
) -> None:
    peer = await serve(answering(HELLO), tls=authority.server("127.0.0.1", "localhost"))
    upstream = upstreams()
    there = channel(f"https://localhost:{peer.port}", ca_file=authority.ca_file)
    for _ in range(2):
        sink = Recorder()
        upstream.open(there, request(), sink)
        assert (await sink.over()).body == b"hello"
    assert len(peer.lines) == 1
    assert peer.lines[0].writer.get_extra_info("ssl_object").version() in ("TLSv1.2", "TLSv1.3")


async def test_a_name_with_its_root_dot_is_the_same_name(
    serve: Serve, upstreams: MakeUpstream, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = await serve(answering(HELLO), tls=authority.server("rooted.example"))

    async def resolve(_: str, port: int) -> list[Address]:
        return [(int(socket.AF_INET), ("127.0.0.1", port))]

    monkeypatch.setattr(race, "_resolve", resolve)
    sink = Recorder()
    there = channel(f"https://rooted.example.:{peer.port}", ca_file=authority.ca_file)
    upstreams().open(there, request(), sink)
    assert (await sink.over()).body == b"hello"


async def test_tls_is_verified_always(serve: Serve, upstreams: MakeUpstream, authority: Authority) -> None:
    peer = await serve(answering(HELLO), tls=authority.server("other.example"))
    failure = await fails(upstreams(), f"https://127.0.0.1:{peer.port}")
    assert (failure.kind, failure.message) == (Kind.UPSTREAM, SECURE)
    failure = await fails(upstreams(), f"https://localhost:{peer.port}", ca_file=authority.ca_file)
    assert failure.message == SECURE
    assert "localhost" in (failure.detail or "")
    assert failure.detail is not None


async def test_an_expired_certificate_is_refused(
    serve: Serve, upstreams: MakeUpstream, authority: Authority
) -> None:
    peer = await serve(answering(HELLO), tls=authority.server("127.0.0.1", expired=True))
    failure = await fails(upstreams(), f"https://127.0.0.1:{peer.port}", ca_file=authority.ca_file)
    assert failure.message == SECURE
    assert "expired" in (failure.detail or "")


async def test_a_server_without_tls_is_told(serve: Serve, upstreams: MakeUpstream) -> None:
    async def script(line: Line) -> None:
        await line.reader.read(100)
        await line.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    peer = await serve(script)
    failure = await fails(upstreams(), f"https://127.0.0.1:{peer.port}")
    assert (failure.kind, failure.message) == (Kind.UPSTREAM, SECURE)


async def test_a_ca_file_without_certificates_is_told(upstreams: MakeUpstream, tmp_path: Any) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing")
    failure = await fails(upstreams(), "https://127.0.0.1:1", ca_file=str(empty))
    assert failure.message == SECURE


@pytest.mark.parametrize("length", [b"content-length: 11\r\n", b"transfer-encoding: chunked\r\n", b""])
async def test_a_cut_tls_connection_is_no_end(
    serve: Serve, upstreams: MakeUpstream, authority: Authority, length: bytes
) -> None:
    tls = authority.server("127.0.0.1")
    peer = await serve(once(OK + length + b"\r\n5\r\nhello\r\n", end="cut"), tls=tls)
    sink = Recorder()
    upstreams().open(channel(f"https://127.0.0.1:{peer.port}", ca_file=authority.ca_file), request(), sink)
    await sink.over()
    assert sink.failure is not None
    assert sink.failure.message == "the upstream closed the connection in mid-answer"


async def test_a_tls_close_in_order_ends_a_body_without_length(
    serve: Serve, upstreams: MakeUpstream, authority: Authority
) -> None:
    peer = await serve(once(OK + b"\r\nhello"), tls=authority.server("127.0.0.1"))
    sink = Recorder()
    upstreams().open(channel(f"https://127.0.0.1:{peer.port}", ca_file=authority.ca_file), request(), sink)
    await sink.over()
    assert (sink.body, sink.events[-1]) == (b"hello", "end")


ENDINGS = {
    "a length, then a close in order": (b"content-length: %d\r\n\r\n", "close"),
    "a length, then a bare end of file": (b"content-length: %d\r\n\r\n", "cut"),
    "a close in order": (b"x: %d\r\n\r\n", "close"),
}


@pytest.mark.parametrize(("head", "end"), ENDINGS.values(), ids=ENDINGS)
@pytest.mark.parametrize("size", [1_000, 100_000])
async def test_a_slow_client_loses_nothing_of_a_tls_answer_that_ends_with_a_close(
    serve: Serve, upstreams: MakeUpstream, authority: Authority, head: bytes, end: str, size: int
) -> None:
    body = bytes(range(250)) * (size // 250)
    start, rest = body[:500], body[500:]
    paused = asyncio.Event()

    async def script(line: Line) -> None:
        await line.request()
        await line.send(OK + head % size + start)
        await paused.wait()
        await line.send(rest)
        line.cut() if end == "cut" else line.close()

    peer = await serve(script, tls=authority.server("127.0.0.1"))
    sink = Recorder()
    there = channel(f"https://127.0.0.1:{peer.port}", ca_file=authority.ca_file)
    call = upstreams().open(there, request(), sink)
    await sink.until(lambda: sink.body)
    call.pause()
    paused.set()
    await asyncio.sleep(0.05)  # nothing tells when the peer's end of file has come
    assert sink.body == start
    call.resume()
    await sink.over()
    assert (sink.failure, sink.body) == (None, body)
