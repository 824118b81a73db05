"""What is in force while a request runs; a reload replaces it whole, so no request sees two configs."""

from msgspec import Struct, field

from tidegate.core.secret import Secret
from tidegate.engine.relay import Wording
from tidegate.engine.signals import Limits
from tidegate.exchange.tab import Tariffs
from tidegate.routing.catalog import Catalog, Model


class Settings(Struct, frozen=True, kw_only=True):
    """The settings of `[streaming]` and `[routing]` that a request needs; durations in seconds, 0 = never."""

    commit_after: float = 10.0
    keepalive_interval: float = 10.0
    keepalive_comment: str = "tidegate-keepalive"
    always_usage: bool = False
    wording: Wording
    max_event_bytes: int = 16 * 1024 * 1024
    max_attempts: int = 4
    secret: Secret
    """Keys the hash under which a caller's idempotency key goes up."""

    def limits(self, model: Model) -> Limits:
        """The limits for one model."""
        return Limits(
            commit_after=self.commit_after,
            keepalive=self.keepalive_interval,
            first_event=model.first_event_timeout,
            idle=model.idle_timeout,
        )


class Snapshot(Struct, frozen=True):
    """One state of the configuration."""

    catalog: Catalog
    settings: Settings
    tariffs: Tariffs = field(default_factory=Tariffs)
