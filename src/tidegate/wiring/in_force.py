"""What of a config requests go by, in the form that each part takes it."""

from tidegate.config import Config, build_catalog
from tidegate.config.settings import UsageChunk
from tidegate.core.secret import Secret
from tidegate.engine.relay import Wording
from tidegate.exchange.snapshot import Settings, Snapshot
from tidegate.routing.breaker import Rules
from tidegate.server.endpoints import Rules as ServerRules


def snapshot_of(config: Config, secret: Secret) -> Snapshot:
    """What new requests are served by."""
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


def breaker_rules(config: Config) -> Rules:
    """When a channel is left alone, and for how long."""
    routing = config.routing
    return Rules(failures_before_cooldown=routing.failures_before_cooldown, cooldown=routing.cooldown)


def server_rules(config: Config) -> ServerRules:
    """What holds for each request before it is read."""
    server = config.server
    return ServerRules(
        max_body_bytes=server.max_body_bytes,
        body_timeout=server.body_timeout,
        cors_origins=server.cors_origins,
        client_timeout=config.streaming.client_timeout,
    )
