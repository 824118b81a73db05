"""One HTTP/1.1 connection that pushes what it reads to the listener of the request on it."""

import asyncio
import select
import socket
import ssl
from enum import Enum
from typing import Any, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from tidegate.core.failure import Failure
from tidegate.upstream import failures
from tidegate.upstream.limits import Limits
from tidegate.upstream.roles import Home, Listener, Push, drop

_JOIN_BELOW = 65_536
"""Bodies up to this size go out in one write with their head; larger ones are not worth the copy."""
_FLOOD = 131_072
"""A read of this many bytes has more behind it, which waits for the loop's next turn."""


class Stage(Enum):
    """How far the exchange on a connection has come."""

    IDLE = "idle"
    """No request is on it: any byte from the peer is unexpected."""
    HEAD = "head"
    """A request is out, the final head is not whole."""
    HEADED = "headed"
    """The head is whole, but the listener has not been told."""
    BODY = "body"
    """The listener knows the head; body bytes are pushed as they come."""
    WHOLE = "whole"
    """The answer is whole."""
    OVERRUN = "overrun"
    """The answer is whole, and more bytes came behind it."""
    CLOSED = "closed"


_BODY = Stage.BODY
"""Looked up once: it is compared for every read."""


class _Stop(Exception):
    """Ends parsing from inside a callback of the parser; the connection knows why."""


def _untold(_: bytes) -> None:
    raise AssertionError("body bytes before the head was told")


