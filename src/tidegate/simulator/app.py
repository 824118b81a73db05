"""Starts the simulated provider."""

import asyncio
from collections import deque
from ssl import SSLContext

from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.simulator.connection import Connection
from tidegate.simulator.provider import Provider, Received, Tally
from tidegate.simulator.script import Steps

_BACKLOG = 4096


class Simulator:
    """A provider that listens. `requests` holds the last requests as they came, the newest last."""

    def __init__(self, *, require_key: Secret | None = None, keep: int = 256, secure: bool = False) -> None:
        self.host = ""
        self.port = 0
        self.requests: deque[Received] = deque(maxlen=keep)
        self.tally = Tally()
        self._provider = Provider(self.tally, require_key)
        self._connections: set[Connection] = set()
        self._scheme = "https" if secure else "http"
        self._server: asyncio.Server | None = None

    def base_url(self, protocol: Protocol) -> str:
        """What the official SDK of the protocol takes as its base URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        root = f"{self._scheme}://{host}:{self.port}"
        match protocol:
            case Protocol.CHAT | Protocol.RESPONSES:
                return f"{root}/v1"
            case Protocol.MESSAGES:
                return root

    async def listen(self, host: str, port: int, ssl: SSLContext | None = None) -> None:
        """Binds; port 0 takes a free one. Raises OSError."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connection, host, port, backlog=_BACKLOG, ssl=ssl)
        self.host, self.port = host, self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stops listening and ends every connection, also in the middle of an answer."""
        if self._server is None:
            return
        self._server.close()
        for connection in tuple(self._connections):
            connection.end()
        await self._server.wait_closed()
        self._server = None

    def _connection(self) -> Connection:
        return Connection(self._answer, self.tally, self._connections)

    def _answer(self, received: Received) -> Steps:
        self.requests.append(received)
        return self._provider.answer(received)


async def start(
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    require_key: str | None = None,
    keep: int = 256,
    ssl: SSLContext | None = None,
) -> Simulator:
    """A simulator that is listening on a free port, if `port` is 0. Raises OSError.

    With `require_key` any other credential gets a 401; `keep` bounds `requests`.
    """
    secret = None if require_key is None else Secret(require_key)
    simulator = Simulator(require_key=secret, keep=keep, secure=ssl is not None)
    await simulator.listen(host, port, ssl)
    return simulator
