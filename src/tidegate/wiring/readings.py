"""Reads what the parts of one process count, in the form of figures."""

import platform
import time
from collections.abc import Iterator

from tidegate import __version__
from tidegate.exchange.lifecycle import Exchange
from tidegate.exchange.tally import Tally
from tidegate.observe import figures
from tidegate.observe.counts import Cell, Counts, Labels
from tidegate.observe.figures import Figure
from tidegate.observe.process import ProcessReading, cpu_microseconds
from tidegate.routing.breaker import Health
from tidegate.routing.catalog import Catalog
from tidegate.storage.assembly import Storage
from tidegate.upstream.client import HttpUpstream
from tidegate.wiring.sharing import Sharing

LIMITS = (
    *(("requests", owner) for owner in ("key", "account")),
    *(("tokens", owner) for owner in ("key", "account")),
    *(("concurrency", owner) for owner in ("key", "account")),
    *((f"budget_{period}", owner) for period in ("day", "month") for owner in ("key", "account")),
    ("balance", "account"),
)
"""Every limit that there is: a count that begins at 0 shows its first step."""


class Readings:
    """What one process counts beside its finished requests."""

    def __init__(
        self, exchange: Exchange, storage: Storage, sharing: Sharing, upstream: HttpUpstream
    ) -> None:
        self._exchange = exchange
        self._storage = storage
        self._sharing = sharing
        self._upstream = upstream
        self._started_at = time.time()

    def __call__(self, process: ProcessReading | None) -> Counts:
        """As of now; `process` is what the system tells of it, once it has told."""
        catalog = self._exchange.snapshot.catalog
        return {
            **self._single(process),
            **tallied(self._exchange.world.tally),
            **of_channels(self._sharing.health, catalog, time.monotonic()),
            figures.BUILD.name: {(__version__, platform.python_version()): [1]},
            figures.CONNECTIONS.name: {
                ("busy",): [self._upstream.open_connections - self._upstream.idle_connections],
                ("idle",): [self._upstream.idle_connections],
            },
        }

    def _single(self, process: ProcessReading | None) -> Counts:
        """The figures without labels; what is None is not told."""
        redis, spans = self._sharing.redis_up(), self._exchange.settlement.spans
        told: dict[Figure, float | None] = {
            figures.DATABASE_UP: int(not self._storage.away),
            figures.REDIS_UP: None if redis is None else int(redis),
            figures.SPOOL: self._storage.spooled,
            figures.QUEUE: self._storage.waiting,
            figures.LOST: self._storage.lost,
            figures.CONTENTS_LOST: self._storage.contents.dropped,
            figures.SPANS_LOST: None if spans is None else spans.dropped,
            figures.OPEN_REQUESTS: self._exchange.open_requests,
            figures.OPEN_STREAMS: len(self._exchange.checkpoints),
            figures.WORKERS: 1,
            figures.STARTED: round(self._started_at, 3),
            figures.CPU: cpu_microseconds(),
            figures.MEMORY: None if process is None else process.memory,
            figures.OPEN_FILES: None if process is None else process.open_files,
            figures.MOST_FILES: None if process is None else process.most_files,
        }
        return {figure.name: {(): [value]} for figure, value in told.items() if value is not None}


def tallied(tally: Tally) -> Counts:
    """What is counted while requests run."""
    return {
        figures.GAPS.name: {
            (protocol.value,): [round(gaps.seconds * figures.MICROSECONDS), *gaps.classes()]
            for protocol, gaps in tally.gaps.items()
        },
        figures.KEEPALIVES.name: {(): [tally.keepalives]},
        figures.OPENED.name: {(): [tally.opened]},
        figures.REFUSALS.name: {limit: [tally.refusals.get(limit, 0)] for limit in LIMITS},
        figures.HOLDS.name: {(): [tally.holds]},
        figures.HELD.name: {(): [tally.held]},
    }


def of_channels(health: Health, catalog: Catalog, now: float) -> Counts:
    """How the channels stand; `now` is by the clock of the health."""
    begun = health.rests_begun()
    return {
        figures.COOLDOWNS.name: {(one.name,): [begun.get(one.name, 0)] for one in catalog.channels},
        figures.COOLING.name: dict(_cooling(health, catalog, now)),
        figures.CHANNEL_OPEN.name: {(name,): [turns] for name, turns in health.open_turns().items()},
    }


def _cooling(health: Health, catalog: Catalog, now: float) -> Iterator[tuple[Labels, Cell]]:
    for channel, upstream_model in health.cooling(now):
        offered = catalog.offered_as(channel, upstream_model)
        if offered is not None:
            yield (channel, offered), [1]
