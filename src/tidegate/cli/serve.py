"""`tidegate serve`: runs the gateway."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tidegate.cli.complaint import Complaint, no_listening
from tidegate.cli.exit_codes import Exit

DEFAULT_CONFIG = Path("tidegate.toml")


def serve(
    config: Annotated[
        Path,
        typer.Option("--config", "-c", envvar="TIDEGATE_CONFIG", help="The configuration (TOML)."),
    ] = DEFAULT_CONFIG,
    host: Annotated[
        str | None, typer.Option(help="Listen on this address instead of the configured one.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Listen on this port instead of the configured one; 0 takes a free one."
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes that share the port.")] = 1,
) -> None:
    """Run the gateway with a configuration file."""
    if not config.exists():
        raise Complaint(
            f"{config}: no such file",
            mend="name one with --config or TIDEGATE_CONFIG, or try `tidegate demo`, which needs none",
        )
    from tidegate import wiring  # late: `--help` need not load the servers
    from tidegate.config import ConfigError

    try:
        code = wiring.serve(config, host, port, workers)
    except ConfigError as error:
        for problem in error.problems:
            print(problem, file=sys.stderr)
        raise typer.Exit(Exit.USAGE) from error
    except OSError as error:
        if error.filename is not None:
            raise  # a file, not the socket
        where = f"{host or 'the configured host'}:{'the configured port' if port is None else port}"
        raise no_listening(error, where) from error
    raise typer.Exit(code)
