"""A scripted upstream: a TCP server in its own thread that plays answers and records requests."""

import asyncio
import contextlib
import json
import socket
import ssl
import struct
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, assert_never

from tests.harness.script import Answer, End, Framing, Gate, Pause, Step

_PATIENCE = 60.0
LET_GO_WITHIN = 3.5
"""Seconds; less than the time-outs of `settings.server`."""


class PeerGoneError(Exception):
    """The other side closed while an answer was being played."""


@dataclass
class Connection:
    """One TCP connection of the gateway; `closed_at` is a monotonic time."""

    number: int
    closed_at: float | None = None


@dataclass
class Seen:
    """One request as it arrived. `headers` are as sent, in order; times are monotonic seconds."""

    channel: str
    model: str | None
    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    connection: Connection
    arrived_at: float = field(default_factory=time.monotonic)
    played_at: float | None = None
    """When the answer had been written to its end."""

    def header(self, name: str) -> str | None:
        """The only value of a header; several lines are an error of the test's premise."""
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        assert len(values) < 2, f"{name} came {len(values)} times"
        return values[0] if values else None

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def json(self) -> dict[str, Any]:
        decoded = json.loads(self.body)
        assert isinstance(decoded, dict)
        return decoded

    async def closed(self, within: float = 30.0) -> float:
        """Wait until the peer has closed this request's connection; the monotonic time of it."""
        await until(lambda: self.connection.closed_at is not None, within, "the upstream connection closes")
        assert self.connection.closed_at is not None
        return self.connection.closed_at

    async def let_go(self, left_at: float) -> None:
        """The gateway cancels this request soon after its client has left, at `left_at`.

        The second that is promised holds in the simulation, whose clock no machine delays. Here it must come
        before any time-out of a silent upstream could bring it about.
        """
        assert await self.closed() - left_at < LET_GO_WITHIN


async def until(condition: Callable[[], bool], within: float, what: str) -> None:
    """Poll a condition of another thread or process, bounded."""
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, f"not within {within} s: {what}"
        await asyncio.sleep(0.01)


