"""A real Prometheus gets an answer to everything that the dashboard and the alerts ask."""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

from tests.conftest import Start
from tests.dashboard.page import queries
from tests.harness import settings, till
from tests.harness.dialects import CHAT
from tests.harness.eventually import comes_true
from tests.harness.gateway import Gateway, free_port
from tests.harness.prometheus_server import PrometheusServer
from tests.harness.promql import filled
from tests.harness.redis_server import RedisServer
from tests.harness.script import CUT, HOLD, Pause, body, stream
from tests.harness.upstream import ScriptedUpstream

WINDOW = "30s"


def troubled(folder: str, redis: str, upstream: ScriptedUpstream) -> settings.Config:
    """Everything that has a figure of its own is in use."""
    config = till.priced(free_port(), folder, upstream.base)
    config["accounts"] = [{"name": "acme", "balance": "1000"}, {"name": "globex", "requests_per_minute": 1}]
    config["redis"] = {"url": redis}
    config["routing"] |= {"failures_before_cooldown": 1, "cooldown": "60s"}
    config["streaming"] |= {"keepalive_interval": "100ms", "commit_after": "100ms"}
    config["tracing"] = {"endpoint": f"http://127.0.0.1:{free_port()}"}
    script, overloaded = CHAT.script(), body(b'{"error":{"message":"no"}}', 503)
    upstream.always("chat-A", "chat-ab-1", overloaded)
    upstream.always("chat-B", "chat-ab-1", stream(script.all))
    upstream.always("chat-A", "chat-a-cut", stream(script.opening, script.deltas, CUT))
    upstream.always("chat-A", "chat-a-slow", stream(Pause(0.3), script.opening, script.deltas, Pause(5)))
    upstream.always("chat-A", "chat-a-open", stream(script.opening, script.deltas, HOLD))
    return config


async def traffic(gateway: Gateway) -> None:
    """A failover, an answer that breaks off, a client that leaves, a limit: again and again."""
    while True:
        for model in ("chat-ab-1", "chat-a-cut"):
            await gateway.call(CHAT, CHAT.request(model, max_completion_tokens=5))
        await gateway.call(CHAT, CHAT.request("chat-ab-1"), key=settings.OTHER_KEY)
        async with gateway.open(CHAT, CHAT.request("chat-a-slow", max_completion_tokens=5)) as reply:
            await reply.until(b"Hel")
        await asyncio.sleep(0.3)


async def test_everything_that_is_asked_has_an_answer(
    start: Start, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    redis = RedisServer(tmp_path)
    gateway = start(troubled(str(tmp_path), redis.url, upstream), "--workers", "2")
    prometheus = PrometheusServer(tmp_path, gateway.port, settings.ADMIN)
    playing = asyncio.create_task(traffic(gateway))
    silent = {query: filled(query, WINDOW) for query in queries()}

    async def all_answered() -> bool:
        for query, expression in list(silent.items()):
            if not await prometheus.ask(expression):
                return False
            del silent[query]
        return not playing.done()

    try:
        await comes_true(prometheus.is_ready, within=40)
        async with gateway.open(CHAT, CHAT.request("chat-a-open", max_completion_tokens=5)) as reply:
            await reply.until(b"Hel")
            await comes_true(all_answered, within=60)
        rules = await prometheus.rules()
        assert rules
        assert not [rule["lastError"] for rule in rules if rule["health"] == "err"]
    finally:
        playing.cancel()
        with suppress(asyncio.CancelledError):
            await playing
        for pid in (gateway.process.pid, *gateway.workers()):
            os.kill(pid, signal.SIGKILL)  # nobody takes its spans: it would wait for that
        prometheus.stop()
        redis.kill()
        assert not silent, "Prometheus has no answer"
