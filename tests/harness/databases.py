"""The database of a gateway under test: SQLite's file, or one on the tests' PostgreSQL."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from tests.harness.postgres_server import PostgresServer


class File:
    """The database is SQLite's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"sqlite:///{folder}/tidegate.db"

    def run(self, statement: str) -> None:
        """Change something behind everybody's back."""
        with sqlite3.connect(self.folder / "tidegate.db") as connection:
            connection.execute(statement)
        connection.close()

    def stored(self) -> bytes:
        """All that is kept, the spool too."""
        found = (path for path in self.folder.rglob("tidegate.db*") if path.is_file())
        return b"".join(path.read_bytes() for path in found)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else can change anything."""
        lock = sqlite3.connect(self.folder / "tidegate.db", isolation_level=None)
        lock.execute("BEGIN EXCLUSIVE")
        yield
        lock.execute("ROLLBACK")
        lock.close()


class Server:
    """The database is PostgreSQL's."""

    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        self.name = server.fresh()
        self.url = server.url(self.name)

    def run(self, statement: str) -> None:
        """Change something behind everybody's back."""
        self.server.run(statement, database=self.name)

    def stored(self) -> bytes:
        """All rows of all tables."""
        tables = self.server.ask("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", self.name)
        rows = [
            row for (table,) in tables for row in self.server.ask(f"SELECT t::text FROM {table} t", self.name)
        ]
        return repr(rows).encode()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else can change anything."""
        with psycopg.connect(self.url) as lock:
            lock.execute("LOCK TABLE catalog_version IN EXCLUSIVE MODE")
            yield


Site = File | Server
