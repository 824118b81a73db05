"""The gateway and the simulated provider in one process, with nothing to set up."""

import asyncio
import os
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path

import uvloop
from msgspec import Struct

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

[[models]]
name = "{protocol}-sim*"
price = {price}
"""
_PRICE = '{ input = "3.00", output = "15.00", cache_read = "0.30", cache_write = "3.75" }'
_HEAD = """
[database]
url = "sqlite:///{folder}/demo.db"

[admin]
token = "{token}"

[[keys]]
name = "demo"
key = "{key}"

[[models]]
name = "sim*"
price = {price}
"""


class Access(Struct, frozen=True):
    """What a visitor of the demo needs. `base_url` is without `/v1`; `token` opens the console."""

    base_url: str
    key: str
    token: str


def demo(host: str, port: int, announce: Callable[[Access], None]) -> int:
    """Run until SIGTERM or SIGINT; the exit code. Raises OSError for the socket.

    `announce` is called once requests are served.
    """
    os.environ.setdefault(logs.LEVEL_VARIABLE, "warning")
    os.environ["no_proxy"] = "*"  # the only upstream is the simulated provider beside it
    logs.set_up(os.environ)
    sock = bind(host, port)
    access = Access(url_of(sock, tls=False), "sk-tg-" + secrets.token_hex(16), secrets.token_hex(8))

    async def work(folder: Path) -> None:
        simulator = await start("127.0.0.1", 0)
        urls = {protocol: simulator.base_url(protocol) for protocol in Protocol}
        path = folder / "tidegate.toml"
        path.write_text(_config(folder, access, urls))
        line = ready_line(sock, tls=False)

        def ready() -> None:
            line()
            announce(access)

        try:
            await run(load(path, os.environ), None, Secret(secrets.token_hex(16)), sock, ready)
        finally:
            await asyncio.wait_for(simulator.close(), 5)

    with tempfile.TemporaryDirectory(prefix="tidegate-demo-") as folder:
        uvloop.run(work(Path(folder)))
    return 0


def _config(folder: Path, access: Access, urls: dict[Protocol, str]) -> str:
    head = _HEAD.format(folder=folder, token=access.token, key=access.key, price=_PRICE)
    return head + "".join(
        _CHANNEL.format(protocol=protocol.value, base_url=url, price=_PRICE) for protocol, url in urls.items()
    )
