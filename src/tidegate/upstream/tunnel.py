"""A way through an HTTP proxy to a TLS upstream: CONNECT, before any TLS byte."""

import asyncio
import re
import socket

from tidegate import __version__
from tidegate.upstream.proxies import Proxy

_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9])(?: ([^\r\n]*))?\r\n")
_MAX_HEAD = 65_536


class TunnelRefused(Exception):
    """The proxy did not open the tunnel; the text says what it answered, for the operator."""


async def open_tunnel(sock: socket.socket, proxy: Proxy, address: str) -> None:
    """Ask the proxy at the other end of `sock` for a connection to `address` (host:port).

    Raises TunnelRefused or OSError; the socket stays the caller's to close.
    """
    loop = asyncio.get_running_loop()
    signed = ""
    if proxy.authorization is not None:
        signed = f"proxy-authorization: {proxy.authorization.reveal()}\r\n"
    head = (
        f"CONNECT {address} HTTP/1.1\r\nhost: {address}\r\nuser-agent: tidegate/{__version__}\r\n{signed}\r\n"
    )
    await loop.sock_sendall(sock, head.encode("ascii"))
    answer = bytearray()
    while (end := answer.find(b"\r\n\r\n")) < 0:
        part = await loop.sock_recv(sock, 4096)
        if not part:
            raise TunnelRefused("the proxy closed the connection")
        answer += part
        if len(answer) > _MAX_HEAD:
            raise TunnelRefused("the proxy's answer is too long")
    _check(bytes(answer), end + 4)


def _check(answer: bytes, end: int) -> None:
    """Accept only a 2xx with nothing after it: in TLS the client speaks first."""
    match = _STATUS.match(answer)
    if match is None:
        raise TunnelRefused("the proxy did not answer in HTTP/1.1")
    status = int(match[1])
    if status == 407:
        raise TunnelRefused("the proxy asks for credentials (407)")
    if not 200 <= status < 300:
        reason = (match[2] or b"").decode("ascii", "replace")[:80]
        raise TunnelRefused(f"the proxy answered CONNECT with {status} {reason}".rstrip())
    if len(answer) != end:
        raise TunnelRefused("the proxy sent bytes after its answer")
