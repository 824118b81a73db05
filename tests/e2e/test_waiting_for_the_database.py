"""A gateway whose PostgreSQL is away when it starts says so, and opens when it is back."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.harness import settings
from tests.harness.client import Reply, fetch
from tests.harness.dialects import CHAT, MESSAGES
from tests.harness.gateway import Gateway, free_port
from tests.harness.postgres_server import PASSWORD, PostgresServer
from tests.harness.script import stream
from tests.harness.stage import Stage
from tests.harness.upstream import ScriptedUpstream


@pytest.fixture
def config(postgres: PostgresServer, upstream: ScriptedUpstream, tmp_path: Path) -> Iterator[settings.Config]:
    name = postgres.fresh()
    config = settings.standard(free_port(), str(tmp_path), upstream.base)
    config["database"] = {"url": postgres.url(name)}
    postgres.stop(signal.SIGKILL)
    yield config
    postgres.start()
    postgres.drop(name)


async def asked(gateway: Gateway, path: str, status: int) -> Reply:
    """An answer, once somebody answers with that status."""
    deadline = time.monotonic() + 30
    while True:
        with contextlib.suppress(ConnectionError, TimeoutError):
            reply = await fetch(gateway.port, "GET", path)
            if reply.status == status:
                return reply
        assert gateway.process.poll() is None, gateway.log[-3000:]
        assert time.monotonic() < deadline, gateway.log[-3000:]
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_it_opens_when_the_database_is_back(
    config: settings.Config,
    postgres: PostgresServer,
    upstream: ScriptedUpstream,
    tmp_path: Path,
    workers: str,
) -> None:
    gateway = Gateway(config, tmp_path, "--workers", workers)
    try:
        assert (await asked(gateway, "/healthz", 200)).json() == {"status": "ok"}
        told = (await asked(gateway, "/readyz", 503)).json()
        assert (told["status"], told["database"]) == ("not ready", "unreachable")
        for side in (CHAT, MESSAGES):
            refused = await gateway.call(side, side.request("m"))
            assert (refused.status, refused.header("retry-after")) == (503, "5")
            assert "waits for its database" in refused.json()["error"]["message"]
        assert (await gateway.admin("requests")).status == 503
        assert "listening on" not in gateway.log
        postgres.start()
        gateway.wait_ready()
        await asked(gateway, "/readyz", 200)
        played = await Stage(gateway, upstream).play(CHAT, stream(CHAT.script().all))
        assert played.text == "Hello"
        assert (await played.row())["outcome"] == "completed"
    finally:
        gateway.stop()
    assert gateway.process.returncode == 0
    assert gateway.log.count("the gateway waits for its database") == 1
    assert gateway.log.count("the database is there") == 1
    assert "Traceback" not in gateway.log
    assert PASSWORD not in gateway.log


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_it_can_be_ended_while_it_waits(config: settings.Config, tmp_path: Path, workers: str) -> None:
    gateway = Gateway(config, tmp_path, "--workers", workers)
    await asked(gateway, "/healthz", 200)
    began = time.monotonic()
    gateway.stop()
    assert time.monotonic() - began < 12
    assert gateway.process.returncode == 0
    assert "Traceback" not in gateway.log


async def test_a_worker_that_is_replaced_meanwhile_takes_no_requests_from_the_others(
    config: settings.Config, postgres: PostgresServer, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    postgres.start()
    gateway = Gateway(config, tmp_path, "--workers", "2")
    try:
        stage = Stage(gateway.wait_ready(), upstream)
        postgres.stop(signal.SIGKILL)
        victim, other = gateway.workers()
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
        deadline = time.monotonic() + 20
        while len(set(gateway.workers()) - {victim}) < 2:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
        await asyncio.sleep(1.0)
        for _ in range(12):
            played = await stage.play(CHAT, stream(CHAT.script().all))
            assert played.text == "Hello"
        postgres.start()
        await asked(gateway, "/readyz", 200)
        assert other in gateway.workers()
    finally:
        gateway.stop()
