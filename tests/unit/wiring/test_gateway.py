"""A gateway in this process: what it serves, how it takes a new config, how it ends."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from tests.unit.exchange.said import ASK, STREAM

from tidegate.config import Config, load
from tidegate.core.secret import Secret
from tidegate.wiring.gateway import Gateway, open_gateway
from tidegate.wiring.serving import bind

PATH = "/v1/chat/completions"
ADMIN = '[admin]\ntoken = "admin-token-1"\n'


class Mute:
    """An upstream that accepts connections and never answers."""

    def __init__(self) -> None:
        self.connections = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        while await reader.read(1 << 16):
            pass
        writer.close()


def config(folder: Path, upstream: int, key: str = "sk-tg-1", more: str = "") -> Config:
    path = folder / "tidegate.toml"
    path.write_text(
        f'{more}\n[database]\nurl = "sqlite:///{folder}/t.db"\n'
        f'[[keys]]\nname = "k"\nkey = "{key}"\n'
        '[[channels]]\nname = "a"\nprotocol = "chat"\napi_key = "x"\nmodels = ["m"]\n'
        f'base_url = "http://127.0.0.1:{upstream}/v1"\n'
    )
    return load(path, {})


@asynccontextmanager
async def running(
    folder: Path, more: str = "", metrics: socket.socket | None = None
) -> AsyncIterator[tuple[Gateway, int, Mute]]:
    mute = Mute()
    upstream = await asyncio.start_server(mute, "127.0.0.1", 0)
    gateway = await open_gateway(
        config(folder, upstream.sockets[0].getsockname()[1], more=more), Secret("own")
    )
    sock = bind("127.0.0.1", 0)
    try:
        await gateway.listen(sock, metrics)
        yield gateway, sock.getsockname()[1], mute
    finally:
        await asyncio.wait_for(gateway.close(), 60)
        upstream.close()


async def ask(port: int, line: str, body: Any = None, key: str = "sk-tg-1") -> tuple[int, bytes]:
    """Status and body of one request on a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    text = b"" if body is None else json.dumps(body).encode()
    head = f"{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {key}\r\n"
    writer.write(f"{head}content-length: {len(text)}\r\n\r\n".encode() + text)
    answer = await asyncio.wait_for(reader.read(), 60)
    writer.close()
    first, _, rest = answer.partition(b"\r\n\r\n")
    return int(first.split(b" ")[1]), rest


async def outcomes(port: int) -> list[str]:
    rows = json.loads((await ask(port, "GET /admin/v1/requests", key="admin-token-1"))[1])
    return sorted(row["outcome"] for row in rows["data"])


async def accepted(mute: Mute, count: int) -> None:
    async with asyncio.timeout(60):
        while mute.connections < count:
            await asyncio.sleep(0.001)


async def test_it_serves_as_its_config_says_and_takes_another(tmp_path: Path) -> None:
    async with running(tmp_path) as (gateway, port, _):
        assert (await ask(port, "GET /readyz"))[0] == 200
        assert b'"m"' in (await ask(port, "GET /v1/models"))[1]
        gateway.reload(config(tmp_path, 1, key="sk-tg-2", more="[server]\nmax_body_bytes = 10\n"))
        assert (await ask(port, "GET /v1/models"))[0] == 401
        assert (await ask(port, "GET /v1/models", key="sk-tg-2"))[0] == 200
        assert (await ask(port, f"POST {PATH}", ASK, key="sk-tg-2"))[0] == 413


