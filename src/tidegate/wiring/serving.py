"""Runs the gateway as a process: the socket, the signals, the drain."""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

import uvloop
from msgspec import structs

from tidegate.config import Config, ConfigError, load
from tidegate.core.secret import Secret
from tidegate.observe import logs
from tidegate.storage.database import DatabaseAway, DatabaseUnusable
from tidegate.wiring.gateway import Gateway, channel_secrets, open_gateway, probe, server_tls
from tidegate.wiring.opening import opened
from tidegate.wiring.secret_file import own_secret
from tidegate.wiring.sharing import Place, SharedMemory, alone
from tidegate.wiring.waiting_room import WaitingRoom
from tidegate.wiring.workers import supervise, wait_until_alone

log = logging.getLogger(__name__)

_BACKLOG = 4096
_GC_THRESHOLD = 50_000
_SWITCH_INTERVAL = 0.0005
_RESTART_ONLY = ("database", "redis", "tracing")
_RESTART_ONLY_OF = {
    "server": ("host", "port", "tls_cert", "tls_key", "secret", "metrics_listen"),
    "admin": ("token",),
}


def serve(config_path: Path, host: str | None, port: int | None, workers: int) -> int:
    """Run until SIGTERM or SIGINT; the exit code. Raises ConfigError, and ListenError for the socket."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # before there is anything to reload it must not kill
    logs.set_up(os.environ)
    config = load(config_path, os.environ)
    for warning in config.warnings:
        log.warning("%s", warning)
    secret = own_secret(config.server.secret, config.database.url.reveal())
    sock = bind(host or config.server.host, config.server.port if port is None else port)
    where = config.server.metrics_listen
    metrics = None if where is None else bind(where.host, where.port)
    announce = ready_line(sock, tls=config.server.tls_cert is not None)

    latest, shared = _Latest(config, config_path), SharedMemory(workers)

    def work(ready: Callable[[], None], number: int) -> None:
        uvloop.run(run(latest.config, config_path, secret, sock, ready, shared.place(number), metrics))

    def work_with_others(ready: Callable[[], None], number: int) -> None:
        try:
            work(ready, number)
        except DatabaseUnusable as error:  # it is tried again, and again
            log.error("a worker cannot start: %s", error)
            raise SystemExit(1) from error

    if workers == 1:
        work(announce, 0)
        return 0
    with contextlib.suppress(DatabaseAway):  # the workers wait for it
        asyncio.run(probe(config))  # a mistake is told once and here, not by each worker
    wait_until_alone()
    return supervise(workers, work_with_others, announce, latest.reread, shared.wipe)


class _Latest:
    """The config that a worker begins with: the newest good one, as its siblings have it in force."""

    def __init__(self, config: Config, path: Path) -> None:
        self.config = config
        self._path = path

    def reread(self) -> None:
        """Take what the file holds now; that a bad one is not taken is told by the workers."""
        with contextlib.suppress(ConfigError):
            self.config = _reloaded(load(self._path, os.environ), self.config)


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
        with contextlib.suppress(OSError):  # a full disk behind the log is no reason not to serve
            sys.stderr.write(line)
            sys.stderr.flush()

    return announce


def url_of(sock: socket.socket, *, tls: bool) -> str:
    """The base URL of a listening socket."""
    host, port = sock.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if tls else 'http'}://{shown}:{port}"


async def run(
    config: Config,
    path: Path | None,
    secret: Secret,
    sock: socket.socket,
    ready: Callable[[], None],
    place: Place | None = None,
    metrics: socket.socket | None = None,
) -> None:
    """Serve on the socket until a signal says otherwise, then drain. `path` is read again on SIGHUP.

    `place` is this process's among the workers; None: it is alone. `metrics` is a socket for them alone.
    """
    for known in _secrets_of(config, secret):
        logs.register_secret(known)
    place = place or alone()
    stop, hurry = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(logs.log_fault)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, lambda: hurry.set() if stop.is_set() else stop.set())
    gateway = await opened(
        partial(open_gateway, config, secret, place),
        WaitingRoom(sock, server_tls(config)),
        stop,
        served=lambda: place.memory.served,
        aloud=place.number == 0,
    )
    if gateway is not None:
        await _serve_with(gateway, sock, metrics, path, place, ready, stop, hurry)


async def _serve_with(
    gateway: Gateway,
    sock: socket.socket,
    metrics: socket.socket | None,
    path: Path | None,
    place: Place,
    ready: Callable[[], None],
    stop: asyncio.Event,
    hurry: asyncio.Event,
) -> None:
    if path is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, lambda: reload(gateway, path))
    try:
        await gateway.listen(sock, metrics)
        place.memory.note_served()
        calm_the_collector()
        share_the_interpreter()
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
    taken = _reloaded(config, gateway.config)
    for name in _waiting(config, taken):
        log.warning("%s has changed: that takes effect at the next start", name)
    for warning in config.warnings:
        log.warning("%s", warning)
    for known in _secrets_of(taken, None):
        logs.register_secret(known)
    gateway.reload(taken)


def _reloaded(config: Config, running: Config) -> Config:
    """`config` with what only a start can change as it is in `running`."""
    kept = {name: getattr(running, name) for name in _RESTART_ONLY}
    for section, names in _RESTART_ONLY_OF.items():
        here, there = getattr(config, section), getattr(running, section)
        kept[section] = structs.replace(here, **{name: getattr(there, name) for name in names})
    return structs.replace(config, **kept)


def _waiting(config: Config, running: Config) -> list[str]:
    """What of `config` only a start can change and is not so in `running`."""
    sections = [f"[{name}]" for name in _RESTART_ONLY if getattr(config, name) != getattr(running, name)]
    return sections + [
        f"{section}.{name}"
        for section, names in _RESTART_ONLY_OF.items()
        for name in names
        if getattr(getattr(config, section), name) != getattr(getattr(running, section), name)
    ]


def share_the_interpreter() -> None:
    """Let the writer's thread have its turns beside a busy event loop.

    It gives up the interpreter's lock at each statement and gets it back when the loop waits, or after this
    interval. With Python's 5 ms a batch of eight statements could take 40 ms, and every hold in it.
    """
    sys.setswitchinterval(_SWITCH_INTERVAL)


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
    known = channel_secrets(config)
    redis = config.redis.url
    known += [] if redis is None else [redis, Secret(unquote(urlsplit(redis.reveal()).password or ""))]
    known += config.tracing.headers.values()
    known += config.admin.operators.values()
    return [secret for secret in (*known, config.admin.token, own) if secret]
