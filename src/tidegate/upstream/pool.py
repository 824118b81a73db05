"""Idle connections, kept for their next request: last in, first out, for a bounded time, a bounded number."""

import asyncio
from typing import TypeAlias

from msgspec import Struct

from tidegate.upstream.connection import Connection
from tidegate.upstream.limits import Limits
from tidegate.upstream.origin import Origin, Scheme
from tidegate.upstream.proxies import Proxy
from tidegate.upstream.tls import Roots

Stack: TypeAlias = list[Connection]

_SWEEPS_PER_TIMEOUT = 15


class Route(Struct, frozen=True):
    """All that decides whether two requests may share a connection."""

    scheme: Scheme
    host: str
    port: int
    proxy: Proxy | None
    roots: Roots | None


def route_to(origin: Origin, proxy: Proxy | None, roots: Roots | None) -> Route:
    """The route of an origin; plain HTTP trusts nobody, so its routes do not differ by roots."""
    trusted = roots if origin.scheme is Scheme.HTTPS else None
    return Route(origin.scheme, origin.host, origin.port, proxy, trusted)


class Pool:
    """The home of all connections; the most recently used is taken first, so that the surplus grows old."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._stacks: dict[Route, Stack] = {}
        self._open: set[Connection] = set()
        self._idle = 0
        self._sweeper: asyncio.TimerHandle | None = None
        self._emptied: asyncio.Future[None] | None = None

    @property
    def open_connections(self) -> int:
        """How many connections stand, busy and idle."""
        return len(self._open)

    @property
    def idle_connections(self) -> int:
        """How many wait for a request."""
        return self._idle

    def stack(self, route: Route) -> Stack:
        """The idle connections of a route; the same list for the life of the pool."""
        return self._stacks.setdefault(route, [])

    def take(self, stack: Stack) -> Connection | None:
        """The connection that became idle last and still stands, if there is one."""
        while stack:
            connection = stack.pop()
            self._idle -= 1
            if connection.is_usable():
                return connection
            connection.abort()
        return None

    def opened(self, connection: Connection) -> None:
        self._open.add(connection)

    def give_back(self, connection: Connection) -> None:
        stack = connection.stack
        if len(stack) >= self._limits.idle_per_route or self._idle >= self._limits.idle_total:
            connection.abort()
            return
        loop = asyncio.get_running_loop()
        connection.idle_since = loop.time()
        stack.append(connection)
        self._idle += 1
        if self._sweeper is None:
            self._arm(loop)

    def withdraw(self, connection: Connection) -> None:
        if connection in connection.stack:
            connection.stack.remove(connection)
            self._idle -= 1

    def closed(self, connection: Connection) -> None:
        self.withdraw(connection)
        self._open.discard(connection)
        if self._emptied is not None and not self._open and not self._emptied.done():
            self._emptied.set_result(None)

    async def close(self) -> None:
        """Close every connection and wait until all are gone."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for connection in tuple(self._open):
            self.withdraw(connection)
            connection.abort()
        if self._open:
            self._emptied = asyncio.get_running_loop().create_future()
            await self._emptied

    def _arm(self, loop: asyncio.AbstractEventLoop) -> None:
        interval = self._limits.idle_timeout / _SWEEPS_PER_TIMEOUT
        self._sweeper = loop.call_later(interval, self._sweep, loop)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """Close what has been idle too long; the oldest stand first in each stack."""
        self._sweeper = None
        oldest = loop.time() - self._limits.idle_timeout
        for stack in self._stacks.values():
            while stack and stack[0].idle_since <= oldest:
                self._idle -= 1
                stack.pop(0).abort()
        if self._idle:
            self._arm(loop)
