"""`tidegate sim`: the simulated provider alone."""

import asyncio
import signal
import sys
from typing import Annotated

import typer

from tidegate.cli.complaint import no_listening


def sim(
    host: Annotated[str, typer.Option(help="Listen on this address.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Listen on this port; 0: any free one.")] = 9100,
) -> None:
    """Run the simulated provider alone: three protocols, with pace and faults in the model name."""
    try:
        asyncio.run(_simulate(host, port))
    except OSError as error:
        raise no_listening(error, f"{host}:{port}") from error


async def _simulate(host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM, then end every connection."""
    from tidegate.simulator.app import start  # late: `--help` need not load it

    told_to_end = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told_to_end.set)
    simulator = await start(host, port)
    shown = f"[{host}]" if ":" in host else host
    print(f"simulated provider listening on http://{shown}:{simulator.port}", file=sys.stderr, flush=True)
    await told_to_end.wait()
    await simulator.close()
