"""Builds one running gateway from a config: every part, connected."""

import asyncio
import logging
import os
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.web_request import BaseRequest
from sqlalchemy.exc import SQLAlchemyError

from tidegate.config import Config
from tidegate.core.failure import Kind, TidegateError
from tidegate.core.secret import Secret
from tidegate.exchange.heartbeat import Heartbeat
from tidegate.exchange.lifecycle import Exchange
from tidegate.exchange.ports import RequestRecord
from tidegate.exchange.request import World
from tidegate.exchange.settlement import Settlement
from tidegate.exchange.snapshot import Snapshot
from tidegate.exchange.traced import Spans, TraceRules
from tidegate.ledger.money import to_nano
from tidegate.managed.desk import Desk
from tidegate.managed.live import LiveCatalog
from tidegate.managed.sealing import Vault
from tidegate.observe.counts import Counts, value_of
from tidegate.observe.figures import SPOOL, Figure
from tidegate.observe.logs import log_attempt, log_request, register_secret
from tidegate.observe.tokens import BpeTokenizer
from tidegate.routing.breaker import Health
from tidegate.server.connection import ConnectionFactory
from tidegate.server.directory import Directory
from tidegate.server.endpoints import DataPlane
from tidegate.server.metrics_page import MetricsListener, MetricsPage
from tidegate.storage.assembly import Storage, Unheard, open_storage
from tidegate.storage.audit import NOBODY, Deed
from tidegate.storage.database import DatabaseUnusable
from tidegate.upstream.client import HttpUpstream
from tidegate.wiring.admin_site import AdminParts, AdminSite, open_admin_site
from tidegate.wiring.channel_tests import ChannelTests
from tidegate.wiring.config_changes import config_changes
from tidegate.wiring.config_digest import config_digest
from tidegate.wiring.contents import keeping_of
from tidegate.wiring.in_force import breaker_rules, server_rules, snapshot_of
from tidegate.wiring.measures import Measures
from tidegate.wiring.node_view import NodeView
from tidegate.wiring.readings import Readings
from tidegate.wiring.request_ids import RequestIds
from tidegate.wiring.sharing import Place, Sharing, alone
from tidegate.wiring.tracing import Tracing

log = logging.getLogger(__name__)

