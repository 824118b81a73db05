"""A raw HTTP/1.1 client: exact bytes, their arrival times, and how the connection ended."""

import asyncio
import json
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from tests.harness.sse import KEEPALIVE

BOUND = 60.0
"""Seconds for an answer. Nothing takes so long, but many scenarios side by side on a busy machine may."""


class Ended(Enum):
    """How a body ended."""

    WHOLE = "whole"
    """By its own framing: last chunk, content length, or close where nothing else delimits."""
    TRUNCATED = "truncated"
    RESET = "reset"


@dataclass
class Reply:
    """One answer as it arrives. `arrivals` are (seconds since the request was sent, bytes of the body)."""

    status: int
    version: str
    headers: list[tuple[str, str]]
    head_at: float
    reader: asyncio.StreamReader
    connection: "Connection"
    bodyless: bool = False
    body: bytes = b""
    arrivals: list[tuple[float, bytes]] = field(default_factory=list)
    ended: Ended | None = None
    _size: int | None = None

    def header(self, name: str) -> str | None:
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        assert len(values) < 2, f"{name} came {len(values)} times"
        return values[0] if values else None

    @property
    def said(self) -> bytes:
        """The body without keepalive comments: on a slow machine they come where nobody asked for silence."""
        return self.body.replace(KEEPALIVE, b"")

    def json(self) -> Any:
        return json.loads(self.body)

    async def until(self, wanted: bytes, within: float = BOUND) -> float:
        """Read until the body so far holds `wanted`; seconds since the request was sent."""
        async with asyncio.timeout(within):
            while wanted not in self.body:
                assert self.ended is None, f"ended without {wanted!r}: {self.body[-500:]!r}"
                await self._more()
        return self.arrivals[-1][0]

    async def finish(self, within: float = BOUND) -> "Reply":
        """Read to the end."""
        async with asyncio.timeout(within):
            while self.ended is None:
                await self._more()
        return self

    async def quiet(self, seconds: float) -> bytes:
        """What arrives in the next seconds, though nothing may."""
        before = len(self.body)
        try:
            async with asyncio.timeout(seconds):
                while self.ended is None:
                    await self._more()
        except TimeoutError:
            pass
        return self.body[before:]

    async def _more(self) -> None:
        try:
            part = await self._part()
        except (asyncio.IncompleteReadError, ConnectionResetError, BrokenPipeError) as broken:
            reset = not isinstance(broken, asyncio.IncompleteReadError)
            self.ended = Ended.RESET if reset else Ended.TRUNCATED
            return
        if part:
            self.body += part
            self.arrivals.append((time.monotonic() - self.connection.sent_at, part))

    async def _part(self) -> bytes:
        if self.bodyless:
            self.ended = Ended.WHOLE
            return b""
        if (self.header("transfer-encoding") or "").lower() == "chunked":
            return await self._chunk()
        length = self.header("content-length")
        if length is None:
            part = await self.reader.read(65536)
            self.ended = None if part else Ended.WHOLE
            return part
        left = int(length) - len(self.body)
        part = await self.reader.readexactly(left) if left else b""
        self.ended = Ended.WHOLE
        return part

    async def _chunk(self) -> bytes:
        if self._size is None:  # kept over a time-out between the size and the chunk
            self._size = int((await self.reader.readuntil(b"\r\n")).split(b";")[0], 16)
        size = self._size
        part = (await self.reader.readexactly(size + 2))[:-2]
        self._size = None
        if not size:
            self.ended = Ended.WHOLE
        return part


class Connection:
    """One TCP connection; requests may follow each other on it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.sent_at = time.monotonic()

    @classmethod
    async def open(cls, port: int, *, receive_buffer: int | None = None) -> "Connection":
        """`receive_buffer` in bytes makes a client that soon stops taking data."""
        sock = socket.socket()
        if receive_buffer is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
        limit = 64 * 1024 * 1024 if receive_buffer is None else 2048
        return cls(*await asyncio.open_connection(sock=sock, limit=limit))

    async def send(self, data: bytes) -> None:
        self.sent_at = time.monotonic()
        self.writer.write(data)
        await self.writer.drain()

    async def reply(self, within: float = BOUND, *, bodyless: bool = False) -> Reply:
        """The head of the next answer; `bodyless` after a HEAD request."""
        async with asyncio.timeout(within):
            head = await self.reader.readuntil(b"\r\n\r\n")
        status_line, *lines = head[:-4].decode("latin-1").split("\r\n")
        version, status = status_line.split(" ", 2)[:2]
        headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        at = time.monotonic() - self.sent_at
        bodyless = bodyless or status in ("204", "304")
        return Reply(int(status), version, headers, at, self.reader, self, bodyless)

    def vanish(self) -> None:
        """Leave without a word: TCP reset."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    def close(self) -> None:
        """Leave in order."""
        self.writer.close()


def request_bytes(
    method: str,
    target: str,
    headers: Sequence[tuple[str, str]] = (),
    body: bytes | None = None,
    version: str = "HTTP/1.1",
) -> bytes:
    """A request in one piece; `host` and `content-length` are added where absent."""
    names = {name.lower() for name, _ in headers}
    lines = [f"{method} {target} {version}"]
    if "host" not in names:
        lines.append("host: gateway.test")
    lines += [f"{name}: {value}" for name, value in headers]
    if body is not None and not names & {"content-length", "transfer-encoding"}:
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b"")


async def fetch(
    port: int,
    method: str,
    target: str,
    headers: Sequence[tuple[str, str]] = (),
    body: bytes | None = None,
    within: float = BOUND,
) -> Reply:
    """One request on a connection of its own, answer read to its end."""
    connection = await Connection.open(port)
    try:
        await connection.send(request_bytes(method, target, headers, body))
        reply = await connection.reply(within, bodyless=method == "HEAD")
        return await reply.finish(within)
    finally:
        connection.close()
