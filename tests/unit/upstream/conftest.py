"""Both event loops, and peers and upstreams that are closed after each test."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
import uvloop
from tests.unit.upstream.certificates import Authority
from tests.unit.upstream.peers import Peer, Script, eventually

from tidegate.upstream.client import HttpUpstream
from tidegate.upstream.limits import Limits

Serve = Callable[..., Awaitable[Peer]]
MakeUpstream = Callable[..., HttpUpstream]


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Every test of this folder that needs a loop runs on both."""
    return {"asyncio": asyncio.SelectorEventLoop, "uvloop": uvloop.new_event_loop}


@pytest_asyncio.fixture
async def serve() -> AsyncIterator[Serve]:
    """Starts scripted peers."""
    peers: list[Peer] = []

    async def start(script: Script, **options: Any) -> Peer:
        peers.append(await Peer(script).start(**options))
        return peers[-1]

    yield start
    for peer in peers:
        await peer.stop()


@pytest_asyncio.fixture
async def upstreams() -> AsyncIterator[MakeUpstream]:
    """Makes upstreams; afterwards no connection and no socket of theirs may be left."""
    made: list[HttpUpstream] = []
    before = sockets()

    def make(environ: dict[str, str] | None = None, **limits: Any) -> HttpUpstream:
        made.append(HttpUpstream(environ or {}, Limits(**limits)))
        return made[-1]

    yield make
    for upstream in made:
        await upstream.close()
        assert upstream.open_connections == 0
    await eventually(lambda: sockets() <= before + 2)  # the loop may keep a pair of its own


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """A certificate authority of the test session."""
    return Authority(tmp_path_factory.mktemp("authority"))


def sockets() -> int:
    """How many sockets the process holds."""
    count = 0
    for number in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink(f"/proc/self/fd/{number}").startswith("socket:")
        except OSError:
            continue  # closed meanwhile
    return count