_MAX_LINE = 16_384
_MAX_FIELD = 32_768
_MAX_HEADERS = 200
_LINGER = 2.0
_KEEPALIVE = 75.0
_OPENING_PATIENCE = 2.0
"""Seconds that a config waits for its opening balances."""
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
        sharing: Sharing,
        catalog: LiveCatalog,
        place: Place,
    ) -> None:
        ids = RequestIds()
        self.config = config
        self._secret = secret
        self._storage = storage
        self._upstream = upstream
        self._tokenizer = tokenizer
        self.admin: AdminSite | None = None
        self._catalog = catalog
        self._hidden = set(channel_secrets(catalog.state.config))
        self._servers: list[asyncio.Server] = []
        self._health = sharing.health
        self.sharing = sharing
        self._measures = Measures(place.memory.counts, place.number, lambda: self.exchange.snapshot.catalog)
        self._tracing = Tracing(config.tracing, lambda: self.exchange.snapshot.catalog)
        world = _world(upstream, sharing, storage, tokenizer, ids, self._tracing.rules)
        snapshot = snapshot_of(catalog.state.config, secret)
        self.exchange = _exchange(world, snapshot, storage, self._tell, self._tracing.tracer)
        self._opening: asyncio.Task[None] | None = None
        self._tells = place.number == 0
        self._checkpoints = asyncio.create_task(self.exchange.checkpoints.run())
        self._measures.start(Readings(self.exchange, storage, sharing, upstream))
        self._metrics = MetricsListener(self._measures.page)
        page = MetricsPage(self._measures.page, config.admin.token)
        shown = page if config.server.metrics_listen is None else None
        directory = Directory(self.exchange, storage.ready, int(time.time()), self._facts, shown)
        self.plane = DataPlane(self.exchange, directory, server_rules(config), ids, self._others)
        self._factory = self._connections()
        storage.contents.keeping = keeping_of(catalog.state.config)
        catalog.watch(self._put_in_force)

    async def listen(self, sock: socket.socket, metrics: socket.socket | None = None) -> None:
        """Accept connections on a bound socket, and for metrics on one of their own if there is one."""
        await self._open_accounts()
        if metrics is not None:
            await self._metrics.listen(metrics)
        loop = asyncio.get_running_loop()
        context = server_tls(self.config)
        self._servers.append(await loop.create_server(self._factory, sock=sock, ssl=context, backlog=4096))

    def reload(self, config: Config) -> None:
        """Put another config in force for new requests; open ones keep theirs.

        One that opens accounts waits for their opening balances, for a moment at most: else the first
        requests of their keys would be refused.
        """
        opens = _opening_balances(config) - _opening_balances(self.config)
        if self._tells:
            deed = Deed(action="reload", kind="config", changes=config_changes(self.config, config))
            self._storage.audit.tell(NOBODY, deed)
        self.config = config
        self.plane.rules = server_rules(config)
        if self.admin is not None:
            self.admin.reload(config.admin)
        self._storage.tell_config(config_digest(config, self._secret))
        if self._opening is not None and not self._opening.done():
            self._opening.cancel()  # the accounts that it opens are in this config, or in none
            opens = _opening_balances(config)
        if opens:
            self._opening = asyncio.create_task(self._open_and_take(config))
        else:
            self._take(config)

    async def _open_and_take(self, config: Config) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_OPENING_PATIENCE):
                await self._open_accounts()
        self._take(config)

    def _take(self, config: Config) -> None:
        self._catalog.reload(config)
        log.info("the config was reloaded: %d channels, %d keys", len(config.channels), len(config.keys))

    async def _open_accounts(self) -> None:
        """Credit the opening balances of the config file that were never credited."""
        try:
            await self._storage.books.open_accounts(sorted(_opening_balances(self.config)))
        except DatabaseUnusable as error:
            log.error("opening balances are credited when the database is back: %s", error)

    def _put_in_force(self, config: Config) -> None:
        """Take a config file with what the database adds to it."""
        for known in set(channel_secrets(config)) - self._hidden:
            register_secret(known)
            self._hidden.add(known)
        snapshot = snapshot_of(config, self._secret)
        self.exchange.snapshot = snapshot
        self._storage.contents.keeping = keeping_of(config)
        self._health.adopt(breaker_rules(config), snapshot.catalog.serves)

    def serves(self, channel: str, upstream_model: str) -> bool:
        """Whether the config in force has a channel that asks for this model."""
        return self.exchange.snapshot.catalog.serves(channel, upstream_model)

    def _tell(self, record: RequestRecord, kind: Kind | None) -> None:
        """A request has ended."""
        self._measures.traffic.ended(record, kind)
        log_request(record)

    def figures(self, wanted: Sequence[Figure]) -> Counts:
        """What all workers count together of these figures."""
        return self._measures.together(wanted)

    def _facts(self) -> dict[str, object]:
        """What /readyz tells though requests are served all the same."""
        facts: dict[str, object] = {}
        redis = self.sharing.redis_up()
        if redis is not None:
            facts["redis"] = "ok" if redis else "away"
        if waiting := int(value_of(self.figures((SPOOL,)), SPOOL) or 0):
            facts["spool"] = waiting
        if self._storage.config_differs:
            facts["config"] = "differs from another node"
        return facts

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
        await self._metrics.close()
        await self._catalog.close()
        await self.exchange.settlement.settled()
        await self._tracing.close()
        self._checkpoints.cancel()
        if self._opening is not None:
            self._opening.cancel()
        await self.sharing.close()
        if self.admin is not None:
            await self.admin.close()
        await self._storage.close()
        await self._measures.close()
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

    def _connections(self) -> ConnectionFactory:
        return ConnectionFactory(
            self.plane,
            answer=self.plane.bad_http,
            patience=lambda: self.plane.rules.client_timeout,
            request_factory=self._make_request,
            access_log=None,
            auto_decompress=False,
            keepalive_timeout=_KEEPALIVE,
            lingering_time=_LINGER,
            max_line_size=_MAX_LINE,
            max_field_size=_MAX_FIELD,
            max_headers=_MAX_HEADERS,
        )

    def _make_request(self, message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> BaseRequest:
        parts = (message, payload, protocol, writer, task)
        made = None if self.admin is None else self.admin.make_request(*parts)
        return BaseRequest(*parts, asyncio.get_running_loop()) if made is None else made

    def _others(self, request: BaseRequest) -> Awaitable[web.StreamResponse] | None:
        return None if self.admin is None else self.admin.answer(request)


async def probe(config: Config) -> None:
    """Raise what a start with this config would: for a certificate or a database that cannot be used."""
    server_tls(config)
    database = config.database
    storage = await open_storage(database.url.reveal(), database.retention, folder=_spool(config))
    await storage.close()


async def open_gateway(
    config: Config, secret: Secret, place: Place | None = None, unheard: Unheard | None = None
) -> Gateway:
    """Open database, shared limits, upstream and admin API; the gateway does not listen yet.

    `unheard` is called when the database takes long to answer.
    """
    place = place or alone()
    storage = await open_storage(
        config.database.url.reveal(),
        config.database.retention,
        folder=_spool(config),
        config=config_digest(config, secret),
        aloud=place.number == 0,
        workers=place.workers,
        unheard=unheard,
    )
    vault = Vault(secret)
    catalog = await _catalog(config, vault, storage)
    upstream = HttpUpstream(os.environ)
    tokenizer = BpeTokenizer()
    sharing = Sharing(Health(breaker_rules(config)), config.redis.url, place)
    gateway = Gateway(config, secret, storage, upstream, tokenizer, sharing, catalog, place)
    health = NodeView(catalog, sharing, place.memory, gateway.figures)
    parts = AdminParts(storage, Desk(catalog, vault), health, ChannelTests(os.environ), gateway.plane)
    gateway.admin = await open_admin_site(config, secret, parts, place.memory)
    await sharing.open(gateway.serves)
    return gateway


def _spool(config: Config) -> Path | None:
    return None if config.database.spool is None else Path(config.database.spool)


async def _catalog(config: Config, vault: Vault, storage: Storage) -> LiveCatalog:
    """The catalog of file and database; a database that cannot be read raises DatabaseUnusable."""
    catalog = LiveCatalog(config, vault, storage.catalog)
    try:
        await catalog.load()
    except TidegateError as error:
        await storage.close()
        if isinstance(error.__cause__, SQLAlchemyError):
            raise storage.unusable(error.failure.message, error.__cause__) from error
        raise DatabaseUnusable(f"{error.failure.message}: {error.failure.detail}") from error
    for known in channel_secrets(catalog.state.config):
        register_secret(known)
    return catalog


def channel_secrets(config: Config) -> list[Secret]:
    """What the log must never show of channels."""
    return [secret for channel in config.channels for secret in channel.secrets]


def _world(
    upstream: HttpUpstream,
    sharing: Sharing,
    storage: Storage,
    tokenizer: BpeTokenizer,
    ids: Callable[[], str],
    tracing: TraceRules | None,
) -> World:
    return World(
        upstream=upstream,
        health=sharing.health,
        heartbeat=Heartbeat(asyncio.get_running_loop(), time.monotonic),
        clock=time.monotonic,
        wall=time.time,
        tokenizer=tokenizer,
        books=storage.books,
        limits=sharing.limits,
        new_id=ids,
        tracing=tracing,
        tell_failed=log_attempt,
    )


def _opening_balances(config: Config) -> set[tuple[str, int]]:
    """Account names with nano-USD."""
    return {
        (account.name, to_nano(account.balance) or 0)
        for account in config.accounts
        if account.balance is not None
    }


def _exchange(
    world: World,
    snapshot: Snapshot,
    storage: Storage,
    tell: Callable[[RequestRecord, Kind | None], None],
    spans: Spans | None,
) -> Exchange:
    settlement = Settlement(
        storage.journal, storage.ownership, world.limits, time.monotonic, tell, world.tally, spans
    )
    return Exchange(world, snapshot, settlement, storage.ownership, storage.contents)


def server_tls(config: Config) -> ssl.SSLContext | None:
    """What HTTPS is served with; None: plain HTTP."""
    server = config.server
    if server.tls_cert is None or server.tls_key is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(server.tls_cert, server.tls_key)
    return context
