"""The data plane: takes key and raw body of each request and hands them to the exchange; nothing else."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import HttpVersion11, web
from aiohttp.web_request import BaseRequest
from msgspec import Struct

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.core.trace_context import begin
from tidegate.exchange.current import serve_now
from tidegate.exchange.lifecycle import Exchange
from tidegate.exchange.story import Incoming
from tidegate.routing.catalog import Key
from tidegate.server import answers, cors
from tidegate.server.body import TOO_LARGE, read_body
from tidegate.server.client_pipe import Framing, TransportPipe
from tidegate.server.connection import Connection
from tidegate.server.directory import Directory

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_DATA_ROUTES = {
    "/v1/chat/completions": Protocol.CHAT,
    "/v1/responses": Protocol.RESPONSES,
    "/v1/messages": Protocol.MESSAGES,
    "/v1/messages/count_tokens": Protocol.MESSAGES,
}
_OPERATORS_PATH = "/admin/"
_PATHS = {
    Protocol.CHAT: "/v1/chat/completions",
    Protocol.RESPONSES: "/v1/responses",
    Protocol.MESSAGES: "/v1/messages",
}
CONSOLE_KEY = Key(name="console", account="default")
"""Whose requests are those of the console that name no key."""
_OPERATORS_OWN = frozenset({"authorization", "cookie", "origin", "referer", "x-api-key", "x-csrf-token"})


class Rules(Struct, frozen=True, kw_only=True):
    """The settings of `[server]` that hold for each request; `body_timeout` in seconds."""

    max_body_bytes: int
    body_timeout: float
    cors_origins: tuple[str, ...] = ()
    client_timeout: float = 0.0
    """For how many seconds a client may accept no byte while bytes wait for it; 0: for ever."""


class DataPlane:
    """Answers every request of the data plane; what else there is goes to `others`."""

    def __init__(
        self,
        exchange: Exchange,
        directory: Directory,
        rules: Rules,
        new_id: Callable[[], str],
        others: Callable[[BaseRequest], Awaitable[web.StreamResponse] | None],
    ) -> None:
        self.rules = rules
        self._exchange = exchange
        self._directory = directory
        self._new_id = new_id
        self._others = others

    async def __call__(self, request: BaseRequest) -> web.StreamResponse:
        """Route one request."""
        path = request.path
        protocol = _DATA_ROUTES.get(path)
        if protocol is not None:
            return await self._data_route(request, path, protocol)
        other = self._others(request)
        if other is not None:
            return await other
        headers = _headers(request)
        extra = cors.allowed(self.rules.cors_origins, headers)
        return await self._directory.answer(request.method, path, headers, self._request_id(), extra)

    def key_named(self, name: str | None) -> Key | None:
        """The key of this name; None: one named `console`, or else the console's own, for all models."""
        found = self._exchange.snapshot.catalog.key_named(name or CONSOLE_KEY.name)
        return CONSOLE_KEY if found is None and name is None else found

    async def serve_as(self, request: BaseRequest, protocol: Protocol, key: Key) -> web.StreamResponse:
        """Answer an operator's request as a caller with this key would get it answered."""
        return await self._data_route(request, _PATHS[protocol], protocol, key)

    def bad_http(self, path: str, failure: Failure) -> web.Response:
        """The answer to what could not be read as a request; on a data route it has a row like any other."""
        protocol = _DATA_ROUTES.get(path)
        if path.startswith(_OPERATORS_PATH):
            return answers.problem(failure)
        if protocol is None or failure.kind is Kind.INTERNAL:
            return answers.error(failure, answers.protocol_of(path), self._request_id(), [])
        incoming = self._incoming(path, protocol, {})
        self._exchange.note_unread(incoming, failure)
        return answers.error(failure, protocol, incoming.id, [])

    async def _data_route(
        self, request: BaseRequest, path: str, protocol: Protocol, key: Key | None = None
    ) -> web.StreamResponse:
        connection = request.protocol
        transport = request.transport
        if transport is None or not isinstance(connection, Connection):
            return answers.CLOSED
        headers = _headers(request)
        if key is not None:  # the operator's credentials are no caller's, and go nowhere
            headers = {name: value for name, value in headers.items() if name not in _OPERATORS_OWN}
        incoming = self._incoming(path, protocol, headers)
        serve_now(incoming)
        extra = cors.allowed(self.rules.cors_origins, headers)
        told = [*answers.request_id_headers(incoming.id, protocol), *extra]
        if request.method == "OPTIONS" and extra:
            return answers.empty([*told, *cors.preflight(headers, "POST")])
        pipe = TransportPipe(
            transport,
            told,
            framing=Framing.CHUNKED if request.version >= HttpVersion11 else Framing.CLOSE,
            keep_alive=bool(request.keep_alive),
            head_only=request.method == "HEAD",
        )
        pipe.paused = connection.writing_paused
        connection.pipe = pipe  # stays after a fault: what answers for that must know how far this came
        await self._exchange_on(request, path, incoming, pipe, key)
        connection.answered()
        serve_now(None)
        return answers.KEPT if pipe.keep_alive else answers.CLOSED

    async def _exchange_on(
        self, request: BaseRequest, path: str, incoming: Incoming, pipe: TransportPipe, known: Key | None
    ) -> None:
        exchange = self._exchange
        key = self._key(request, incoming, known)
        if isinstance(key, Failure):
            pipe.close_after_unread(body_ended=request.content.is_eof())
            exchange.reject(incoming, None, key, pipe)
            return
        await self._serve(request, path, incoming, key, pipe)

    async def _serve(
        self, request: BaseRequest, path: str, incoming: Incoming, key: Key, pipe: TransportPipe
    ) -> None:
        exchange = self._exchange
        try:
            with exchange.open():  # the exchange itself goes on with it, before anything else can run
                body = await self._body(request, incoming)
        except (asyncio.CancelledError, ConnectionError):
            exchange.left_early(incoming, key)
            raise
        if isinstance(body, Failure):
            pipe.close_after_unread(body_ended=request.content.is_eof())
            exchange.reject(incoming, key, body, pipe)
        elif path.endswith("/count_tokens"):
            await exchange.count(incoming, key, body, pipe)
        else:
            await exchange.serve(incoming, key, body, pipe)

    def _key(self, request: BaseRequest, incoming: Incoming, known: Key | None) -> Key | Failure:
        if request.method != "POST":
            message = f"{request.method} is not allowed here; use POST."
            return Failure(kind=Kind.METHOD_NOT_ALLOWED, message=message, allow="POST")
        return self._exchange.identify(incoming, known)

    async def _body(self, request: BaseRequest, incoming: Incoming) -> bytes | Failure:
        rules, headers = self.rules, incoming.headers
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > rules.max_body_bytes:
            return TOO_LARGE
        if headers.get("expect", "").lower() == "100-continue" and request.transport is not None:
            request.transport.write(_CONTINUE)
        encoding = headers.get("content-encoding", "")
        return await read_body(request.content, encoding, rules.max_body_bytes, rules.body_timeout)

    def _incoming(self, path: str, protocol: Protocol, headers: Mapping[str, str]) -> Incoming:
        world, request_id = self._exchange.world, self._request_id()
        tracing = world.tracing
        return Incoming(
            id=request_id,
            protocol=protocol,
            accepted_at=world.clock(),
            created_at=world.wall(),
            headers=headers,
            path=path,
            trace=None if tracing is None else begin(request_id, headers, tracing.share),
        )

    def _request_id(self) -> str:
        return "req_" + self._new_id()


def _headers(request: BaseRequest) -> dict[str, str]:
    """Names in lower case; lines of one name are one value (RFC 9110, section 5.2)."""
    headers: dict[str, str] = {}
    for written, value in request.headers.items():
        name = written.lower()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers
