"""A config file and a stored catalog for the tests of what is managed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from tests.unit.config.files import read

from tidegate.config import Config
from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.core.secret import Secret
from tidegate.managed.desk import Desk
from tidegate.managed.live import LiveCatalog
from tidegate.managed.sealing import Vault
from tidegate.storage.catalog import StoredCatalog, Task
from tidegate.storage.catalog_access import CatalogFile

T = TypeVar("T")

VAULT = Vault(Secret("the gateway's own secret"))
FILE = """
[[channels]]
name = "filed"
protocol = "chat"
base_url = "https://api.example.com/v1"
api_key = "sk-filed-credential"
models = ["sonnet"]

[[models]]
name = "sonnet"
price = { input = "3.00", output = "15.00" }

[[accounts]]
name = "acme"
balance = "25.00"

[[keys]]
name = "laptop"
account = "acme"
key = "sk-tg-of-the-file"
"""
CHANNEL: dict[str, object] = {
    "name": "stored",
    "protocol": "messages",
    "base_url": "https://api.example.org",
    "api_key": "sk-stored-credential",
    "headers": {"X-Team": "search-team-secret"},
    "models": {"haiku": "claude-haiku-5"},
}


class Store:
    """The catalog of a file, which can be told to be away."""

    def __init__(self, file: CatalogFile) -> None:
        self.file = file
        self.away = False
        self.reads = 0

    async def version(self) -> int:
        self._check()
        return await self.file.version()

    async def all(self) -> StoredCatalog:
        self._check()
        self.reads += 1
        return await self.file.all()

    async def change(self, task: Task[T]) -> T:
        self._check()
        return await self.file.change(task)

    def _check(self) -> None:
        if self.away:
            raise TidegateError(Failure(kind=Kind.INTERNAL, message="away", detail="the disk is gone"))


class Node:
    """One process of a gateway."""

    def __init__(self, config: Config, store: Store, vault: Vault | None = VAULT, poll: float = 60.0) -> None:
        self.store = store
        self.live = LiveCatalog(config, vault, store, poll)
        self.desk = Desk(self.live, vault)


def config(folder: Path, more: str = "") -> Config:
    return read(folder, FILE + more)


@asynccontextmanager
async def node(
    folder: Path, text: str = FILE, vault: Vault | None = VAULT, poll: float = 60.0
) -> AsyncIterator[Node]:
    """A process that has read file and database; several may share a folder."""
    store = Store(CatalogFile(f"sqlite:///{folder}/tidegate.db"))
    running = Node(read(folder, text), store, vault, poll)
    try:
        await running.live.load()
        yield running
    finally:
        await running.live.close()
        store.file.close()
