"""A database of its own for each test."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tidegate.storage.assembly import Storage, open_storage
from tidegate.storage.database import Database
from tidegate.storage.migrate import bring_up_to_date
from tidegate.storage.verify import verify
from tidegate.storage.writer import Writer


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/tidegate.db"


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    opened = Database(url, busy_seconds=0.02)
    bring_up_to_date(opened)
    yield opened
    opened.close()


@pytest_asyncio.fixture
async def storage(url: str) -> AsyncIterator[Storage]:
    """A storage whose account `acme` has 1,000 nano-USD; its books must be right at the end."""
    running = await open_storage(url, 0)
    await running.books.open_accounts([("acme", 1_000)])
    yield running
    await running.close(1.0)
    assert verify(Database(url)) is None


@pytest_asyncio.fixture
async def writer(database: Database) -> AsyncIterator[Writer]:
    running = Writer(database, window=0.001)
    yield running
    await running.close(1.0)
