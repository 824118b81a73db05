"""Builds one running gateway from a config: every part, connected."""

import asyncio
import itertools
import os
import secrets
import socket
import ssl
import time
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from aiohttp.web_request import BaseRequest

from tidegate.admin.app import create_admin_app
from tidegate.config import Config, build_catalog
from tidegate.config.settings import UsageChunk
from tidegate.core.secret import Secret
from tidegate.engine.relay import Wording
from tidegate.exchange.heartbeat import Heartbeat
from tidegate.exchange.lifecycle import Exchange
from tidegate.exchange.request import World
from tidegate.exchange.settlement import Settlement
from tidegate.exchange.snapshot import Settings, Snapshot
from tidegate.observe.logs import log_request
from tidegate.observe.tokens import BpeTokenizer
from tidegate.routing.breaker import Health, Rules
from tidegate.server.connection import ConnectionFactory
from tidegate.server.directory import Directory
from tidegate.server.endpoints import DataPlane
from tidegate.server.endpoints import Rules as ServerRules
from tidegate.storage.assembly import Storage, open_storage
from tidegate.upstream.client import HttpUpstream

_MAX_LINE = 16_384
_MAX_FIELD = 32_768
_MAX_HEADERS = 200
_LINGER = 2.0
_KEEPALIVE = 75.0
_LAST_WORDS = 2.0
"""Seconds that interrupted streams have to send their error event."""


class Gateway:
    """One process's gateway, open for requests."""

    def __init__(
        self,
        config: Config,
        secret: Secret,
        storage: Storage,
        upstream: HttpUpstream,
        tokenizer: BpeTokenizer,
        admin: web.AppRunner | None,
    ) -> None:
        ids = _Ids()
        self.config = config
        self._secret = secret
        self._storage = storage
        self._upstream = upstream
        self._tokenizer = tokenizer
        self._admin = admin
        self._servers: list[asyncio.Server] = []
        self._health = Health(_breaker_rules(config))
        world = _world(upstream, self._health, tokenizer, ids)
        settlement = Settlement(storage.journal, storage.ownership, time.monotonic, log_request)
        self.exchange = Exchange(world, _snapshot(config, secret), settlement, storage.ownership)
        directory = Directory(self.exchange, storage.ready, int(time.time()))
        self._plane = DataPlane(self.exchange, directory, _server_rules(config), ids, self._others)
        self._factory = ConnectionFactory(
            self._plane,
            answer=self._plane.bad_http,
            request_factory=self._make_request,
            access_log=None,
            auto_decompress=False,
            keepalive_timeout=_KEEPALIVE,
            lingering_time=_LINGER,
            max_line_size=_MAX_LINE,
            max_field_size=_MAX_FIELD,
            max_headers=_MAX_HEADERS,
        )

    async def listen(self, sock: socket.socket) -> None:
        """Accept connections on a bound socket."""
        loop = asyncio.get_running_loop()
        context = _tls(self.config)
        self._servers.append(await loop.create_server(self._factory, sock=sock, ssl=context, backlog=4096))

    def reload(self, config: Config) -> None:
        """Put another config in force for new requests; open ones keep theirs."""
        self.config = config
        snapshot = _snapshot(config, self._secret)
        self.exchange.snapshot = snapshot
        self._health.adopt(_breaker_rules(config), snapshot.catalog.serves)
        self._plane.rules = _server_rules(config)

    async def drain(self, patience: float) -> None:
        """Let nobody in, wait for open requests, then end those that are left with their protocol's error."""
        self.exchange.draining = True
        if not await self._quiet_within(patience):
            self.exchange.interrupt_all()
            await self._quiet_within(_LAST_WORDS)

    async def close(self) -> None:
        """Stop listening, write the last rows, and let go of everything."""
        for server in self._servers:
            server.close()
        await self._factory.shutdown(0.5)
        await self.exchange.settlement.settled()
        if self._admin is not None:
            await self._admin.cleanup()
        await self._storage.close()
        await self._upstream.close()
        self._tokenizer.close()

    async def _quiet_within(self, patience: float) -> bool:
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + patience
        while self.exchange.open_requests:
            if loop.time() >= ends_at:
                return False
            await asyncio.sleep(0.02)
        return True

    def _make_request(self, message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> BaseRequest:
        server = None if self._admin is None else self._admin.server
        if server is not None and message.path.startswith("/admin/"):
            return server.request_factory(message, payload, protocol, writer, task)
        return BaseRequest(message, payload, protocol, writer, task, asyncio.get_running_loop())

    def _others(self, request: BaseRequest) -> Awaitable[web.StreamResponse] | None:
        if self._admin is None or self._admin.server is None or not isinstance(request, web.Request):
            return None
        return self._admin.server.request_handler(request)


async def probe(config: Config) -> None:
    """Raise what a start with this config would: for a certificate or a database that cannot be used."""
    _tls(config)
    storage = await open_storage(config.database.url.reveal(), config.database.retention)
    await storage.close()


async def open_gateway(config: Config, secret: Secret) -> Gateway:
    """Open database, upstream and admin API; the gateway does not listen yet."""
    storage = await open_storage(config.database.url.reveal(), config.database.retention)
    upstream = HttpUpstream(os.environ)
    tokenizer = BpeTokenizer()
    admin: web.AppRunner | None = None
    if config.admin.token is not None:
        admin = web.AppRunner(create_admin_app(config.admin.token, storage.requests), access_log=None)
        await admin.setup()
    return Gateway(config, secret, storage, upstream, tokenizer, admin)


def _world(upstream: HttpUpstream, health: Health, tokenizer: BpeTokenizer, ids: Callable[[], str]) -> World:
    return World(
        upstream=upstream,
        health=health,
        heartbeat=Heartbeat(asyncio.get_running_loop(), time.monotonic),
        clock=time.monotonic,
        wall=time.time,
        tokenizer=tokenizer,
        new_id=ids,
    )


def _snapshot(config: Config, secret: Secret) -> Snapshot:
    streaming = config.streaming
    settings = Settings(
        commit_after=streaming.commit_after,
        keepalive_interval=streaming.keepalive_interval,
        keepalive_comment=streaming.keepalive_comment,
        always_usage=streaming.usage_chunk is UsageChunk.ALWAYS,
        wording=Wording(streaming.timeout_message, streaming.failure_message),
        max_event_bytes=streaming.max_event_bytes,
        max_attempts=config.routing.max_attempts,
        secret=secret,
    )
    return Snapshot(build_catalog(config), settings)


def _breaker_rules(config: Config) -> Rules:
    routing = config.routing
    return Rules(failures_before_cooldown=routing.failures_before_cooldown, cooldown=routing.cooldown)


def _server_rules(config: Config) -> ServerRules:
    server = config.server
    return ServerRules(
        max_body_bytes=server.max_body_bytes,
        body_timeout=server.body_timeout,
        cors_origins=server.cors_origins,
    )


def _tls(config: Config) -> ssl.SSLContext | None:
    server = config.server
    if server.tls_cert is None or server.tls_key is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(server.tls_cert, server.tls_key)
    return context


class _Ids:
    """27 hex digits that rise with time, so that the database adds a row's id at the end of its index.

    Random by process and counted within it: made after a fork, so that no two workers share a sequence.
    """

    def __init__(self) -> None:
        self._process = secrets.token_hex(5)
        self._numbers = itertools.count(secrets.randbits(16))

    def __call__(self) -> str:
        number = next(self._numbers) & 0xFFFFFF
        return f"{time.time_ns() // 1_000_000:011x}{self._process}{number:06x}"
