"""Sends spans to a collector over OTLP/HTTP, on a thread of its own and never in anyone's way."""

import importlib.util
import logging
import os
import socket
import threading
from collections import deque
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from tidegate import __version__
from tidegate.exchange.traced import Traced
from tidegate.observe.spans import Clean, Peers, spans_of

if TYPE_CHECKING:
    from tidegate.observe.otlp import Collector

log = logging.getLogger(__name__)

PACKAGES = ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http.trace_exporter")
BOUND = 4_096
"""Finished requests that may wait, some 20 MB; those beyond have no spans, and are counted."""
BATCH = 256
"""Requests whose spans are sent together."""
WINDOW = 1.0
"""Seconds for which requests are gathered."""
PATIENCE = 5.0
"""Seconds for one batch."""
_REMEMBERED = 1_024


class Destination(Struct, frozen=True, kw_only=True):
    """Where spans go; `headers` may hold credentials. `url` is whole."""

    url: str
    headers: Mapping[str, str]
    service_name: str


def is_installed() -> bool:
    """Whether the packages of the extra `tracing` are there. Loads none of them but their parents."""
    try:
        return all(importlib.util.find_spec(name) is not None for name in PACKAGES)
    except ImportError:  # a parent is missing
        return False


class Tracer:
    """Implements `exchange.traced.Spans`. `take` and `close` are the event loop's, `_run` the thread's."""

    def __init__(
        self,
        destination: Destination,
        peers: Peers,
        clean: Clean,
        *,
        window: float = WINDOW,
        bound: int = BOUND,
    ) -> None:
        """Loads OpenTelemetry, so the extra must be installed; see `is_installed`."""
        self._peers = peers
        self._clean = lru_cache(_REMEMBERED)(clean)
        self._window = window
        self._bound = bound
        self._collector = _collector(destination)
        self._waiting: deque[Traced] = deque()
        self._refused = 0
        self._unsent = 0
        self._away = False
        self._hurry = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tidegate-tracing", daemon=True)
        self._thread.start()

    @property
    def dropped(self) -> int:
        """Requests whose spans were not sent."""
        return self._refused + self._unsent

    def take(self, traced: Traced) -> None:
        """See `Spans`."""
        waiting = len(self._waiting)
        if waiting >= self._bound:
            self._refused += 1
            if str(self._refused).strip("0") == "1":  # the 1st, 10th, 100th … is told
                log.warning("tracing: spans are dropped, too many wait (%d requests so far)", self._refused)
            return
        self._waiting.append(traced)
        if waiting == BATCH:
            self._hurry.set()

    def close(self, patience: float) -> None:
        """Send what waits, for `patience` seconds at most. Blocks."""
        self._closing.set()
        self._hurry.set()
        self._thread.join(patience)
        self._collector.close()  # breaks off what is on its way
        self._thread.join(1.0)

    def _run(self) -> None:
        while not (self._closing.is_set() and not self._waiting):
            self._hurry.wait(self._window)
            self._hurry.clear()
            while self._waiting and not self._collector.closed:
                try:
                    self._send_some()
                except Exception:  # the thread must live on for what follows
                    log.exception("tracing: unexpected error")
            if self._collector.closed:
                return

    def _send_some(self) -> None:
        batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
        sent = False
        try:
            sent = self._collector.send(
                [(one.trace, spans_of(one, self._peers, self._clean)) for one in batch]
            )
        finally:
            if not sent:
                self._unsent += len(batch)
        if sent == self._away:
            self._tell(sent)
        self._away = not sent

    def _tell(self, sent: bool) -> None:  # noqa: FBT001 (what has just been found)
        if sent:
            log.warning("tracing: the collector takes spans again (%d requests have none)", self._unsent)
        else:
            log.warning("tracing: spans cannot be sent, requests go on without: %s", self._collector.reason)


def _collector(destination: Destination) -> "Collector":
    from tidegate.observe.otlp import Collector  # late: loads OpenTelemetry, which is an extra

    return Collector(destination.url, destination.headers, resource_of(destination.service_name), PATIENCE)


def resource_of(service_name: str) -> dict[str, str]:
    """Who sends the spans."""
    return {
        "service.name": service_name,
        "service.version": __version__,
        "service.instance.id": f"{socket.gethostname()}:{os.getpid()}",
    }
