"""Scripted peers: a server that writes exact bytes, a CONNECT proxy, and a sink that records."""

import asyncio
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.exchange.ports import UpstreamRequest
from tidegate.routing.catalog import Channel

PATIENCE = 60.0
OK = b"HTTP/1.1 200 OK\r\n"
HELLO = OK + b"content-length: 5\r\n\r\nhello"


class Line:
    """The server's end of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def request(self) -> bytes:
        """One whole request."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        for line in head.split(b"\r\n"):
            if line.startswith(b"content-length: "):
                return head + await self.reader.readexactly(int(line[16:]))
        return head

    async def send(self, *writes: bytes) -> None:
        """Each on its own in the peer's reads, as far as a turn of the loop can tell."""
        for write in writes:
            self.writer.write(write)
            await self.writer.drain()
            await turns(3)

    def close(self) -> None:
        self.writer.close()

    def cut(self) -> None:
        """Close without TLS's own goodbye."""
        self.writer.transport.abort()

    def reset(self) -> None:
        """Close with a TCP reset."""
        sock: socket.socket = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def gone(self) -> bytes:
        """Wait until the other side has closed; what it sent before that."""
        try:
            return await self.reader.read()
        except ConnectionError:
            return b""


Script = Callable[[Line], Awaitable[None]]


class Peer:
    """A server that plays a script on every connection."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.lines: list[Line] = []
        self.errors: list[Exception] = []
        self.tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self._server: asyncio.Server | None = None

    async def start(self, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> "Peer":
        self._server = await asyncio.start_server(self._serve, host, 0, ssl=tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        line = Line(reader, writer)
        self.lines.append(line)
        try:
            await self.script(line)
        except asyncio.IncompleteReadError:
            pass  # the client left, as many tests want
        except ConnectionError:
            pass
        except Exception as error:
            self.errors.append(error)
        finally:
            writer.close()
            self.tasks.discard(task)

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in tuple(self.tasks):
            task.cancel()
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=PATIENCE)
        assert not self.errors


class Recorder:
    """A sink that writes down what it hears, in order."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.connected = 0
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.pieces: list[bytes] = []
        self.failure: Failure | None = None
        self._over = asyncio.Event()
        self._heard = asyncio.Event()
        self.react: Callable[[str], None] = lambda _: None

    def on_connected(self) -> None:
        assert not self.events
        self.connected += 1

    def on_head(self, status: int, headers: Mapping[str, str]) -> None:
        self.status, self.headers = status, headers
        self._note("head")

    def on_body(self, data: bytes) -> None:
        assert data
        self.pieces.append(data)
        self._note("body")

    def on_end(self) -> None:
        self._note("end")
        self._over.set()

    def on_failure(self, failure: Failure) -> None:
        self.failure = failure
        self._note("failure")
        self._over.set()

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)

    async def over(self) -> "Recorder":
        async with asyncio.timeout(PATIENCE):
            await self._over.wait()
        assert self.events[-1] in ("end", "failure")
        assert len([event for event in self.events if event in ("end", "failure")]) == 1
        return self

    async def until(self, condition: Callable[[], Any]) -> None:
        """Wait for something to be true, looking at it with every event."""
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self._heard.clear()
                await self._heard.wait()

    def _note(self, event: str) -> None:
        assert not self._over.is_set(), f"{event} after the end"
        self.events.append(event)
        self._heard.set()
        self.react(event)


async def turns(count: int) -> None:
    """Let the loop go round."""
    for _ in range(count):
        await asyncio.sleep(0)


async def eventually(condition: Callable[[], Any]) -> None:
    """Wait for something that no event tells."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.001)


def channel(base_url: str, **more: Any) -> Channel:
    settings: dict[str, Any] = {
        "name": "c",
        "protocol": Protocol.CHAT,
        "api_key": Secret("sk-test"),
        "models": {"m": "m"},
    }
    return Channel(base_url=base_url, **settings | more)


def request(body: bytes = b"{}", path: str = "/chat/completions", **headers: str) -> UpstreamRequest:
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return UpstreamRequest("POST", path, named, body)


def answering(*writes: bytes) -> Script:
    """A script that answers every request with the same writes and keeps the connection."""

    async def script(line: Line) -> None:
        while True:
            await line.request()
            await line.send(*writes)

    return script


def once(*writes: bytes, end: str = "close") -> Script:
    """A script that answers one request, then closes, cuts or resets the connection."""

    async def script(line: Line) -> None:
        await line.request()
        await line.send(*writes)
        match end:
            case "close":
                line.close()
            case "cut":
                line.cut()
            case "reset":
                line.reset()
            case "keep":
                await line.gone()
            case _:
                raise ValueError(end)

    return script