class ScriptedUpstream:
    """Answers by channel (first segment of the path) and model (from the body).

    The answers scripted for a pair are played one a request, in order; the last one is repeated where
    `repeat` was asked for, else a further request is answered 418 and counted in `unscripted`.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._scripts: dict[tuple[str, str | None], list[Answer]] = {}
        self._repeats: dict[tuple[str, str | None], Answer] = {}
        self._seen: dict[tuple[str, str | None], list[Seen]] = defaultdict(list)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="scripted-upstream")
        self._connections = 0
        self.unscripted: list[Seen] = []
        self.port = 0

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(60), "the scripted upstream did not start"

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def base(self, channel: str) -> str:
        """The address of a channel, without the protocol's own `/v1`."""
        scheme = "https" if self._tls else "http"
        return f"{scheme}://127.0.0.1:{self.port}/{channel}"

    def script(self, channel: str, model: str | None, *answers: Answer) -> None:
        """The answers to the next requests of this pair; replaces what was scripted."""
        self._repeats.pop((channel, model), None)
        self._scripts[channel, model] = list(answers)

    def always(self, channel: str, model: str | None, answer: Answer) -> None:
        """The answer to every request of this pair."""
        self._repeats[channel, model] = answer

    def requests(self, channel: str, model: str | None) -> list[Seen]:
        """What arrived so far for a pair, in order."""
        return list(self._seen[channel, model])

    def only(self, channel: str, model: str | None) -> Seen:
        """The single request of a pair."""
        seen = self.requests(channel, model)
        assert len(seen) == 1, f"{channel} got {len(seen)} requests for {model}"
        return seen[0]

    async def arrived(self, channel: str, model: str | None, count: int = 1, within: float = 30.0) -> Seen:
        """Wait for the `count`-th request of a pair."""
        await until(lambda: len(self._seen[channel, model]) >= count, within, f"request {count} on {channel}")
        return self._seen[channel, model][count - 1]

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._converse, "127.0.0.1", 0, limit=64 * 1024 * 1024, ssl=self._tls)
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        connection = Connection(self._connections)
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while (seen := await _read_request(reader, connection)) is not None:
                self._seen[seen.channel, seen.model].append(seen)
                await self._play(self._answer(seen), seen, reader, writer)
                seen.played_at = time.monotonic()
        except (PeerGoneError, ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            if connection.closed_at is None:
                connection.closed_at = time.monotonic()
            with contextlib.suppress(ConnectionError):
                writer.close()

    def _answer(self, seen: Seen) -> Answer:
        pair = (seen.channel, seen.model)
        if self._scripts.get(pair):
            return self._scripts[pair].pop(0)
        if pair in self._repeats:
            return self._repeats[pair]
        self.unscripted.append(seen)
        return Answer((b'{"error":{"message":"unscripted"}}',), 418, framing=Framing.LENGTH)

    async def _play(
        self, answer: Answer, seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        for step in answer.before:
            await _perform(step, Framing.RAW, seen.connection, reader, writer)
        if answer.framing is not Framing.RAW:
            writer.write(_head(answer))
        last: End | None = None
        for step in answer.steps:
            if isinstance(step, End):
                last = step
                break
            await _perform(step, answer.framing, seen.connection, reader, writer)
            if answer.gap:
                await asyncio.sleep(answer.gap)
        await _finish(last or End.EOF, answer.framing, seen.connection, reader, writer)


def _head(answer: Answer) -> bytes:
    lines = [f"HTTP/1.1 {answer.status} Scripted"]
    lines += [f"{name}: {value}" for name, value in answer.headers]
    match answer.framing:
        case Framing.CHUNKED:
            lines.append("transfer-encoding: chunked")
        case Framing.LENGTH:
            size = sum(len(step) for step in answer.steps if isinstance(step, bytes))
            lines.append(f"content-length: {size}")
        case Framing.UNTIL_CLOSE:
            lines.append("connection: close")
        case Framing.RAW:
            pass
        case _ as never:
            assert_never(never)
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


async def _perform(
    step: Step,
    framing: Framing,
    connection: Connection,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    match step:
        case bytes():
            chunked = framing is Framing.CHUNKED
            if step:
                writer.write(b"%x\r\n%b\r\n" % (len(step), step) if chunked else step)
            await writer.drain()
            await _linger(0, connection, reader)
        case Pause(seconds):
            await _linger(seconds, connection, reader)
        case Gate():
            deadline = time.monotonic() + _PATIENCE
            while not step.is_open and time.monotonic() < deadline:
                await _linger(0.005, connection, reader)
        case End():
            raise AssertionError("an end among the steps")
        case _ as never:
            assert_never(never)


async def _finish(
    end: End,
    framing: Framing,
    connection: Connection,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    if end in (End.EOF, End.CLOSE) and framing is Framing.CHUNKED:
        writer.write(b"0\r\n\r\n")
    await writer.drain()
    match end:
        case End.EOF if framing is not Framing.UNTIL_CLOSE:
            return
        case End.HOLD:
            await _linger(_PATIENCE, connection, reader)
        case End.CUT:
            await asyncio.sleep(0.05)  # what was written before must have been read, or the reset discards it
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        case End.EOF | End.TRUNCATE | End.CLOSE:
            writer.close()
        case _ as never:
            assert_never(never)
    raise PeerGoneError


async def _linger(seconds: float, connection: Connection, reader: asyncio.StreamReader) -> None:
    """Wait, and notice at once when the peer leaves."""
    deadline = time.monotonic() + seconds
    while True:
        if reader.at_eof() or reader.exception() is not None:
            connection.closed_at = time.monotonic()
            raise PeerGoneError
        left = deadline - time.monotonic()
        await asyncio.sleep(min(0.01, max(0.0, left)))
        if left <= 0:
            return


async def _read_request(reader: asyncio.StreamReader, connection: Connection) -> Seen | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        connection.closed_at = time.monotonic()
        return None
    first, *lines = head[:-4].decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    content = await _read_body(reader, {name.lower(): value for name, value in headers})
    channel = target.lstrip("/").split("/", 1)[0]
    return Seen(channel, _model(content), method, target, headers, content, connection)


async def _read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return await reader.readexactly(int(headers.get("content-length", "0")))
    parts = []
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
    return b"".join(parts)


def _model(content: bytes) -> str | None:
    try:
        decoded = json.loads(content)
    except ValueError:
        return None
    model = decoded.get("model") if isinstance(decoded, dict) else None
    return model if isinstance(model, str) else None
