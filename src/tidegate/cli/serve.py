"""`tidegate serve`: runs the gateway."""

import ssl
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
    raise typer.Exit(_serve(config, host, port, workers))


def _serve(config: Path, host: str | None, port: int | None, workers: int) -> int:
    from tidegate.config import ConfigError  # late, all three: `--help` need not load the servers
    from tidegate.observe.logs import BadLogSetting
    from tidegate.storage.database import DatabaseUnusable
    from tidegate.wiring import ListenError
    from tidegate.wiring import serve as run_gateway

    try:
        return run_gateway(config, host, port, workers)
    except ConfigError as error:
        for problem in error.problems:
            print(problem, file=sys.stderr)
        return Exit.USAGE
    except DatabaseUnusable as error:
        raise Complaint(str(error)) from error
    except BadLogSetting as error:
        raise Complaint(str(error)) from error
    except ListenError as error:
        raise no_listening(error, error.where) from error
    except ssl.SSLError as error:
        raise _no_certificate(error) from error


def _no_certificate(error: ssl.SSLError) -> Complaint:
    reason = error.reason or error.strerror or "unreadable"
    return Complaint(
        f"server.tls_cert and server.tls_key are no certificate and its key: {reason}",
        mend="name two PEM files that belong together",
    )
