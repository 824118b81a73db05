"""aiohttp's connection, taught to tell a pipe about back-pressure and to answer bad HTTP in JSON."""

import asyncio
import logging
from collections.abc import Callable

from aiohttp import web
from aiohttp.http import RawRequestMessage
from aiohttp.http_exceptions import BadHttpMessage, LineTooLong
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from aiohttp.web_protocol import RequestHandler
from aiohttp.web_request import BaseRequest

from tidegate.core.failure import Failure, Kind
from tidegate.server.acceptance import Acceptance
from tidegate.server.client_pipe import TransportPipe

log = logging.getLogger(__name__)

_LINE = 2048
"""Bytes of a request that are kept for its path."""
_UNREAD = "UNKNOWN"
"""The method that aiohttp gives what it could not read as a request."""

Answer = Callable[[str, Failure], web.Response]
"""A path and a failure as the error answer of that path's protocol."""
Patience = Callable[[], float]
"""Seconds for which a client may accept no byte while bytes wait for it; 0: for ever."""


class Connection(RequestHandler):
    """One client connection."""

    __slots__ = ("_acceptance", "_answer", "_begun", "_is_spoilt", "_line", "_patience", "_payload", "pipe")

    def __init__(
        self, manager: "ConnectionFactory", *, answer: Answer, patience: Patience, **settings: object
    ) -> None:
        super().__init__(manager, loop=manager.loop, **settings)  # type: ignore[arg-type]
        self.pipe: TransportPipe | None = None
        self._answer = answer
        self._patience = patience
        self._acceptance = Acceptance(self._give_up)
        self._begun = b""
        self._line = b""
        self._payload: StreamReader = EMPTY_PAYLOAD
        """The body of the last request: until its end, what comes is not how another begins."""
        self._is_spoilt = False
        """Bad HTTP came: nothing after it is a request, and one answer is all it gets."""

    def data_received(self, data: bytes) -> None:
        """Keeps how the last request began, over all its reads: an answer to bad HTTP needs the path."""
        if self._is_spoilt:
            return
        is_body, known = not self._payload.is_eof(), self._request_count
        if not is_body and len(self._begun) < _LINE:
            self._begun += data[:_LINE]
        super().data_received(data)
        if self._request_count > known:
            message, self._payload = self._messages[-1]
            self._is_spoilt = not isinstance(message, RawRequestMessage)
            if not is_body:  # else what is bad is the body of the request that is known
                self._line, self._begun = self._begun, b""

    def resume_reading(self, resume_parser: bool = True) -> None:  # noqa: FBT001, FBT002  # aiohttp's own
        """aiohttp asks for this with every read; where nothing was paused it is only cost."""
        if self._reading_paused:
            super().resume_reading(resume_parser)

    @property
    def writing_paused(self) -> bool:
        """Whether the client is behind with what was written before."""
        return self._paused

    def pause_writing(self) -> None:
        """The client reads slower than the answer comes."""
        super().pause_writing()
        self._watch()
        if self.pipe is not None:
            self.pipe.pause()

    def resume_writing(self) -> None:
        """The client has caught up."""
        super().resume_writing()
        self._acceptance.end()
        if self.pipe is not None:
            self.pipe.resume()

    def answered(self) -> None:
        """An answer is written to its end; what of it the client has not accepted must not wait for ever."""
        self.pipe = None
        transport = self.transport
        if transport is not None and transport.get_write_buffer_size():
            self._watch()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Nobody is there any more to accept anything."""
        self._acceptance.end()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if self.transport is not None:
            self._acceptance.begin(self.transport, self._patience())

    def _give_up(self) -> None:
        if self.pipe is not None:
            self.pipe.given_up = True
        if self.transport is not None:
            self.transport.abort()

    def handle_error(
        self,
        request: BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Bad HTTP, or a fault of our own, in the error form of the route that was called."""
        del message
        if status >= 500:
            log.error("a request failed by a fault of the gateway", exc_info=exc)
        if request.writer.output_size > 0 or (self.pipe is not None and self.pipe.begun):
            raise ConnectionError("the answer has begun already")
        path = self._path() if request.method == _UNREAD else request.path
        response = self._answer(path, _failure(status, exc))
        response.force_close()
        return response

    async def finish_response(
        self, request: BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """After an answer to bad HTTP the rest of it is let in for a while and not looked at."""
        finished = await super().finish_response(request, resp, start_time)
        if request.method == _UNREAD:
            await self._linger()
        return finished

    async def _linger(self) -> None:
        """A close with bytes unread would take the answer back from its reader (RFC 9112, section 9.6)."""
        self.close()
        if self.transport is not None and self.transport.can_write_eof():
            self.transport.write_eof()
        await asyncio.sleep(self._lingering_time)

    def _path(self) -> str:
        words = self._line.split(b" ", 2)
        return words[1].partition(b"?")[0].decode("ascii", "replace") if len(words) > 1 else ""


def _failure(status: int, exc: BaseException | None) -> Failure:
    too_large = isinstance(exc, LineTooLong) or (
        isinstance(exc, BadHttpMessage) and "Too many headers" in exc.message
    )
    if too_large:
        return Failure(kind=Kind.HEADERS_TOO_LARGE, message="The request headers exceed the maximum size.")
    if status < 500:
        return Failure(kind=Kind.INVALID_REQUEST, message="The request is not valid HTTP.")
    return Failure(kind=Kind.INTERNAL, message="The server had an internal error.")


class ConnectionFactory(web.Server):
    """Makes a Connection for each client."""

    def __init__(
        self, handler: Callable[..., object], *, answer: Answer, patience: Patience, **settings: object
    ) -> None:
        super().__init__(handler, handler_cancellation=True, **settings)  # type: ignore[arg-type]
        self.loop = self._loop
        self._answer = answer
        self._patience = patience

    def __call__(self) -> Connection:
        return Connection(self, answer=self._answer, patience=self._patience, **self._kwargs)
