import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.upstream.certificates import Authority
from tests.unit.upstream.conftest import MakeUpstream, Serve
from tests.unit.upstream.peers import (
    HELLO,
    Line,
    Peer,
    Recorder,
    answering,
    channel,
    eventually,
    request,
    turns,
)

from tidegate.core.failure import Failure, Kind


class Tunnels:
    """A CONNECT proxy in a script: answers as told, and joins both ways if that is 200."""

    def __init__(self, answer: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n") -> None:
        self.answer = answer
        self.heads: list[bytes] = []

    async def __call__(self, line: Line) -> None:
        self.heads.append(await line.request())
        await line.send(self.answer)
        if b" 200 " not in self.answer:
            line.close()
            return
        host, port = self.heads[-1].split(b" ")[1].decode().rsplit(":", 1)
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            await asyncio.gather(_copy(line.reader, writer), _copy(reader, line.writer))
        finally:
            writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while part := await reader.read(65_536):
        writer.write(part)
        await writer.drain()
    writer.close()


@pytest.fixture
def hole() -> Iterator[int]:
    """A port that takes a connection and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


async def outcome(upstream: Any, base_url: str, **more: Any) -> Recorder:
    sink = Recorder()
    upstream.open(channel(base_url, **more), request(), sink)
    return await sink.over()


async def failure(upstream: Any, base_url: str, **more: Any) -> Failure:
    told = (await outcome(upstream, base_url, **more)).failure
    assert told is not None
    return told


def proxied(peer: Peer, scheme: str = "https", user: str = "") -> dict[str, str]:
    return {f"{scheme.upper()}_PROXY": f"http://{user}127.0.0.1:{peer.port}"}


async def test_https_goes_through_a_tunnel(
    serve: Serve, upstreams: MakeUpstream, authority: Authority
) -> None:
    target = await serve(answering(HELLO), tls=authority.server("localhost"))
    tunnels = Tunnels()
    upstream = upstreams(proxied(await serve(tunnels), user="us%40er:secret@"))
    there = f"https://localhost:{target.port}"
    own = channel(there, ca_file=authority.ca_file)
    for _ in range(2):
        sink = Recorder()
        upstream.open(own, request(), sink)
        assert (await sink.over()).body == b"hello"
    assert len(tunnels.heads) == 1
    assert tunnels.heads[0].startswith(
        b"CONNECT localhost:%d HTTP/1.1\r\nhost: localhost:%d\r\n" % (target.port, target.port)
    )
    assert b"\r\nproxy-authorization: Basic dXNAZXI6c2VjcmV0\r\n" in tunnels.heads[0]


async def test_a_tunnel_does_not_weaken_tls(
    serve: Serve, upstreams: MakeUpstream, authority: Authority
) -> None:
    target = await serve(answering(HELLO), tls=authority.server("other.example"))
    upstream = upstreams(proxied(await serve(Tunnels())))
    told = await failure(upstream, f"https://localhost:{target.port}", ca_file=authority.ca_file)
    assert told.message == "could not establish a secure connection to the upstream"


async def test_http_is_asked_of_the_proxy_in_absolute_form(serve: Serve, upstreams: MakeUpstream) -> None:
    got: list[bytes] = []

    async def script(line: Line) -> None:
        got.append(await line.request())
        await line.send(HELLO)

    upstream = upstreams(proxied(await serve(script), "http", "u:p@"))
    sink = await outcome(upstream, "http://upstream.invalid/v1")
    assert sink.body == b"hello"
    assert got[0].startswith(
        b"POST http://upstream.invalid/v1/chat/completions HTTP/1.1\r\nhost: upstream.invalid\r\n"
    )
    assert b"\r\nproxy-authorization: Basic dTpw\r\n" in got[0]


async def test_no_proxy_goes_directly(serve: Serve, upstreams: MakeUpstream) -> None:
    target = await serve(answering(HELLO))
    upstream = upstreams({"HTTP_PROXY": "http://127.0.0.1:1", "NO_PROXY": "127.0.0.0/8"})
    assert (await outcome(upstream, f"http://127.0.0.1:{target.port}")).body == b"hello"


REFUSALS = {
    b"HTTP/1.1 403 Forbidden by policy\r\n\r\n": "the proxy answered CONNECT with 403 Forbidden by policy",
    b"HTTP/1.0 502\r\n\r\n": "the proxy answered CONNECT with 502",
    b"HTTP/1.1 407 Who?\r\nproxy-authenticate: Basic\r\n\r\n": "the proxy asks for credentials (407)",
    b"SSH-2.0-x\r\n\r\n": "the proxy did not answer in HTTP/1.1",
    b"HTTP/1.1 200 OK\r\n": "the proxy closed the connection",
    b"": "the proxy closed the connection",
    b"HTTP/1.1 299 OK\r\n\r\n\x16\x03": "the proxy sent bytes after its answer",
    b"HTTP/1.1 403 " + b"x" * 70_000: "the proxy's answer is too long",
}


@pytest.mark.parametrize(("answer", "detail"), REFUSALS.items(), ids=list(REFUSALS.values()))
async def test_a_proxy_that_refuses_is_told(
    serve: Serve, upstreams: MakeUpstream, answer: bytes, detail: str
) -> None:
    async def script(line: Line) -> None:
        await line.request()
        await line.send(answer)

    upstream = upstreams(proxied(await serve(script), user="u:secret@"))
    told = await failure(upstream, "https://upstream.invalid")
    assert (told.kind, told.message) == (Kind.UPSTREAM, "the proxy refused to connect to the upstream")
    assert told.detail == detail


async def test_a_proxy_that_resets_or_is_not_there_is_told(serve: Serve, upstreams: MakeUpstream) -> None:
    async def script(line: Line) -> None:
        await line.request()
        line.reset()

    for environ in (proxied(await serve(script)), {"HTTPS_PROXY": "http://127.0.0.1:1"}):
        told = await failure(upstreams(environ), "https://upstream.invalid")
        assert (told.kind, told.message) == (Kind.UPSTREAM, "could not connect to the upstream")
        assert (told.detail or "").startswith("proxy 127.0.0.1: ")


async def test_a_bad_proxy_setting_is_told_without_its_password(upstreams: MakeUpstream) -> None:
    told = await failure(upstreams({"HTTPS_PROXY": "socks5://u:secret@p:1"}), "https://upstream.invalid")
    assert told.message == "the channel is misconfigured"
    assert told.detail == "HTTPS_PROXY: only http:// proxies are supported"


@pytest.mark.parametrize("through_proxy", [False, True])
async def test_the_connect_timeout_covers_tls_and_the_proxy(
    upstreams: MakeUpstream, hole: int, through_proxy: bool
) -> None:
    environ = {"HTTPS_PROXY": f"http://127.0.0.1:{hole}"} if through_proxy else {}
    there = "https://upstream.invalid" if through_proxy else f"https://127.0.0.1:{hole}"
    upstream = upstreams(environ)
    told = await failure(upstream, there, connect_timeout=0.05)
    assert (told.kind, told.message) == (Kind.TIMEOUT, "the upstream did not accept a connection in time")
    assert told.detail == "connect_timeout of 0.05 s is over"
    await eventually(lambda: upstream.open_connections == 0)


async def test_the_connect_timeout_ends_with_the_connection(serve: Serve, upstreams: MakeUpstream) -> None:
    async def script(line: Line) -> None:
        await line.request()
        await asyncio.sleep(0.8)
        await line.send(HELLO)

    peer = await serve(script)
    sink = await outcome(upstreams(), f"http://127.0.0.1:{peer.port}", connect_timeout=0.5)
    assert sink.body == b"hello"


async def test_a_timeout_of_zero_is_none(serve: Serve, upstreams: MakeUpstream, authority: Authority) -> None:
    peer = await serve(answering(HELLO), tls=authority.server("127.0.0.1"))
    there = f"https://127.0.0.1:{peer.port}"
    sink = await outcome(upstreams(), there, connect_timeout=0.0, ca_file=authority.ca_file)
    assert sink.body == b"hello"


async def test_a_peer_that_closes_in_the_handshake_is_told(serve: Serve, upstreams: MakeUpstream) -> None:
    async def script(line: Line) -> None:
        await line.reader.read(10)
        line.close()

    peer = await serve(script)
    upstream = upstreams()
    told = await failure(upstream, f"https://127.0.0.1:{peer.port}")
    assert told.kind is Kind.UPSTREAM
    assert upstream.open_connections == 0


async def test_a_peer_that_speaks_first_is_not_listened_to(serve: Serve, upstreams: MakeUpstream) -> None:
    async def script(line: Line) -> None:
        await line.send(HELLO)
        await line.gone()

    peer = await serve(script)
    sink = await outcome(upstreams(), f"http://127.0.0.1:{peer.port}")
    assert sink.events[-1] in ("failure", "end")


@pytest.mark.parametrize("count", range(1, 60, 2))
@pytest.mark.parametrize("through_proxy", [False, True])
async def test_cancelling_at_any_turn_leaves_no_socket(
    serve: Serve, upstreams: MakeUpstream, authority: Authority, count: int, through_proxy: bool
) -> None:
    target = await serve(answering(HELLO), tls=authority.server("127.0.0.1"))
    upstream = upstreams(proxied(await serve(Tunnels())) if through_proxy else {})
    sink = Recorder()
    there = channel(f"https://127.0.0.1:{target.port}", ca_file=authority.ca_file)
    call = upstream.open(there, request(), sink)
    await turns(count)
    over = "end" in sink.events
    call.cancel()
    heard = list(sink.events)
    await turns(10)
    assert sink.events == heard
    await eventually(lambda: upstream.open_connections == (1 if over else 0))
