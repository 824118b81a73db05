"""A database of its own for each test, on SQLite and on PostgreSQL."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psycopg
import pytest
import pytest_asyncio
from tests.harness.postgres_server import PostgresServer

from tidegate.storage.assembly import Storage, open_storage
from tidegate.storage.database import Database
from tidegate.storage.migrate import bring_up_to_date
from tidegate.storage.verify import verify
from tidegate.storage.writer import Writer

SHORT = 0.3
"""Seconds after which a statement that waits for a lock fails, on PostgreSQL."""

Locked = Callable[[], AbstractContextManager[None]]


@pytest.fixture(scope="session")
def migrated(postgres_server: PostgresServer) -> Iterator[str]:
    """A database with all tables, to be copied."""
    name = postgres_server.fresh()
    database = Database(postgres_server.url(name))
    bring_up_to_date(database)
    database.close()
    yield name
    postgres_server.drop(name)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits on the disk is kept in the working directory, where the database is a server's."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def empty_url(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Where nothing is yet."""
    if kind == "sqlite":
        yield f"sqlite:///{tmp_path}/empty.db"
        return
    postgres: PostgresServer = request.getfixturevalue("postgres")
    name = postgres.fresh()
    yield postgres.url(name)
    postgres.drop(name)


@pytest.fixture
def url(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Where the tables may be already: that is faster."""
    if kind == "sqlite":
        yield f"sqlite:///{tmp_path}/tidegate.db"
        return
    postgres: PostgresServer = request.getfixturevalue("postgres")
    name = postgres.fresh(template=request.getfixturevalue("migrated"))
    yield postgres.url(name)
    postgres.drop(name)


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    """With the patience that it has in the gateway."""
    opened = Database(url)
    bring_up_to_date(opened)
    yield opened
    opened.close()


@pytest.fixture
def impatient(url: str) -> Iterator[Database]:
    """Where locks are not waited for. A slow machine is not quick enough for it now and then."""
    opened = Database(url, busy_seconds=0.02, statement_seconds=SHORT)
    bring_up_to_date(opened)
    yield opened
    opened.close()


@pytest_asyncio.fixture
async def writer(database: Database) -> AsyncIterator[Writer]:
    running = Writer(database, window=0.001)
    yield running
    await running.close(1.0)


@pytest_asyncio.fixture
async def storage(url: str) -> AsyncIterator[Storage]:
    """A storage whose account `acme` has 1,000 nano-USD; its books must be right at the end."""
    running = await open_storage(url, 0)
    await running.books.open_accounts([("acme", 1_000)])
    yield running
    await running.close(1.0)
    database = Database(url)
    assert verify(database) is None
    database.close()


@pytest.fixture
def locked(url: str, kind: str) -> Locked:
    """Another process holds a lock that no writer gets past."""

    @contextmanager
    def hold() -> Iterator[None]:
        if kind == "sqlite":
            other = Database(url)
            with other.connect_writer() as connection, connection.begin():
                yield
            other.close()
        else:
            with psycopg.connect(url) as driver:
                driver.execute("LOCK TABLE requests, owned_ids")
                yield

    return hold


@pytest.fixture
def told_when_locked(kind: str) -> str:
    """What the database says then."""
    return "locked" if kind == "sqlite" else "statement timeout"