async def test_a_reload_waits_for_its_opening_balances_and_is_told_once_it_is_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A second one that comes meanwhile waits for the same, and is the one that counts."""
    opened = asyncio.Event()

    async def slow(*_: object) -> None:
        await opened.wait()

    def told() -> int:
        return caplog.text.count("the config was reloaded")

    late = '[[accounts]]\nname = "late"\nbalance = "5"\n'
    async with running(tmp_path) as (gateway, port, _):
        caplog.set_level("INFO", "tidegate")
        monkeypatch.setattr("tidegate.wiring.gateway._OPENING_PATIENCE", 60)
        monkeypatch.setattr("tidegate.storage.books.DatabaseBooks.open_accounts", slow)
        for key in ("sk-tg-2", "sk-tg-3"):
            gateway.reload(config(tmp_path, 1, key=key, more=late))
            for _turn in range(5):
                await asyncio.sleep(0)
            assert [(await ask(port, "GET /v1/models", key=one))[0] for one in ("sk-tg-1", key)] == [200, 401]
        assert told() == 0
        opened.set()
        async with asyncio.timeout(60):
            while not told():
                await asyncio.sleep(0.001)
        keys = ("sk-tg-1", "sk-tg-2", "sk-tg-3")
        assert [(await ask(port, "GET /v1/models", key=one))[0] for one in keys] == [401, 401, 200]
        assert told() == 1


async def test_metrics_are_for_those_who_know_the_admin_token(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, port, mute):
        assert b"tidegate_open_requests 0\n" in (await ask(port, "GET /metrics"))[1]
        open_one = asyncio.get_running_loop().create_task(ask(port, f"POST {PATH}", ASK))
        await accepted(mute, 1)
        status, text = await ask(port, "GET /metrics")
        assert status == 200
        assert b"tidegate_open_requests 1\n" in text
        assert b"tidegate_database_up 1\n" in text
        assert b"tidegate_spool_rows 0\n" in text
        assert b"redis" not in text
        open_one.cancel()
    async with running(tmp_path, ADMIN) as (_, port, _):
        assert (await ask(port, "GET /metrics"))[0] == 401
        assert (await ask(port, "GET /metrics", key="admin-token-1"))[0] == 200


async def test_metrics_with_a_port_of_their_own_are_only_there(tmp_path: Path) -> None:
    listen = '[server]\nmetrics_listen = "127.0.0.1:0"\n'
    sock = bind("127.0.0.1", 0)
    async with running(tmp_path, listen + ADMIN, metrics=sock) as (_, port, _):
        assert (await ask(port, "GET /metrics", key="admin-token-1"))[0] == 404
        own = sock.getsockname()[1]
        assert b"tidegate_database_up 1\n" in (await ask(own, "GET /metrics"))[1]
        assert (await ask(own, "GET /readyz"))[0] == 404


async def test_the_admin_api_is_there_only_with_a_token(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, port, _):
        assert (await ask(port, "GET /admin/v1/requests", key="admin-token-1"))[0] == 404
    async with running(tmp_path, ADMIN) as (_, port, _):
        assert (await ask(port, "GET /admin/v1/requests", key="sk-tg-1"))[0] == 401
        assert (await ask(port, "GET /admin/v1/requests", key="admin-token-1"))[0] == 200


@pytest.mark.parametrize("body", [ASK, STREAM])
async def test_a_drain_waits_refuses_and_then_ends_what_is_left(tmp_path: Path, body: Any) -> None:
    async with running(tmp_path, ADMIN) as (gateway, port, mute):
        loop = asyncio.get_running_loop()
        open_one = loop.create_task(ask(port, f"POST {PATH}", body))
        await accepted(mute, 1)
        draining = loop.create_task(gateway.drain(0.2))
        await asyncio.sleep(0)
        assert (await ask(port, f"POST {PATH}", body))[0] == 503
        assert (await ask(port, "GET /readyz"))[0] == 503
        assert not open_one.done()
        await asyncio.wait_for(draining, 60)
        status, told = await asyncio.wait_for(open_one, 60)
        assert (status, json.loads(told)["error"]["code"]) == (503, "draining")
    async with running(tmp_path, ADMIN) as (_, port, _):
        assert await outcomes(port) == ["failed", "rejected"]


async def test_closing_with_a_request_open_still_writes_its_row(tmp_path: Path) -> None:
    async with running(tmp_path, ADMIN) as (_, port, mute):
        left = asyncio.get_running_loop().create_task(ask(port, f"POST {PATH}", STREAM))
        await accepted(mute, 1)
    with pytest.raises((ConnectionError, IndexError)):
        await left
    async with running(tmp_path, ADMIN) as (_, port, _):
        assert await outcomes(port) == ["client_closed"]


async def test_the_spool_is_where_the_config_says(tmp_path: Path) -> None:
    settings = config(tmp_path, 9)
    place = tmp_path / "elsewhere" / "spool"
    database = structs.replace(settings.database, spool=str(place))
    gateway = await open_gateway(structs.replace(settings, database=database), Secret("own"))
    assert list(place.glob("*.lock"))
    await gateway.close()
