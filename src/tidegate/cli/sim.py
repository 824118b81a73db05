"""`tidegate sim`: the simulated provider alone."""

import asyncio
from typing import Annotated

import typer

from tidegate.cli.complaint import no_listening


def sim(
    host: Annotated[str, typer.Option(help="Listen on this address.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Listen on this port; 0 takes a free one.")
    ] = 9100,
) -> None:
    """Run the simulated provider alone: three protocols, with pace and faults in the model name."""
    try:
        asyncio.run(_run(host, port))
    except OSError as error:
        raise no_listening(error, f"{host}:{port}") from error
