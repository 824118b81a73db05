"""Runs commands on a database of their own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection
from tests.unit.managed.stores import FILE
from typer.testing import CliRunner, Result

from tidegate.cli.app import app
from tidegate.storage.database import Database
from tidegate.storage.ledger_desk import LedgerFile
from tidegate.storage.migrate import bring_up_to_date

T = TypeVar("T")


class Commands:
    """The command line, with a config file."""

    def __init__(self, folder: Path) -> None:
        self.config = folder / "tidegate.toml"
        self.url = f"sqlite:///{folder}/tidegate.db"
        self.config.write_text(f'[database]\nurl = "{self.url}"\n{FILE}')

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(app, [*arguments, "--config", str(self.config)])

    def good(self, *arguments: str) -> str:
        result = self.run(*arguments)
        assert result.exit_code == 0, result.output
        return result.stdout

    def rows(self, *arguments: str) -> list[Any]:
        return [json.loads(line) for line in self.good(*arguments, "--json").splitlines()]

    def bad(self, *arguments: str) -> str:
        result = self.run(*arguments)
        assert result.exit_code == 2, result.output
        assert "Traceback" not in result.output
        return " ".join(result.stderr.split())

    def in_books(self, task: Callable[[Connection], T]) -> T:
        """Do it in the database, whose tables are made if need be."""
        database = Database(self.url)
        bring_up_to_date(database)
        try:
            return LedgerFile(database).write(task)
        finally:
            database.close()
