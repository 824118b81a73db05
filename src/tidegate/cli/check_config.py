"""`tidegate check-config`: tells whether a config file can be used, and what to mend."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from tidegate.cli.exit_codes import Exit


def check_config(
    file: Annotated[Path, typer.Argument(help="The configuration (TOML).", show_default=False)],
) -> None:
    """Check a configuration without starting anything: every mistake with its line and what mends it."""
    from tidegate.config import ConfigError, load  # late: `--help` need not load it

    try:
        config = load(file, os.environ)
    except ConfigError as error:
        for problem in error.problems:
            print(problem, file=sys.stderr)
        raise typer.Exit(Exit.USAGE) from error
    for warning in config.warnings:
        print(warning, file=sys.stderr)
    counts = (
        _count(len(config.channels), "channel"),
        _count(len(config.models), "model"),
        _count(len(config.keys), "key"),
        _count(len(config.warnings), "warning"),
    )
    print(f"good: {', '.join(counts)}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
