"""Traces as the config says, or none."""

import asyncio
from collections.abc import Callable

from tidegate.config.settings import Tracing as Settings
from tidegate.exchange.traced import TraceRules
from tidegate.observe.logs import known_secrets
from tidegate.observe.spans import Peer
from tidegate.observe.tracing import Destination, Tracer
from tidegate.routing.catalog import Catalog
from tidegate.upstream.origin import Origin, parse_base_url

_LAST_SPANS = 2.0
"""Seconds that the spans of the last requests have to be sent."""


class Tracing:
    """The traces of one process."""

    def __init__(self, settings: Settings, catalog: Callable[[], Catalog]) -> None:
        """`catalog` gives the one that is in force."""
        self._catalog = catalog
        self.rules: TraceRules | None = None
        """None: nothing is traced."""
        self.tracer: Tracer | None = None
        if settings.endpoint is not None:
            headers = {name: value.reveal() for name, value in settings.headers.items()}
            to = Destination(url=settings.endpoint, headers=headers, service_name=settings.service_name)
            self.rules = TraceRules(share=settings.sample, propagates=settings.propagate)
            self.tracer = Tracer(to, self._peer, known_secrets())

    async def close(self) -> None:
        """Send what waits, for a few seconds at most."""
        if self.tracer is not None:
            await asyncio.to_thread(self.tracer.close, _LAST_SPANS)

    def _peer(self, name: str) -> Peer | None:
        channel = self._catalog().channel(name)
        if channel is None:
            return None
        origin = parse_base_url(channel.base_url)
        return Peer(channel.protocol, origin.host, origin.port) if isinstance(origin, Origin) else None
