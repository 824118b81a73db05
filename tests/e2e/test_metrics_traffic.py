"""What /metrics tells of traffic: all workers together, never less than before, no labels of callers."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from tests.conftest import Start
from tests.harness import settings
from tests.harness.client import fetch
from tests.harness.dialects import CHAT
from tests.harness.eventually import comes_true
from tests.harness.gateway import Gateway, free_port
from tests.harness.prometheus import Figures, figures, promtool
from tests.harness.script import CUT, Gate, Pause, stream
from tests.harness.upstream import ScriptedUpstream

EVIL = ['x"} 1\n# EOF', "a\\b", "chat-a-{}", "\u202e", "m" * 5_000, "chat-c-unserved"]


@pytest.fixture
def config(tmp_path: Path, upstream: ScriptedUpstream) -> settings.Config:
    return settings.standard(free_port(), str(tmp_path), upstream.base)


async def shown(gateway: Gateway) -> Figures:
    return await figures(gateway.port, settings.ADMIN)


async def test_counts_of_all_workers_never_go_down(
    start: Start, config: settings.Config, upstream: ScriptedUpstream
) -> None:
    gateway = start(config, "--workers", "3")
    upstream.always("chat-A", "chat-a-1", stream(CHAT.script().all))
    for _ in range(12):
        assert (await gateway.call(CHAT, CHAT.request("chat-a-1"))).status == 200

    async def all_told() -> bool:
        return (await shown(gateway))("tidegate_requests_total", model="chat-a-*") == 12

    await comes_true(all_told)
    before = await shown(gateway)
    killed = gateway.workers()[:2]
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    seen = before.counters()

    async def never_less() -> bool:
        """While workers die, are away and are replaced."""
        nonlocal seen
        try:
            now = (await shown(gateway)).counters()
        except (OSError, asyncio.IncompleteReadError):
            return False
        assert not {name: (count, now.get(name)) for name, count in seen.items() if now.get(name, -1) < count}
        seen = now
        workers = gateway.workers()
        return len(workers) == 3 and not set(killed) & set(workers)

    await comes_true(never_less)
    for _ in range(6):
        assert (await gateway.call(CHAT, CHAT.request("chat-a-1"))).status == 200

    async def goes_on() -> bool:
        assert await never_less()
        now = await shown(gateway)
        return now("tidegate_requests_total", outcome="completed") == 18 and now("tidegate_workers") == 3

    await comes_true(goes_on)
    now = await shown(gateway)
    assert now("tidegate_attempts_total", outcome="served") == 18
    assert now("tidegate_request_duration_seconds_count", protocol="chat") == 18
    assert now("tidegate_first_token_seconds_bucket", le="+Inf") == 18
    assert now("tidegate_event_gap_seconds_count", protocol="chat") > 0


async def test_callers_make_no_labels(start: Start, config: settings.Config) -> None:
    gateway = start(config)
    for model in EVIL:
        reply = await gateway.call(CHAT, CHAT.request(model))
        assert reply.status >= 400

    async def all_told() -> bool:
        """The last is counted a moment after its answer, and the lag is told from the first look on."""
        now = await shown(gateway)
        counts = [now("tidegate_requests_total", outcome=outcome) for outcome in ("rejected", "failed")]
        return sum(counts) == len(EVIL) and now("tidegate_event_loop_lag_seconds_count") > 0

    await comes_true(all_told)
    reply = await fetch(gateway.port, "GET", "/metrics", [("authorization", f"Bearer {settings.ADMIN}")])
    page = reply.body.decode()
    assert promtool("check", "metrics", given=page) == ""
    told = Figures(page)
    assert {sample.labels["model"] for sample in told.of("tidegate_requests_total")} <= {
        "unknown",
        "none",
        *(model["name"] for model in config["models"]),
    }
    other = await figures(gateway.port, settings.ADMIN, openmetrics=True)
    assert {sample.name for sample in other.samples} == {sample.name for sample in told.samples}


async def test_trouble_is_told_by_channel_and_kind(
    start: Start, config: settings.Config, upstream: ScriptedUpstream
) -> None:
    """A failover, a broken stream, a client that leaves, a limit: each has its count."""
    config["keys"][0]["max_concurrency"] = 1
    config["streaming"] = {"commit_after": "200ms", "keepalive_interval": "200ms"}
    gateway = start(config)
    script, gate = CHAT.script(), Gate()
    upstream.always("chat-A", "chat-a-cut", stream(script.opening, script.deltas, CUT))
    upstream.always("chat-A", "chat-a-open", stream(Pause(0.6), script.opening, script.deltas, gate))
    await gateway.call(CHAT, CHAT.request("chat-a-cut"))
    async with gateway.open(CHAT, CHAT.request("chat-a-open")) as reply:
        await reply.until(b"Hel")
        assert (await gateway.call(CHAT, CHAT.request("chat-a-cut"))).status == 429

        async def one_is_open() -> bool:
            now = await shown(gateway)
            return (
                (now("tidegate_open_requests"), now("tidegate_open_streams")) == (1, 1)
                and now("tidegate_channel_open_requests", channel="chat-A") == 1
                and now("tidegate_upstream_connections", state="busy") == 1
            )

        await comes_true(one_is_open)

    async def left() -> bool:
        now = await shown(gateway)
        return (
            now("tidegate_client_disconnects_total", sent="something") == 1
            and now("tidegate_requests_total", outcome="client_closed") == 1
            and (now("tidegate_open_streams"), now("tidegate_channel_open_requests")) == (0, 0)
        )

    try:
        await comes_true(left)
    finally:
        gate.open()
    now = await shown(gateway)
    assert now("tidegate_requests_total", outcome="interrupted", failure_kind="upstream") == 1
    assert now("tidegate_attempts_total", channel="chat-A", outcome="abandoned") == 1
    assert now("tidegate_limit_refusals_total", limit="concurrency", owner="key") == 1
    assert now("tidegate_keepalives_total") >= 1
    assert now("tidegate_keepalive_commits_total") == 1
    assert now("tidegate_process_resident_memory_bytes") > 10_000_000
    assert 0 < now("tidegate_process_open_fds") < now("tidegate_process_max_fds")
