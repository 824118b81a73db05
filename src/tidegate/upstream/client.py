"""Opens calls on channels over our own HTTP/1.1 connections."""

import asyncio
from collections.abc import Mapping

from tidegate.core.failure import Failure
from tidegate.exchange.ports import Call, Sink, UpstreamRequest
from tidegate.routing.catalog import Channel
from tidegate.upstream import failures
from tidegate.upstream.call import FRAMING, DoomedCall, HttpCall
from tidegate.upstream.connection import Connection
from tidegate.upstream.dial import dial
from tidegate.upstream.head import HeadWriter, head_writer
from tidegate.upstream.limits import Limits
from tidegate.upstream.origin import parse_base_url
from tidegate.upstream.pool import Pool, Route, route_to
from tidegate.upstream.proxies import BadProxy, choose_proxy
from tidegate.upstream.tls import Trust, roots_of

_MAX_OUTLETS = 1_024


class HttpUpstream:
    """Implements `Upstream`. Belongs to one event loop; `close` ends all calls and connections."""

    def __init__(
        self, environ: Mapping[str, str], limits: Limits | None = None, *, shows_framing: bool = False
    ) -> None:
        """`environ` is where the proxy variables are read, once per channel.

        With `shows_framing` sinks see the headers that describe the body on its way, which they get decoded.
        """
        self._hidden = frozenset[str]() if shows_framing else FRAMING
        self._environ = environ
        self._limits = limits or Limits()
        self._pool = Pool(self._limits)
        self._trust = Trust()
        self._calls: set[HttpCall] = set()
        self._outlets: dict[int, _Outlet] = {}
        self._refusal: Failure | None = None

    @property
    def open_connections(self) -> int:
        """How many connections stand, busy and idle."""
        return self._pool.open_connections

    @property
    def idle_connections(self) -> int:
        """How many of them wait for a request."""
        return self._pool.idle_connections

    def open(self, channel: Channel, request: UpstreamRequest, sink: Sink) -> Call:
        """Start a call and return at once; what cannot be sent fails in the loop's next turn."""
        outlet = self._outlets.get(id(channel))
        if outlet is None or outlet.channel is not channel:
            made = self._refusal or self._outlet(channel)
            if isinstance(made, Failure):
                return DoomedCall(sink, made)
            outlet = made
        head = self._refusal or outlet.writer.write(request)
        if isinstance(head, Failure):
            return DoomedCall(sink, head)
        call = HttpCall(outlet, head, request.body, sink)
        self._calls.add(call)
        connection = self._pool.take(outlet.stack)
        if connection is not None:
            call.run_on(connection)
        else:
            call.run_fresh()
        return call

    async def close(self) -> None:
        """Fail all calls, close all connections and wait until they are gone."""
        self._refusal = failures.shutting_down()
        opening = [call.opening for call in self._calls if call.opening is not None]
        for call in tuple(self._calls):
            call.fail(self._refusal)
        if opening:
            await asyncio.wait(opening)
        await self._pool.close()

    def _outlet(self, channel: Channel) -> "_Outlet | Failure":
        """Work out, once per channel value, all that its requests share."""
        origin = parse_base_url(channel.base_url)
        if isinstance(origin, str):
            return failures.misconfigured(f"base_url {origin}")
        proxy = choose_proxy(self._environ, origin)
        if isinstance(proxy, BadProxy):
            return failures.misconfigured(proxy.problem)
        try:
            roots = roots_of(channel.ca_file)
        except OSError as error:
            return failures.misconfigured(f"ca_file {channel.ca_file}: {error.strerror}")
        writer = head_writer(channel, origin, proxy)
        if isinstance(writer, Failure):
            return writer
        outlet = _Outlet(self, channel, route_to(origin, proxy, roots), writer)
        if len(self._outlets) >= _MAX_OUTLETS:  # a reload makes new values; the old ones must not pile up
            self._outlets.clear()
        self._outlets[id(channel)] = outlet
        return outlet


class _Outlet:
    """What all requests of one channel share. Keeps the channel, so that its id stays its own."""

    __slots__ = ("_upstream", "channel", "drain_timeout", "hidden", "route", "stack", "writer")

    def __init__(self, upstream: HttpUpstream, channel: Channel, route: Route, writer: HeadWriter) -> None:
        self._upstream = upstream
        self.channel = channel
        self.route = route
        self.writer = writer
        self.stack = upstream._pool.stack(route)
        self.drain_timeout = upstream._limits.drain_timeout
        self.hidden = upstream._hidden

    def fresh(self) -> Connection:
        return Connection(self._upstream._pool, self.stack, self._upstream._limits)

    async def connect(self, connection: Connection) -> Failure | None:
        return await dial(connection, self.route, self._upstream._trust, self.channel.connect_timeout)

    def ended(self, call: HttpCall) -> None:
        self._upstream._calls.discard(call)
