"""The one place that writes an answer of the data plane to the client's transport."""

import asyncio
from enum import Enum
from http import HTTPStatus

from tidegate.exchange.ports import Call, Headers

_LAST_CHUNK = b"0\r\n\r\n"
_STREAM_HEADERS = (
    b"content-type: text/event-stream; charset=utf-8\r\n"
    b"cache-control: no-cache, no-transform\r\n"
    b"x-accel-buffering: no\r\n"
)
_REASONS = {status.value: status.phrase for status in HTTPStatus}


class Framing(Enum):
    """How the client learns where a body ends (RFC 9112, section 6)."""

    CHUNKED = "chunked"
    CLOSE = "close"
    """HTTP/1.0 knows no chunks: the end of the connection is the end of the body."""


class Stage(Enum):
    """How far the answer has come."""

    NOTHING = "nothing"
    BODY = "body"
    ENDED = "ended"


class TransportPipe:
    """Implements `exchange.ports.ClientPipe` on a transport; one per request.

    A chunk is one bytes object and one write, and so are the head and the first events.
    """

    __slots__ = (
        "_call",
        "_extra",
        "_framing",
        "_head",
        "_head_only",
        "_keep_alive",
        "_stage",
        "_transport",
        "_warnings",
        "given_up",
        "paused",
    )

    def __init__(
        self,
        transport: asyncio.Transport,
        headers: Headers,
        *,
        framing: Framing,
        keep_alive: bool,
        head_only: bool,
    ) -> None:
        """`headers` go out with every answer: the request id, CORS. `head_only`: it was a HEAD request."""
        self.given_up = False
        self.paused = False
        self._transport = transport
        self._head = headers
        self._framing = framing
        self._keep_alive = keep_alive and framing is Framing.CHUNKED
        self._head_only = head_only
        self._stage = Stage.NOTHING
        self._call: Call | None = None
        self._extra: Headers = []
        self._warnings: str | None = None

    @property
    def ended(self) -> bool:
        """Whether the whole answer has been written."""
        return self._stage is Stage.ENDED

    @property
    def begun(self) -> bool:
        """Whether a status line has been written."""
        return self._stage is not Stage.NOTHING

    @property
    def keep_alive(self) -> bool:
        """Whether the connection may serve another request after this one."""
        return self._keep_alive and self.ended

    def warn(self, warnings: str | None) -> None:
        """See `ClientPipe`."""
        self._warnings = warnings

    def add_headers(self, headers: Headers) -> None:
        """See `ClientPipe`."""
        self._extra = [*self._extra, *headers]

    def attach(self, call: Call | None) -> None:
        """See `ClientPipe`."""
        self._call = call
        if call is not None and self.paused:
            call.pause()

    def pause(self) -> None:
        """The transport's buffer is above its high-water mark."""
        self.paused = True
        if self._call is not None:
            self._call.pause()

    def resume(self) -> None:
        """The transport's buffer has drained."""
        self.paused = False
        if self._call is not None:
            self._call.resume()

    def write(self, data: bytes) -> None:
        """See `ClientPipe`. A client that has just gone is no fault, though its transport may say so."""
        if self._transport.is_closing():
            return
        match self._stage:
            case Stage.BODY:
                self._transport.write(self._framed(data))
            case Stage.NOTHING:
                self._stage = Stage.BODY
                self._transport.write(self._stream_head() + self._framed(data))
            case Stage.ENDED:
                pass  # nothing may follow an end

    def finish(self, data: bytes) -> None:
        """See `ClientPipe`."""
        if self._stage is Stage.ENDED or self._transport.is_closing():
            return
        head = self._stream_head() if self._stage is Stage.NOTHING else b""
        self._stage = Stage.ENDED
        end = _LAST_CHUNK if self._framing is Framing.CHUNKED else b""
        self._transport.write(head + self._framed(data) + end)

    def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """See `ClientPipe`."""
        if self._stage is not Stage.NOTHING or self._transport.is_closing():
            return
        self._stage = Stage.ENDED
        lines = b"content-type: application/json\r\ncontent-length: %d\r\n" % len(body)
        head = self._status_line(status) + _encoded(headers) + lines + self._tail()
        # A body after HEAD would be read as the next answer on the connection (RFC 9110, section 9.3.2).
        self._transport.write(head if self._head_only else head + body)

    def close_after_unread(self, *, body_ended: bool) -> None:
        """With a body that is not read to its end the connection cannot serve another request."""
        self._keep_alive = self._keep_alive and body_ended

    def _stream_head(self) -> bytes:
        framing = b"transfer-encoding: chunked\r\n" if self._framing is Framing.CHUNKED else b""
        return self._status_line(200) + _STREAM_HEADERS + framing + self._tail()

    def _status_line(self, status: int) -> bytes:
        return f"HTTP/1.1 {status} {_REASONS.get(status, 'Unknown')}\r\n".encode()

    def _tail(self) -> bytes:
        connection = b"" if self._keep_alive else b"connection: close\r\n"
        warnings = b"" if self._warnings is None else _encoded([("x-tidegate-warnings", self._warnings)])
        return _encoded([*self._head, *self._extra]) + warnings + connection + b"\r\n"

    def _framed(self, data: bytes) -> bytes:
        if self._framing is Framing.CLOSE or not data:
            return data
        return b"%x\r\n%b\r\n" % (len(data), data)


def _encoded(headers: Headers) -> bytes:
    return "".join(f"{name}: {value}\r\n" for name, value in headers).encode("latin-1", "replace")
