"""Runs the gateway as a process: the socket, the signals, the drain."""

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import uvloop

from tidegate.config import Config, ConfigError, load
from tidegate.core.secret import Secret
from tidegate.observe import logs
from tidegate.wiring.gateway import Gateway, open_gateway
from tidegate.wiring.secret_file import own_secret
from tidegate.wiring.workers import supervise

log = logging.getLogger(__name__)

_BACKLOG = 4096
_GC_THRESHOLD = 50_000
_RESTART_ONLY = ("database", "redis", "admin")


def serve(config_path: Path, host: str | None, port: int | None, workers: int) -> int:
    """Run until SIGTERM or SIGINT; the exit code. Raises ConfigError, and ListenError for the socket."""
    logs.set_up(os.environ)
    config = load(config_path, os.environ)
    for warning in config.warnings:
        log.warning("%s", warning)
    secret = own_secret(config.server.secret, config.database.url.reveal())
    sock = bind(host or config.server.host, config.server.port if port is None else port)
    announce = ready_line(sock, tls=config.server.tls_cert is not None)

    def work(ready: Callable[[], None]) -> None:
        uvloop.run(run(config, config_path, secret, sock, ready))

    if workers == 1:
        work(announce)
        return 0
    return supervise(workers, work, announce)


class ListenError(OSError):
    """Why a server cannot listen; `where` is the address in words."""

    def __init__(self, error: OSError, where: str) -> None:
        super().__init__(error.errno, error.strerror)
        self.where = where


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any free one. Raises ListenError."""
    try:
        return _bound(host, port)
    except OSError as error:
        raise ListenError(error, f"{host}:{port}") from error


def _bound(host: str, port: int) -> socket.socket:
    family, kind, number, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    sock = socket.socket(family, kind, number)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(_BACKLOG)
    except OSError:
        sock.close()
        raise
    sock.setblocking(False)
    return sock


def ready_line(sock: socket.socket, *, tls: bool) -> Callable[[], None]:
    """Prints where the server listens, once it does."""
    line = f"tidegate: listening on {url_of(sock, tls=tls)}\n"

    def announce() -> None:
        sys.stderr.write(line)
        sys.stderr.flush()

    return announce


def url_of(sock: socket.socket, *, tls: bool) -> str:
    """The base URL of a listening socket."""
    host, port = sock.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if tls else 'http'}://{shown}:{port}"


async def run(
    config: Config, path: Path | None, secret: Secret, sock: socket.socket, ready: Callable[[], None]
) -> None:
    """Serve on the socket until a signal says otherwise, then drain. `path` is read again on SIGHUP."""
    for known in _secrets_of(config, secret):
        logs.register_secret(known)
    gateway = await open_gateway(config, secret)
    stop, hurry = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, lambda: hurry.set() if stop.is_set() else stop.set())
    if path is not None:
        loop.add_signal_handler(signal.SIGHUP, lambda: reload(gateway, path))
    try:
        await gateway.listen(sock)
        calm_the_collector()
        ready()
        await stop.wait()
        log.info(
            "draining: no new requests, open ones may go on for %g s", gateway.config.server.drain_timeout
        )
        await _first(gateway.drain(gateway.config.server.drain_timeout), hurry.wait())
        if hurry.is_set():
            await gateway.drain(0)
    finally:
        await gateway.close()


def reload(gateway: Gateway, path: Path) -> None:
    """Read the config again; a bad one changes nothing and is told in the log."""
    try:
        config = load(path, os.environ)
    except ConfigError as error:
        for problem in error.problems:
            log.error("the config was not reloaded: %s", problem)
        return
    for name in _RESTART_ONLY:
        if getattr(config, name) != getattr(gateway.config, name):
            log.warning("[%s] has changed: that takes effect at the next start", name)
    for known in _secrets_of(config, None):
        logs.register_secret(known)
    gateway.reload(config)
    log.info("the config was reloaded: %d channels, %d keys", len(config.channels), len(config.keys))


def calm_the_collector() -> None:
    """What stands after the start lives for ever, so the collector need not look at it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD, 20, 20)


async def _first(*works: object) -> None:
    tasks = [asyncio.ensure_future(work) for work in works]  # type: ignore[call-overload]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _secrets_of(config: Config, own: Secret | None) -> list[Secret]:
    known = [channel.api_key for channel in config.channels]
    return [secret for secret in (*known, config.admin.token, own) if secret]
