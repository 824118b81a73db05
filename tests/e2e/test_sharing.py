"""What workers of one machine and nodes on one Redis find out together, and what holds when Redis is away."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.conftest import check_log
from tests.harness import settings
from tests.harness.client import fetch
from tests.harness.dialects import CHAT
from tests.harness.gateway import Gateway, free_port
from tests.harness.redis_server import RedisServer
from tests.harness.script import body, stream
from tests.harness.stage import Stage
from tests.harness.upstream import ScriptedUpstream

REFUSED = body(b"{}", 500)
ROUTING = {"cooldown": "30s", "failures_before_cooldown": 1}


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def ends() -> Iterator[ExitStack]:
    """What is to be done at the end."""
    with ExitStack() as stack:
        yield stack


def gateway(
    ends: ExitStack, folder: Path, upstream: ScriptedUpstream, *options: str, redis: str | None = None
) -> Gateway:
    folder.mkdir(exist_ok=True)
    config = settings.merged(settings.standard(free_port(), str(folder), upstream.base), routing=ROUTING)
    if redis is not None:
        config["redis"] = {"url": redis}
    running = Gateway(config, folder, *options)
    ends.callback(check_log, running)
    ends.callback(running.stop)
    return running.wait_ready()


async def ready(one: Gateway) -> tuple[int, object]:
    reply = await fetch(one.port, "GET", "/readyz", [])
    return reply.status, reply.json().get("redis")


async def redis_is(one: Gateway, word: str, within: float = 10.0) -> None:
    deadline = time.monotonic() + within
    while (told := await ready(one)) != (200, word):
        assert time.monotonic() < deadline, told
        await asyncio.sleep(0.05)


async def test_workers_leave_a_channel_alone_together(
    ends: ExitStack, tmp_path: Path, upstream: ScriptedUpstream
) -> None:
    one = gateway(ends, tmp_path, upstream, "--workers", "2")
    stage = Stage(one, upstream)
    model = stage.model(CHAT)
    stage.script(CHAT, model, [REFUSED] * 50)
    assert (await one.call(CHAT, CHAT.request(model))).status == 502
    await asyncio.sleep(1)
    replies = [await one.call(CHAT, CHAT.request(model)) for _ in range(20)]
    assert {reply.status for reply in replies} == {503}
    assert len(upstream.requests("chat-A", model)) == 1, "the other worker did not try for itself"
    assert await ready(one) == (200, None), "no Redis is configured"


async def test_a_worker_that_replaces_another_knows_what_that_one_found(
    ends: ExitStack, tmp_path: Path, upstream: ScriptedUpstream
) -> None:
    one = gateway(ends, tmp_path, upstream, "--workers", "2")
    stage = Stage(one, upstream)
    model = stage.model(CHAT)
    stage.script(CHAT, model, [REFUSED] * 50)
    assert (await one.call(CHAT, CHAT.request(model))).status == 502
    await asyncio.sleep(1)
    for pid in one.workers():
        others = set(one.workers()) - {pid}
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + 15
        while not others < set(one.workers()) - {pid}:
            assert time.monotonic() < deadline, "it was not replaced"
            await asyncio.sleep(0.05)
    await asyncio.sleep(2)
    replies = [await one.call(CHAT, CHAT.request(model)) for _ in range(10)]
    assert {reply.status for reply in replies} == {503}
    assert len(upstream.requests("chat-A", model)) == 1


async def test_nodes_on_one_redis_leave_a_channel_alone_together(
    ends: ExitStack, tmp_path: Path, upstream: ScriptedUpstream, redis: RedisServer
) -> None:
    first, second = (gateway(ends, tmp_path / name, upstream, redis=redis.url) for name in ("one", "two"))
    assert await ready(first) == await ready(second) == (200, "ok")
    stage = Stage(first, upstream)
    model = stage.model(CHAT)
    stage.script(CHAT, model, [REFUSED] * 50)
    assert (await first.call(CHAT, CHAT.request(model))).status == 502
    await asyncio.sleep(1)
    assert (await second.call(CHAT, CHAT.request(model))).status == 503
    assert len(upstream.requests("chat-A", model)) == 1


async def test_redis_comes_and_goes_and_requests_are_served(
    ends: ExitStack, tmp_path: Path, upstream: ScriptedUpstream, redis: RedisServer
) -> None:
    url = redis.url.replace("redis://", "redis://:e2e-redis-password@")
    redis.kill()
    one = gateway(ends, tmp_path / "one", upstream, redis=url)
    assert await ready(one) == (200, "away")
    redis.start()
    redis.command("CONFIG", "SET", "requirepass", "e2e-redis-password")
    await redis_is(one, "ok")
    stage = Stage(one, upstream)
    await stage.play(CHAT, stream(CHAT.script().all))
    redis.kill()
    await redis_is(one, "away")
    played = await stage.play(CHAT, stream(CHAT.script().all))
    assert played.reply.status == 200
    assert one.log.count("Redis is away") == 2, "once for each time"
    assert "e2e-redis-password" not in one.log


@pytest.mark.parametrize("shared_by", ["workers", "redis"])
async def test_one_request_after_another_always_finds_its_one_place_free(
    ends: ExitStack, tmp_path: Path, upstream: ScriptedUpstream, redis: RedisServer, shared_by: str
) -> None:
    config = settings.standard(free_port(), str(tmp_path), upstream.base)
    config["keys"][0] |= {"max_concurrency": 1}
    if shared_by == "redis":
        config["redis"] = {"url": redis.url}
    one = Gateway(config, tmp_path, "--workers", "2")
    ends.callback(check_log, one)
    ends.callback(one.stop)
    stage = Stage(one.wait_ready(), upstream)
    if shared_by == "redis":
        await redis_is(one, "ok")
    for _ in range(30):
        played = await stage.play(CHAT, stream(CHAT.script().all))
        assert played.reply.status == 200
