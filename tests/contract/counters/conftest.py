"""A Redis for the tests of this folder, and the counters of every kind."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.contract.counters.nodes import alone, nodes, siblings
from tests.harness.redis_server import RedisServer

from tidegate.exchange.ports import Limits
from tidegate.storage import redis_link

Pair = tuple[Limits, Limits]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis may be slow, as all is on a busy machine; tests of its silence set how long it may be silent."""
    monkeypatch.setattr(redis_link, "PATIENCE", 10.0)


@pytest.fixture(scope="session")
def shared_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One Redis for all tests that leave it alone."""
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis of the test's own, to be maltreated."""
    server = RedisServer(tmp_path)
    yield server
    server.stop()


@pytest_asyncio.fixture(params=["one process", "two workers", "two nodes on Redis"])
async def pair(request: pytest.FixtureRequest) -> AsyncIterator[Pair]:
    """Two counters that share everything."""
    match request.param:
        case "one process":
            yield alone()
        case "two workers":
            yield siblings()
        case _:
            server = request.getfixturevalue("shared_redis")
            server.command("FLUSHALL")
            async with nodes(server) as made:
                yield made[0].limits, made[1].limits
