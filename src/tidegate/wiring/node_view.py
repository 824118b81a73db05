"""Tells how this node and its channels stand."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from tidegate import __version__
from tidegate.admin.ports import ChannelHealth, ModelHealth, NodeHealth
from tidegate.managed.live import LiveCatalog
from tidegate.observe import figures
from tidegate.observe.counts import Counts, by_label, value_of
from tidegate.observe.figures import Figure
from tidegate.routing.breaker import Cooling, Health, MayProbe, Probed, Ready, Standing
from tidegate.routing.catalog import Channel, Duty
from tidegate.routing.names import is_pattern
from tidegate.wiring.sharing import SharedMemory, Sharing

_SHOWN = (figures.DATABASE_UP, figures.SPOOL, figures.OPEN_REQUESTS, figures.CHANNEL_OPEN)


class NodeView:
    """Implements `HealthReader`. `counts` gives what all workers count of some figures."""

    def __init__(
        self,
        catalog: LiveCatalog,
        sharing: Sharing,
        memory: SharedMemory,
        counts: Callable[[Sequence[Figure]], Counts],
    ) -> None:
        self._counts = counts
        self._catalog = catalog
        self._sharing = sharing
        self._memory = memory

    def health(self) -> NodeHealth:
        """As of now."""
        counts, redis = self._counts(_SHOWN), self._sharing.redis_up()
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
        now, wall = time.monotonic(), time.time()
        return channel_healths(
            self._catalog.state.config.channels, self._sharing.health, open_requests, now, wall
        )


def channel_healths(
    channels: Iterable[Channel], health: Health, open_requests: Mapping[str, float], now: float, wall: float
) -> tuple[ChannelHealth, ...]:
    """Channels by name, each with the upstream models that are known of it; `now` is as of `health`."""
    resting = health.resting()
    found = []
    for channel in sorted(channels, key=lambda channel: channel.name):
        listed = {upstream for public, upstream in channel.models.items() if not is_pattern(public)}
        models = tuple(
            _model(channel.name, upstream, health, now, wall)
            for upstream in sorted(listed.union(resting.get(channel.name, ())))
        )
        found.append(
            ChannelHealth(
                name=channel.name,
                state=_state(channel, models),
                open_requests=int(open_requests.get(channel.name, 0)),
                models=models,
            )
        )
    return tuple(found)


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
