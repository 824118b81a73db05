"""Finds the configuration, and with it the database, that a command is about."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from tidegate.cli.complaint import Complaint, advise
from tidegate.cli.exit_codes import Exit

if TYPE_CHECKING:
    from tidegate.config import Config

DEFAULT_CONFIG = Path("tidegate.toml")

ConfigOption: TypeAlias = Annotated[
    Path, typer.Option("--config", "-c", envvar="TIDEGATE_CONFIG", help="The configuration (TOML).")
]
DatabaseOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--database", help="Use this database, e.g. sqlite:///tidegate.db, and no configuration."),
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="JSON, as the admin API gives it.")]


def configured(path: Path) -> "Config":
    """The checked configuration; what is wrong with it is told, and ends the command."""
    if not path.exists():
        raise Complaint(
            f"{path}: no such file",
            mend="name one with --config or TIDEGATE_CONFIG, or the database itself with --database",
        )
    from tidegate.config import ConfigError, load  # late: `--help` need not load it

    try:
        return load(path, os.environ)
    except ConfigError as error:
        for problem in error.problems:
            print(problem, file=sys.stderr)
        if any("environment variable" in problem.message for problem in error.problems):
            advise("run it with the variables of the gateway, or name the database alone with --database")
        raise typer.Exit(Exit.USAGE) from error


def configured_for(path: Path, database: str | None) -> "Config":
    """As `configured`; with a database of its own, an empty configuration for that."""
    if database is None:
        return configured(path)
    from tidegate.config import Config  # late, as above
    from tidegate.config.settings import Database
    from tidegate.core.secret import Secret

    return Config(database=Database(url=Secret(database)))
