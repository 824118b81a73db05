"""A database of its own for each test."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tidegate.storage.database import Database
from tidegate.storage.migrate import bring_up_to_date
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
async def writer(database: Database) -> AsyncIterator[Writer]:
    running = Writer(database, window=0.001)
    yield running
    await running.close(1.0)
