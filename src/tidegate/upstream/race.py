"""A TCP connection to a host, tried at all of its addresses."""

import asyncio
import os
import socket
from itertools import chain, zip_longest
from typing import TypeAlias, cast

SocketAddress: TypeAlias = tuple[str, int] | tuple[str, int, int, int]
Address: TypeAlias = tuple[int, SocketAddress]
"""Address family, and the socket address that goes with it."""

STAGGER = 0.25
"""Seconds after which the next address is tried beside one that has not answered (RFC 8305 §5)."""

_KEEPALIVE = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))
"""A peer that vanished is noticed after two minutes; NAT tables on the way stay warm."""


class Unreachable(OSError):
    """No address of the host took the connection; the text names each and why."""


async def connect_tcp(host: str, port: int) -> socket.socket:
    """A connected, non-blocking socket. Raises OSError (also gaierror) or UnicodeError for a bad name."""
    addresses = alternate(await _resolve(host, port))
    if len(addresses) == 1:
        return await _connect(addresses[0])
    return await _race(addresses)


def alternate(addresses: list[Address]) -> list[Address]:
    """The same addresses, families taking turns, so that one broken family costs one step (RFC 8305 §4)."""
    first = addresses[0][0] if addresses else None
    preferred = [address for address in addresses if address[0] == first]
    others = [address for address in addresses if address[0] != first]
    turns = chain.from_iterable(zip_longest(preferred, others))
    return [address for address in turns if address is not None]


async def _resolve(host: str, port: int) -> list[Address]:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [(int(entry[0]), cast(SocketAddress, entry[4])) for entry in found]


async def _race(addresses: list[Address]) -> socket.socket:
    """The first connection to stand; all others are closed, also when the race itself is cancelled."""
    waiting = list(reversed(addresses))
    running: set[asyncio.Task[socket.socket]] = set()
    lost: list[str] = []
    try:
        while waiting or running:
            if waiting:
                running.add(asyncio.create_task(_connect(waiting.pop())))
            done, _ = await asyncio.wait(
                running, timeout=STAGGER if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                running.discard(task)
                error = task.exception()
                if error is None:
                    running |= done - {task}
                    return task.result()
                lost.append(str(error))
    finally:
        for task in running:
            task.cancel()
            task.add_done_callback(_close_late)
    raise Unreachable("; ".join(lost) or "the name has no addresses")


async def _connect(address: Address) -> socket.socket:
    family, where = address
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setblocking(False)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEPALIVE:
            if hasattr(socket, name):  # macOS lacks one of them
                made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        await asyncio.get_running_loop().sock_connect(made, where)
    except OSError as error:
        made.close()
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise Unreachable(f"{where[0]} port {where[1]}: {reason}") from error
    except BaseException:
        made.close()
        raise
    return made


def _close_late(task: asyncio.Task[socket.socket]) -> None:
    """Close what a racer got after the race was over; its failure no longer matters."""
    if not task.cancelled() and task.exception() is None:
        task.result().close()
