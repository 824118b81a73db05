"""The figures for Prometheus, of all workers together, and what /readyz tells beside them."""

import asyncio
import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import pytest
from tests.conftest import Start
from tests.harness import settings
from tests.harness.client import fetch
from tests.harness.dialects import CHAT
from tests.harness.eventually import comes_true
from tests.harness.gateway import Gateway, free_port
from tests.harness.prometheus import figures
from tests.harness.script import Gate, stream
from tests.harness.upstream import ScriptedUpstream

BEARER = [("authorization", f"Bearer {settings.ADMIN}")]


@pytest.fixture
def config(tmp_path: Path, upstream: ScriptedUpstream) -> settings.Config:
    return settings.standard(free_port(), str(tmp_path), upstream.base)


async def metrics(port: int, token: str | None = settings.ADMIN) -> dict[str, float]:
    """The figures without labels."""
    told = await figures(port, token)
    return {sample.name: sample.value for sample in told.samples if not sample.labels}


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    other = sqlite3.connect(folder / "tidegate.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


async def test_any_worker_tells_what_all_have(
    start: Start, config: settings.Config, upstream: ScriptedUpstream
) -> None:
    gateway = start(config, "--workers", "2")
    gate, script = Gate(), CHAT.script()
    upstream.always("chat-A", "chat-a-open", stream(script.opening, script.deltas, gate, script.closing))
    async with AsyncExitStack() as stack:
        for _ in range(8):
            reply = await stack.enter_async_context(gateway.open(CHAT, CHAT.request("chat-a-open")))
            await reply.until(b"Hel")

        async def eight() -> bool:
            told = [(await metrics(gateway.port))["tidegate_open_requests"] for _ in range(12)]
            return set(told) == {8.0}

        try:
            await comes_true(eight)
        finally:
            gate.open()

    async def none() -> bool:
        return (await metrics(gateway.port))["tidegate_open_requests"] == 0

    await comes_true(none)


async def test_a_worker_that_is_killed_counts_no_more(
    start: Start, config: settings.Config, upstream: ScriptedUpstream
) -> None:
    gateway = start(config, "--workers", "2")
    gate, script = Gate(), CHAT.script()
    upstream.always("chat-A", "chat-a-killed", stream(script.opening, script.deltas, gate, script.closing))
    async with AsyncExitStack() as stack:
        for _ in range(6):
            reply = await stack.enter_async_context(gateway.open(CHAT, CHAT.request("chat-a-killed")))
            await reply.until(b"Hel")
        before = gateway.workers()
        for pid in before:
            os.kill(pid, signal.SIGKILL)

        async def replaced() -> bool:
            return len(gateway.workers()) == 2 and not set(before) & set(gateway.workers())

        await comes_true(replaced)

        async def fresh() -> bool:
            try:
                told = await metrics(gateway.port)
            except (OSError, asyncio.IncompleteReadError):
                return False
            return (told["tidegate_open_requests"], told["tidegate_database_up"]) == (0, 1)

        await comes_true(fresh)
    gate.open()


async def test_metrics_are_guarded_or_have_a_port_of_their_own(start: Start, config: settings.Config) -> None:
    gateway = start(config)
    for headers in ([], [("authorization", f"Bearer {settings.KEY}")]):
        assert (await fetch(gateway.port, "GET", "/metrics", headers)).status == 401
    assert (await metrics(gateway.port))["tidegate_database_up"] == 1
    gateway.stop()
    own = free_port()
    config["server"] |= {"metrics_listen": f"127.0.0.1:{own}", "port": free_port()}
    other = start(config, "--workers", "2")
    assert (await fetch(other.port, "GET", "/metrics", BEARER)).status == 404
    assert (await metrics(own, None))["tidegate_open_requests"] == 0
    assert (await fetch(own, "GET", "/v1/models", [])).status == 404
    assert (await fetch(own, "GET", "/admin/v1/keys", BEARER)).status == 404


def test_a_metrics_port_that_is_taken_is_told(config: settings.Config, tmp_path: Path) -> None:
    config["server"]["metrics_listen"] = f"127.0.0.1:{config['server']['port']}"
    gateway = Gateway(config, tmp_path)
    assert gateway.exit_code() == 3
    assert "the port is in use" in gateway.log
    assert "Traceback" not in gateway.log


async def test_what_waits_on_the_disk_is_told(
    start: Start, config: settings.Config, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    gateway = start(config, "--workers", "2")
    upstream.always("chat-A", "chat-a-spooled", stream(CHAT.script().all))

    async def facts() -> dict[str, object]:
        found: dict[str, object] = (await fetch(gateway.port, "GET", "/readyz")).json()
        return found

    assert "spool" not in await facts()
    with locked(tmp_path):
        for _ in range(12):
            assert (await gateway.call(CHAT, CHAT.request("chat-a-spooled"))).status == 200

        async def told() -> bool:
            found, figures = await facts(), await metrics(gateway.port)
            waiting = found.get("spool", 0)
            assert isinstance(waiting, int)
            return (
                found["database"] == "unreachable"
                and waiting >= 12
                and figures["tidegate_spool_rows"] >= 12
                and figures["tidegate_database_up"] == 0
            )

        await comes_true(told)

    async def over() -> bool:
        found, figures = await facts(), await metrics(gateway.port)
        return (
            found["status"] == "ready"
            and "spool" not in found
            and figures["tidegate_spool_rows"] == 0
            and figures["tidegate_rows_lost_total"] == 0
            and figures["tidegate_database_up"] == 1
        )

    await comes_true(over)
    assert len(await gateway.rows("model=chat-a-spooled&limit=100")) == 12
