"""Reads journal and books straight from the database, when the gateway has ended."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.harness.postgres_server import PostgresServer

Ask = Callable[[str], list[tuple[Any, ...]]]
_ROW = "id, account, outcome, status, input_tokens, output_tokens, usage_source, cost, error_message"


@dataclass(frozen=True)
class RowSeen:
    """A row of the journal; `cost` in nano-USD."""

    id: str
    account: str | None
    outcome: str
    status: int
    input: int
    output: int
    source: str
    cost: int
    error: str | None

    @property
    def killed(self) -> bool:
        """Whether a recovery wrote it."""
        return "was killed" in (self.error or "")


@dataclass(frozen=True)
class BooksSeen:
    """The rows by id, open holds, balance and held by account, and all charges by request."""

    rows: dict[str, RowSeen]
    intents: list[str]
    balances: dict[str, tuple[int, int]]
    charges: dict[str, int]


def read_books(ask: Ask) -> BooksSeen:
    rows = [RowSeen(*row) for row in ask(f"SELECT {_ROW} FROM requests")]
    by_id = {row.id: row for row in rows}
    assert len(by_id) == len(rows), "a request has two rows"
    charges: dict[str, int] = {}
    for reference, amount in ask("SELECT reference, amount FROM postings WHERE kind = 'settle'"):
        charges[reference] = charges.get(reference, 0) + amount
    return BooksSeen(
        by_id,
        [identifier for (identifier,) in ask("SELECT id FROM intents")],
        {name: (balance, held) for name, balance, held in ask("SELECT account, balance, held FROM balances")},
        charges,
    )


def in_sqlite(path: Path) -> Ask:
    def ask(query: str) -> list[tuple[Any, ...]]:
        connection = sqlite3.connect(path)
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    return ask


def in_postgres(server: PostgresServer, name: str) -> Ask:
    return lambda query: server.ask(query, name)
