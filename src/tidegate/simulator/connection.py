"""One HTTP connection of the simulated provider: bytes to requests, one answer after the other."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import cast

import httptools

from tidegate.simulator.player import Player
from tidegate.simulator.provider import MAX_BODY, Received, Tally
from tidegate.simulator.script import Steps

_log = logging.getLogger("tidegate.simulator")
_MOST_WAITING = 8
_TOO_LARGE = b"HTTP/1.1 413 Content Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_BAD = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Connection(asyncio.Protocol):
    """Calls `answer` for each request and performs what it gives; `everyone` holds the open connections."""

    _transport: asyncio.Transport
    _player: Player

    def __init__(
        self, answer: Callable[[Received], Steps], tally: Tally, everyone: "set[Connection]"
    ) -> None:
        self._answer = answer
        self._tally = tally
        self._everyone = everyone
        self._parser = httptools.HttpRequestParser(self)
        self._waiting: deque[tuple[Received, str, bool]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self.on_message_begin()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._player = Player(self._transport, self._writable)
        self._everyone.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc  # why it is lost makes no difference
        self._everyone.discard(self)
        if self._task is not None:
            self._task.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._refuse(_BAD)
        except httptools.HttpParserError:
            self._refuse(_BAD)

    def on_message_begin(self) -> None:
        self._url = b""
        self._headers: list[tuple[str, str]] = []
        self._body: list[bytes] = []
        self._size = 0

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.decode("latin-1").lower(), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        if ("expect", "100-continue") in self._headers:
            self._transport.write(_CONTINUE)

    def on_body(self, body: bytes) -> None:
        self._size += len(body)
        if self._size > MAX_BODY:
            self._body.clear()
            self._refuse(_TOO_LARGE)
            return
        self._body.append(body)

    def on_message_complete(self) -> None:
        path, _, query = self._url.decode("latin-1").partition("?")
        method = self._parser.get_method().decode()
        received = Received(method, path, query, tuple(self._headers), b"".join(self._body))
        self._body.clear()
        version, keep = self._parser.get_http_version(), self._parser.should_keep_alive()
        self._waiting.append((received, version, keep))
        if len(self._waiting) > _MOST_WAITING:
            self._transport.pause_reading()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._serve())

    def end(self) -> None:
        """Ends the connection at once."""
        self._transport.abort()

    def _refuse(self, answer: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(answer)
            self._transport.close()

    async def _serve(self) -> None:
        """Answers what is waiting. A fault of the simulator itself is logged and ends the connection."""
        self._tally.open_streams += 1
        try:
            while self._waiting and not self._transport.is_closing():
                received, version, keep = self._waiting.popleft()
                self._transport.resume_reading()
                await self._player.perform(self._answer(received), http10=version == "1.0")
                if not keep:
                    self._transport.close()
            self._task = None
        except asyncio.CancelledError:
            self._tally.abandoned += 1
            raise
        except Exception:
            _log.exception("The simulator failed to answer.")
            self._transport.abort()
        finally:
            self._tally.open_streams -= 1
