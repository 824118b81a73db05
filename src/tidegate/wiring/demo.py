"""The gateway and the simulated provider in one process, with nothing to set up."""

import asyncio
import os
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path

import uvloop

from tidegate.config import load
from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.observe import logs
from tidegate.simulator.app import start
from tidegate.wiring.serving import bind, ready_line, run, url_of

_CHANNEL = """
[[channels]]
name = "sim-{protocol}"
protocol = "{protocol}"
base_url = "{base_url}"
api_key = "sim"
models = ["sim*", "{protocol}-sim*"]
"""


def demo(host: str, port: int, announce: Callable[[str, str], None]) -> int:
    """Run until SIGTERM or SIGINT; the exit code. Raises OSError for the socket.

    `announce` is called with base URL and key once requests are served.
    """
    os.environ.setdefault(logs.LEVEL_VARIABLE, "warning")
    os.environ["no_proxy"] = "*"  # the only upstream is the simulated provider beside it
    logs.set_up(os.environ)
    sock = bind(host, port)
    key = "sk-tg-" + secrets.token_hex(16)

    async def work(folder: Path) -> None:
        simulator = await start("127.0.0.1", 0)
        urls = {protocol: simulator.base_url(protocol) for protocol in Protocol}
        path = folder / "tidegate.toml"
        path.write_text(_config(folder, key, urls))
        line = ready_line(sock, tls=False)

        def ready() -> None:
            line()
            announce(url_of(sock, tls=False), key)

        try:
            await run(load(path, os.environ), None, Secret(secrets.token_hex(16)), sock, ready)
        finally:
            await asyncio.wait_for(simulator.close(), 5)

    with tempfile.TemporaryDirectory(prefix="tidegate-demo-") as folder:
        uvloop.run(work(Path(folder)))
    return 0


def _config(folder: Path, key: str, urls: dict[Protocol, str]) -> str:
    head = f'[database]\nurl = "sqlite:///{folder}/demo.db"\n\n[[keys]]\nname = "demo"\nkey = "{key}"\n'
    return head + "".join(
        _CHANNEL.format(protocol=protocol.value, base_url=url) for protocol, url in urls.items()
    )
