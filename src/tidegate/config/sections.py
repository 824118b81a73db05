"""Reads the tables that stand once: server, database, redis, streaming, routing."""

import os
from collections.abc import Callable
from pathlib import Path

from tidegate.config import addresses, values
from tidegate.config.settings import Database, Redis, Routing, Server, Streaming, UsageChunk
from tidegate.config.short_secrets import warn_of_short
from tidegate.config.table import Table
from tidegate.config.values import Wrong

_MOST_BYTES = 1 << 40


def existing_file(folder: Path | None) -> Callable[[object], str | Wrong]:
    """A file that can be read; its path is relative to the folder. Without one none may be named."""
    mend = "name a readable file; the path is relative to this config file"

    def parse(raw: object) -> str | Wrong:
        read = values.text(raw)
        if isinstance(read, Wrong):
            return read
        if folder is None:
            return Wrong("names a file of this machine, which only the config file may", "leave it out")
        path = folder / read
        if not path.is_file():
            return Wrong("names no file", mend)
        return str(path) if os.access(path, os.R_OK) else Wrong("names a file that cannot be read", mend)

    return parse


def writable_folder(folder: Path | None) -> Callable[[object], str | Wrong]:
    """A folder to write to, or one that can be made; its path is relative to `folder`."""

    def parse(raw: object) -> str | Wrong:
        read = values.text(raw)
        if isinstance(read, Wrong):
            return read
        path = (folder or Path()) / read
        there = next(place for place in (path, *path.absolute().parents) if os.path.exists(place))
        if not there.is_dir():
            return Wrong("names a file or leads through one", "name a folder, or one that can be made")
        if not os.access(there, os.W_OK | os.X_OK):
            return Wrong(
                "names a folder that cannot be written",
                "give the gateway's user the right to write there, or name another folder",
            )
        return str(path)

    return parse


def server(table: Table) -> Server:
    default = Server()
    file = existing_file(table.sources.folder)
    read = Server(
        host=table.read("host", addresses.host, default.host),
        port=table.read("port", values.whole(0, 65535), default.port),
        tls_cert=table.optional("tls_cert", file),
        tls_key=table.optional("tls_key", file),
        cors_origins=table.items("cors_origins", addresses.origin) or default.cors_origins,
        drain_timeout=table.read("drain_timeout", values.seconds, default.drain_timeout),
        max_body_bytes=table.read("max_body_bytes", values.whole(1, _MOST_BYTES), default.max_body_bytes),
        body_timeout=table.read("body_timeout", values.seconds, default.body_timeout),
        secret=table.read("secret", values.secret, default.secret),
        metrics_listen=table.optional("metrics_listen", addresses.listen),
    )
    if read.secret is not None:
        warn_of_short(table.report, (*table.path, "secret"), read.secret)
    _both(table, "tls_cert", "tls_key")
    _both(table, "tls_key", "tls_cert")
    table.close()
    return read


def _both(table: Table, key: str, other: str) -> None:
    if table.is_set(key) and not table.is_set(other):
        table.error(key, f"is set without {other}", f"set {other} too, or neither to serve plain HTTP")


def database(table: Table) -> Database:
    default = Database()
    read = Database(
        url=table.read("url", addresses.database_url, default.url),
        retention=table.read("retention", values.seconds, default.retention),
        spool=table.optional("spool", writable_folder(table.sources.folder)),
    )
    table.close()
    return read


def redis(table: Table) -> Redis:
    read = Redis(url=table.optional("url", addresses.redis_url))
    table.close()
    return read


def streaming(table: Table) -> Streaming:
    default = Streaming()
    read = Streaming(
        keepalive_interval=table.read("keepalive_interval", values.seconds, default.keepalive_interval),
        keepalive_comment=table.read("keepalive_comment", values.text, default.keepalive_comment),
        commit_after=table.read("commit_after", values.seconds, default.commit_after),
        first_event_timeout=table.read("first_event_timeout", values.seconds, default.first_event_timeout),
        idle_timeout=table.read("idle_timeout", values.seconds, default.idle_timeout),
        client_timeout=table.read("client_timeout", values.seconds, default.client_timeout),
        usage_chunk=table.read("usage_chunk", values.choice(UsageChunk), default.usage_chunk),
        timeout_message=table.read("timeout_message", values.free_text, default.timeout_message),
        failure_message=table.read("failure_message", values.free_text, default.failure_message),
        max_event_bytes=table.read("max_event_bytes", values.whole(1, _MOST_BYTES), default.max_event_bytes),
    )
    table.close()
    return read


def routing(table: Table) -> Routing:
    default = Routing()
    failures = values.whole(1, 1_000_000)
    read = Routing(
        max_attempts=table.read("max_attempts", values.whole(1, 1000), default.max_attempts),
        cooldown=table.read("cooldown", values.seconds, default.cooldown),
        failures_before_cooldown=table.read(
            "failures_before_cooldown", failures, default.failures_before_cooldown
        ),
    )
    table.close()
    return read
