"""Answers callers while the gateway itself cannot open yet: it is alive, and not ready."""

import asyncio
import secrets
import socket
import ssl
from http import HTTPStatus

from aiohttp import web
from aiohttp.web_request import BaseRequest

from tidegate.admin.problems import Problem
from tidegate.admin.problems import answer as problem_answer
from tidegate.core.failure import Failure, Kind
from tidegate.server import answers

RETRY_AFTER = 5.0
"""Seconds after which callers are told to come again."""

_NOT_READY = Failure(
    kind=Kind.ACCOUNTING, message="The server waits for its database.", retry_after=RETRY_AFTER
)
_LAST_ANSWERS = 0.5


class WaitingRoom:
    """A server on a listening socket that stays open when it is closed."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext | None) -> None:
        self._sock = sock
        self._context = context
        self._server: asyncio.Server | None = None
        self._connections: web.Server | None = None

    async def open(self) -> None:
        """Answer from now on; does nothing if it does already."""
        if self._server is None:
            self._connections = web.Server(_answer, access_log=None)
            self._server = await asyncio.get_running_loop().create_server(
                self._connections, sock=self._sock.dup(), ssl=self._context
            )

    async def close(self) -> None:
        """Let others answer on the socket."""
        server, connections, self._server = self._server, self._connections, None
        if server is not None and connections is not None:
            server.close()
            await connections.shutdown(_LAST_ANSWERS)


async def _answer(request: BaseRequest) -> web.StreamResponse:
    response = _response(request.path, anthropic="anthropic-version" in request.headers)
    response.force_close()  # the next request is for who opens then
    return response


def _response(path: str, *, anthropic: bool) -> web.Response:
    match path:
        case "/":
            return answers.state(200, {"name": "tidegate"}, [])
        case "/healthz":
            return answers.state(200, {"status": "ok"}, [])
        case "/readyz":
            return answers.state(503, {"status": "not ready", "database": "unreachable"}, [])
        case _ if path.startswith("/admin/"):
            return problem_answer(Problem(HTTPStatus.SERVICE_UNAVAILABLE, "the database is away"))
        case _:  # whatever callers ask for
            protocol = answers.protocol_of(path, anthropic=anthropic)
            return answers.error(_NOT_READY, protocol, f"req_{secrets.token_hex(14)}", [])
