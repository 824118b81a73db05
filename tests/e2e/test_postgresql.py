"""The gateway on PostgreSQL: several nodes, and a server that goes, keeps silent and comes back."""

import asyncio
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.conftest import Start
from tests.harness import settings
from tests.harness.client import fetch
from tests.harness.dialects import SIDES, Side
from tests.harness.gateway import Gateway, environment, free_port
from tests.harness.postgres_server import PASSWORD, QUOTED_PASSWORD, PostgresServer
from tests.harness.script import stream
from tests.harness.stage import Stage
from tests.harness.together import together
from tests.harness.upstream import ScriptedUpstream, until

Logs = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def name(postgres: PostgresServer) -> Iterator[str]:
    """An empty database."""
    name = postgres.fresh()
    yield name
    postgres.start()
    postgres.drop(name)


@pytest.fixture
def url(postgres: PostgresServer, name: str) -> str:
    return postgres.url(name)


@pytest.fixture
def config(tmp_path: Path, upstream: ScriptedUpstream, url: str) -> settings.Config:
    standard = settings.standard(free_port(), str(tmp_path), upstream.base)
    return settings.merged(standard, database={"url": url})


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Logs]:
    """Starts commands of the product and ends them after the test."""
    running: list[subprocess.Popen[str]] = []

    def begin(*words: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "tidegate", *words]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            cwd=tmp_path,
        )
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.wait(5)


async def readiness(gateway: Gateway, status: int, within: float) -> dict[str, object]:
    """What /readyz says once it answers with `status`; each answer comes within five seconds."""
    deadline = time.monotonic() + within
    while True:
        at = time.monotonic()
        reply = await fetch(gateway.port, "GET", "/readyz")
        assert time.monotonic() - at < 5
        if reply.status == status:
            found: dict[str, object] = reply.json()
            return found
        assert time.monotonic() < deadline, f"/readyz is {reply.status}, not {status}, after {within} s"
        await asyncio.sleep(0.1)


async def play(stage: Stage, count: int) -> list[str]:
    """The models of as many streams of each protocol, each whole."""
    models: list[str] = []

    async def one(side: Side) -> None:
        played = await stage.play(side, stream(side.script().all))
        assert played.text == "Hello"
        models.append(played.model)

    await together({f"{side.name} {number}": one(side) for side in SIDES for number in range(count)})
    return models


def in_database(postgres: PostgresServer, name: str) -> list[object]:
    return [row[0] for row in postgres.ask("SELECT model FROM requests", name)]


def _read(following: "subprocess.Popen[str]", shown: list[str]) -> None:
    assert following.stdout is not None
    for line in following.stdout:
        shown.append(line)


async def _begun(shown: list[str], stage: Stage) -> None:
    """`logs` follows: it shows what was played last, and nothing more of that is to come."""
    for _ in range(60):
        models = await play(stage, 1)
        for model in models:
            await stage.gateway.row(model)
        await asyncio.sleep(1)
        if {line.split()[3] for line in shown}.issuperset(models):
            return
    raise AssertionError("`logs --follow` shows nothing")


async def test_two_nodes_with_two_workers_each_share_one_journal(
    start: Start, run: Logs, config: settings.Config, upstream: ScriptedUpstream, url: str, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    here = Gateway(config, tmp_path, "--workers", "2")  # both find an empty database
    there = Gateway(settings.merged(config, server={"port": free_port()}), other, "--workers", "2")
    try:
        for node in (here, there):
            node.wait_ready()
        checked = run("check-config", "tidegate.toml")
        assert checked.wait(20) == 0
        following = run("logs", "--follow", "--limit", "0", "--database", url)
        await readiness(here, 200, 25)
        shown: list[str] = []
        reading = threading.Thread(target=_read, args=(following, shown), daemon=True)
        reading.start()
        await _begun(shown, Stage(here, upstream))
        before = len(shown)
        played = await asyncio.gather(play(Stage(here, upstream), 6), play(Stage(there, upstream), 6))
        models = [model for some in played for model in some]
        for model in models:
            await here.row(model)
        await until(lambda: len(shown) >= before + len(models), 30, "every row is shown")
        following.send_signal(signal.SIGINT)
        assert following.wait(30) == 128 + signal.SIGINT
        reading.join(30)
        assert following.stderr is not None
        assert following.stderr.read() == ""
        assert sorted(line.split()[3] for line in shown[before:]) == sorted(models)
    finally:
        for node in (here, there):
            node.stop()
    for node in (here, there):
        assert node.process.returncode == 0
        assert "Traceback" not in node.log
        assert PASSWORD not in node.log


async def test_callers_do_not_notice_that_the_server_restarts(
    start: Start, config: settings.Config, upstream: ScriptedUpstream, postgres: PostgresServer, name: str
) -> None:
    gateway = start(config)
    stage = Stage(gateway, upstream)
    models = await play(stage, 2)
    postgres.stop(signal.SIGKILL)
    assert (await readiness(gateway, 503, 25))["database"] == "unreachable"
    models += await play(stage, 2)
    postgres.start()
    await readiness(gateway, 200, 25)
    models += await play(stage, 2)
    for model in models:
        await gateway.row(model, within=10)
    assert sorted(map(str, in_database(postgres, name))) == sorted(models)
    assert PASSWORD not in gateway.log


async def test_callers_do_not_notice_a_silent_server(
    start: Start, config: settings.Config, upstream: ScriptedUpstream, postgres: PostgresServer, name: str
) -> None:
    gateway = start(config)
    stage = Stage(gateway, upstream)
    models = await play(stage, 1)
    with postgres.frozen():
        assert (await readiness(gateway, 503, 25))["database"] == "unreachable"
        for _ in range(5):
            at = time.monotonic()
            models += await play(stage, 2)
            assert time.monotonic() - at < 15
    await readiness(gateway, 200, 25)
    for model in models:
        await gateway.row(model, within=20)
    assert sorted(map(str, in_database(postgres, name))) == sorted(models)


def test_a_server_that_refuses_us_is_told_once_without_the_password(
    config: settings.Config, postgres: PostgresServer, tmp_path: Path
) -> None:
    wrong = settings.merged(config, database={"url": postgres.url(password="hunter2")})
    gateway = Gateway(wrong, tmp_path, "--workers", "2")
    assert gateway.exit_code(within=20) == 2
    assert gateway.log.count("password authentication failed") == 1
    for word in ("Traceback", "hunter2", PASSWORD, QUOTED_PASSWORD):
        assert word not in gateway.log