class Connection(asyncio.Protocol):
    """The client's side of one connection, for one request at a time."""

    __slots__ = (
        "_head_size",
        "_headers",
        "_held",
        "_home",
        "_keeps",
        "_limits",
        "_listener",
        "_parser",
        "_parts",
        "_poll",
        "_problem",
        "_push",
        "_silence",
        "_stage",
        "_status",
        "_transport",
        "_until_close",
        "idle_since",
        "on_body",
        "stack",
    )

    def __init__(self, home: Home, stack: "list[Connection]", limits: Limits) -> None:
        self.stack = stack
        self.idle_since = 0.0
        self._home = home
        self._limits = limits
        self._stage = Stage.IDLE
        self._listener: Listener | None = None
        self._transport: asyncio.Transport | None = None
        self._poll = select.poll()
        self._parts: list[bytes] = []
        self.on_body = self._parts.append
        self._headers: list[tuple[bytes, bytes]] = []
        self._push: Push = _untold
        self._problem: Failure | None = None
        self._status = self._head_size = self._silence = 0
        self._keeps = self._until_close = self._held = False
        self._parser = HttpResponseParser(self)

    def start(self, listener: Listener, head: bytes, body: bytes) -> None:
        """Send a request on an idle connection. Nothing is told to the listener before this returns."""
        transport = self._transport
        if transport is None or self._stage is not Stage.IDLE:
            raise AssertionError("a request was put on a connection that is not idle")
        self._listener = listener
        self._stage = Stage.HEAD
        self._push = _untold
        self._head_size = self._silence = 0
        self._keeps = False
        if len(body) <= _JOIN_BELOW:
            transport.write(head + body)
        else:
            transport.write(head)
            transport.write(body)

    def is_usable(self) -> bool:
        """Whether an idle connection stands and is silent: what the peer sent unasked answers no request.

        One system call; it also sees a close that the loop has not reported yet.
        """
        return self._stage is Stage.IDLE and self._transport is not None and not self._poll.poll(0)

    @property
    def stands(self) -> bool:
        """Whether it has been opened and not been closed."""
        return self._transport is not None and self._stage is not Stage.CLOSED

    def pause(self) -> None:
        """Stop reading, so that what the peer sends waits in the kernel."""
        self._held = True
        if self._transport is not None and self._transport.is_reading():
            self._transport.pause_reading()

    def resume(self) -> None:
        """Read again."""
        self._held = False
        if self._transport is not None and not self._transport.is_reading():
            self._transport.resume_reading()

    def mute(self) -> None:
        """Drop the rest of the body; the listener still hears how it ends."""
        self._push = drop

    def abort(self) -> None:
        """Close at once; the listener hears nothing more."""
        self._listener = None
        self._push = drop
        self._stage = Stage.CLOSED
        if self._transport is not None:
            self._transport.abort()

    def give_up(self) -> None:
        """Abort a connection whose making failed: uvloop then never reports its end."""
        self.abort()
        self._home.closed(self)

    # The loop calls these.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        peer: socket.socket = transport.get_extra_info("socket")
        self._poll.register(peer.fileno(), select.POLLIN | select.POLLHUP | select.POLLERR)
        _bound_tls_buffer(self._transport)
        self._home.opened(self)
        if self._stage is Stage.CLOSED:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if len(data) >= _FLOOD:
            self._take_breath()
        if self._listener is None:
            self._leave()
            return
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self._stop_parsing(error)
            return
        if self._stage is _BODY and (parts := self._parts):
            self._silence = 0
            body = parts[0] if len(parts) == 1 else b"".join(parts)
            parts.clear()
            self._push(body)
            return
        self._settle(len(data))

    def _take_breath(self) -> None:
        """libuv reads on as long as full buffers come: a flood must leave turns to everybody else."""
        if self._transport is not None and self._transport.is_reading():
            self._transport.pause_reading()
            asyncio.get_running_loop().call_soon(self._read_on)

    def _read_on(self) -> None:
        if not self._held:
            self.resume()

    def eof_received(self) -> None:
        if self._stage is Stage.BODY and self._until_close and self._closed_in_order():
            self._stage = Stage.WHOLE
            self._end()
        elif self._listener is not None:
            self._break(self._cut("end of file"), heard=self._heard)
        else:
            self._leave()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._listener is not None:
            self._break(self._cut(_reason(exc)), heard=self._heard)
        self._stage = Stage.CLOSED
        self._home.closed(self)
        self._transport = None
        del self._parser  # it holds this connection's methods: without the cycle both go at once

    # The parser calls these; what they learn is told after it has returned.

    def on_message_begin(self) -> None:
        if self._stage is Stage.WHOLE:
            self._stage = Stage.OVERRUN
            raise _Stop

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._stage is not Stage.HEAD:
            return  # a trailer
        self._head_size += len(name) + len(value) + 4
        if self._head_size > self._limits.head_bytes:
            raise self._stop(failures.malformed("the head of the answer is too large"))
        if len(self._headers) >= self._limits.header_count:
            raise self._stop(failures.malformed("the answer has too many headers"))
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        status: int = self._parser.get_status_code()
        if status == 101:
            raise self._stop(failures.malformed("the upstream switched protocols unasked (101)"))
        if status < 100:
            raise self._stop(failures.malformed(f"status {status}"))
        if status < 200:
            self._headers.clear()
            return
        names = {name.lower() for name, _ in self._headers}
        if b"transfer-encoding" in names:
            self._check_transfer_encoding()
        bodiless = status in (204, 304)
        self._until_close = not bodiless and names.isdisjoint((b"transfer-encoding", b"content-length"))
        self._status = status
        self._stage = Stage.HEADED

    def on_message_complete(self) -> None:
        if self._stage is Stage.HEADED or self._stage is Stage.BODY:
            self._stage = Stage.WHOLE
            self._keeps = self._parser.should_keep_alive()

    def _check_transfer_encoding(self) -> None:
        """Only `chunked`, once: nothing else was offered, and a mix is how answers are smuggled."""
        values = [value for name, value in self._headers if name.lower() == b"transfer-encoding"]
        if [value.strip().lower() for value in values] != [b"chunked"]:
            raise self._stop(failures.malformed("unknown transfer encoding"))

    def _stop(self, problem: Failure) -> _Stop:
        self._problem = problem
        return _Stop()

    def _stop_parsing(self, error: Exception) -> None:
        """The parser gave up: after a whole answer that costs the connection only, else the answer too."""
        if self._stage is Stage.WHOLE:
            self._stage = Stage.OVERRUN
        if self._stage is Stage.OVERRUN:
            self._settle(0)
            return
        listener = self._listener
        self._tell()
        if self._listener is listener:
            self._break(self._problem or failures.malformed(str(error)), heard=True)

    def _settle(self, size: int) -> None:
        """Tell the listener what one read brought, where it was not just body bytes."""
        listener = self._listener
        told = self._tell()
        if self._listener is not listener:
            return
        match self._stage:
            case Stage.HEAD | Stage.BODY:
                self._silence = 0 if told else self._silence + size
                if self._silence > self._limits.head_bytes:
                    self._break(failures.malformed("a head or trailer is too large"), heard=True)
            case Stage.WHOLE | Stage.OVERRUN:
                self._end()
            case Stage.IDLE | Stage.HEADED | Stage.CLOSED:
                pass

    def _tell(self) -> bool:
        """Hand on the head, if it is new, and the body bytes parsed so far; says whether there were any."""
        listener = self._listener
        if self._stage is Stage.HEAD or listener is None:
            return False
        fresh = self._push is _untold
        if fresh:
            if self._stage is Stage.HEADED:
                self._stage = Stage.BODY
            headers = [(name.lower().decode("latin-1"), _text(value)) for name, value in self._headers]
            self._headers.clear()
            push = listener.on_head(self._status, headers)
            if self._listener is not listener:
                return True
            self._push = push
        if not self._parts:
            return fresh
        body = b"".join(self._parts)
        self._parts.clear()
        self._push(body)
        return True

    def _end(self) -> None:
        """The answer is whole: free the connection first, so that the listener's next request can have it."""
        listener, self._listener = self._listener, None
        transport = self._transport
        if (
            self._stage is Stage.WHOLE
            and self._keeps
            and transport is not None
            and not transport.is_closing()
            and not transport.get_write_buffer_size()
        ):
            self._stage = Stage.IDLE
            self.resume()
            self._home.give_back(self)
        else:
            self.abort()
        if listener is not None:
            listener.on_whole()

    def _break(self, failure: Failure, *, heard: bool) -> None:
        listener = self._listener
        self.abort()
        if listener is not None:
            listener.on_broken(failure, heard=heard)

    def _leave(self) -> None:
        """The peer closed or spoke while no request was out."""
        self._home.withdraw(self)
        self.abort()

    def _closed_in_order(self) -> bool:
        """Whether an end of file is the peer's word: in TLS only its close_notify is (RFC 8446 §6.1).

        asyncio reports a bare end of the TCP stream just the same, so the TLS state itself is asked.
        """
        if self._transport is None or (secured := self._transport.get_extra_info("ssl_object")) is None:
            return True
        try:
            return bool(secured.read(1) == b"")
        except ssl.SSLError:
            return False

    @property
    def _heard(self) -> bool:
        return self._stage is not Stage.HEAD or self._silence > 0

    def _cut(self, why: str) -> Failure:
        return failures.closed_unanswered(why) if self._stage is Stage.HEAD else failures.cut(why)


def _bound_tls_buffer(transport: asyncio.Transport) -> None:
    """Make a paused TLS transport stop reading its socket too; other transports do so anyway.

    By default it reads on for 256 KiB, and uvloop throws those bytes away if it meets the peer's end of file
    behind them: a slow client would lose the tail of an answer that was sent in full. Unpaused nothing
    changes, since every read empties the buffer.
    """
    set_limits = getattr(transport, "set_read_buffer_limits", None)
    if set_limits is not None:
        set_limits(high=1)


def _text(value: bytes) -> str:
    return value.rstrip(b" \t").decode("latin-1")


def _reason(exc: Any) -> str:
    return "connection closed" if exc is None else str(exc) or type(exc).__name__
