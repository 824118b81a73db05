"""Tells how this node and its channels stand."""

import time
from collections.abc import Callable, Mapping

from tidegate import __version__
from tidegate.admin.ports import ChannelHealth, ModelHealth, NodeHealth
from tidegate.managed.live import LiveCatalog
from tidegate.observe import figures
from tidegate.observe.counts import Counts, by_label, value_of
from tidegate.routing.breaker import Cooling, Health, MayProbe, Probed, Ready, Standing
from tidegate.routing.catalog import Channel, Duty
from tidegate.routing.names import is_pattern
from tidegate.wiring.sharing import SharedMemory, Sharing


class NodeView:
    """Implements `HealthReader`. `counts` gives what all workers count."""

    def __init__(
        self,
        catalog: LiveCatalog,
        sharing: Sharing,
        memory: SharedMemory,
        counts: Callable[[], Counts],
    ) -> None:
        self._counts = counts
        self._catalog = catalog
        self._sharing = sharing
        self._memory = memory

    def health(self) -> NodeHealth:
        """As of now."""
        counts, redis = self._counts(), self._sharing.redis_up()
        return NodeHealth(
            version=__version__,
            started_at=self._memory.made_at,
            workers=self._memory.workers,
            database="ok" if value_of(counts, figures.DATABASE_UP) else "away",
            redis="none" if redis is None else "ok" if redis else "away",
            spool_rows=int(value_of(counts, figures.SPOOL) or 0),
            open_requests=int(value_of(counts, figures.OPEN_REQUESTS) or 0),
            channels=self._channels(by_label(counts, figures.CHANNEL_OPEN)),
        )

    def _channels(self, open_requests: Mapping[str, float]) -> tuple[ChannelHealth, ...]:
        health, now, wall = self._sharing.health, time.monotonic(), time.time()
        return tuple(
            channel_health(channel, health, now, wall, int(open_requests.get(channel.name, 0)))
            for channel in sorted(self._catalog.state.config.channels, key=lambda channel: channel.name)
        )


def channel_health(
    channel: Channel, health: Health, now: float, wall: float, open_requests: int
) -> ChannelHealth:
    """One channel with each upstream model that is known of it; `now` is by the clock of `health`."""
    listed = {upstream for public, upstream in channel.models.items() if not is_pattern(public)}
    models = tuple(
        _model(channel.name, upstream, health, now, wall)
        for upstream in sorted(listed.union(health.resting(channel.name)))
    )
    return ChannelHealth(
        name=channel.name, state=_state(channel, models), open_requests=open_requests, models=models
    )


def _model(channel: str, upstream: str, health: Health, now: float, wall: float) -> ModelHealth:
    state, until = _standing(health.standing(channel, upstream, now))
    return ModelHealth(
        upstream_model=upstream,
        state=state,
        why=health.why(channel, upstream, now),
        until=None if until is None else wall + until - now,
    )


def _standing(standing: Standing) -> tuple[str, float | None]:
    """The word for it, and when it ends by the clock of the health."""
    match standing:
        case Ready():
            return "ready", None
        case MayProbe():
            return "may_probe", None
        case Probed():
            return "probing", None
        case Cooling(until, _):
            return "cooling", until


def _state(channel: Channel, models: tuple[ModelHealth, ...]) -> str:
    """What the operator wants of it, else the worst that is known of any of its models."""
    states = {model.state for model in models}
    match channel.duty:
        case Duty.PAUSED | Duty.DRAINING:
            return str(channel.duty.value)
        case Duty.ACTIVE if "cooling" in states:
            return "cooling"
        case Duty.ACTIVE:
            return "ready" if states <= {"ready"} else "probing"
