"""Channels that an operator pauses, lets drain, resumes and tests, on real gateways with several workers."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Start
from tests.harness import settings
from tests.harness.client import Reply, fetch
from tests.harness.dialects import CHAT, RESPONSES
from tests.harness.gateway import Gateway, free_port
from tests.harness.simulated import Simulated

PATIENCE = 15.0
"""Seconds for what takes two on a machine that has nothing else to do."""
BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulated]:
    running = Simulated(tmp_path_factory.mktemp("simulated"))
    yield running
    running.stop()


@pytest.fixture
def config(tmp_path: Path, simulated: Simulated) -> settings.Config:
    found = settings.server(free_port(), str(tmp_path))
    found["channels"] = [
        settings.channel("a", "chat", simulated.base, {"m": "sim-a", "slow": "sim;words=120;rate=20"}),
        settings.channel("b", "msgs", simulated.base, {"m": "sim-b"}, priority=-1),
    ]
    return found


async def posted(gateway: Gateway, target: str) -> Any:
    reply = await gateway.admin(target, method="POST")
    assert reply.status == 200, reply.body
    return reply.json()


async def asked(gateway: Gateway, count: int = 6) -> list[Reply]:
    """Answers of whichever workers."""
    return [await gateway.call(CHAT, BODY) for _ in range(count)]


async def settled(gateway: Gateway, status: int, channel: str | None) -> list[Reply]:
    """Answers once all workers give this status, by this channel."""
    deadline = time.monotonic() + PATIENCE
    while True:
        replies = await asked(gateway)
        told = {(reply.status, await channel_of(gateway, reply)) for reply in replies}
        if told == {(status, channel)}:
            return replies
        assert time.monotonic() < deadline, told


async def channel_of(gateway: Gateway, reply: Reply) -> str | None:
    """Which channel served it."""
    row = await gateway.row_of(dict(reply.headers)["x-request-id"])
    found: str | None = row["channel"]
    return found


async def shown_as_open(gateway: Gateway, wanted: dict[str, int]) -> None:
    """Health tells so many open requests of each channel, over all workers."""
    deadline = time.monotonic() + PATIENCE
    while True:
        health = (await gateway.admin("health")).json()
        told = {one["name"]: one["open_requests"] for one in health["channels"]}
        if told == wanted:
            return
        assert time.monotonic() < deadline, told
        await asyncio.sleep(0.1)


async def test_a_paused_channel_gets_nothing_until_it_is_resumed(
    config: settings.Config, start: Start
) -> None:
    gateway = start(config, "--workers", "2")
    shown = await posted(gateway, "channels/a/pause")
    assert (shown["state"], shown["state_changed_by"], shown["managed_by"]) == ("paused", "admin", "file")
    await settled(gateway, 200, "b")
    await posted(gateway, "channels/b/pause")
    refused = (await settled(gateway, 503, None))[0]
    assert refused.json()["error"]["code"] == "no_available_channel"
    assert "retry-after" in dict(refused.headers)
    assert (await fetch(gateway.port, "GET", "/readyz", [])).status == 200
    health = (await gateway.admin("health")).json()
    assert [(one["name"], one["state"]) for one in health["channels"]] == [("a", "paused"), ("b", "paused")]
    assert (health["workers"], health["database"], health["redis"]) == (2, "ok", "none")
    gateway.stop()

    again = start(config)  # it survives
    assert {reply.status for reply in await asked(again, 2)} == {503}
    await posted(again, "channels/a/resume")
    assert {reply.status for reply in await asked(again, 2)} == {200}


async def test_a_channel_is_tested_with_its_own_credential(config: settings.Config, start: Start) -> None:
    gateway = start(config)
    report = await posted(gateway, "channels/b/test")
    assert (report["target"], report["protocol"], report["model"], report["ok"]) == (
        "b",
        "messages",
        "sim-b",
        True,
    )
    assert report["streams"][0]["findings"] == []
    async with asyncio.timeout(10):
        while not (rows := (await gateway.admin("audit?kind=channels")).json()["data"]):
            await asyncio.sleep(0.05)
    assert [(row["action"], row["name"], row["changes"]) for row in rows] == [
        ("test", "b", {"model": [None, "sim-b"], "ok": [None, True]})
    ]


async def test_a_draining_channel_keeps_what_it_serves_and_gets_nothing_new(
    config: settings.Config, start: Start
) -> None:
    gateway = start(config, "--workers", "2")
    async with gateway.open(CHAT, BODY | {"model": "slow", "stream": True}) as reply:
        await shown_as_open(gateway, {"a": 1, "b": 0})
        await posted(gateway, "channels/a/drain")
        await settled(gateway, 200, "b")
        refused = await gateway.call(CHAT, BODY | {"model": "slow"})
        assert refused.json()["error"]["code"] == "no_available_channel"
        await reply.finish(20.0)
        assert b"[DONE]" in reply.body


async def test_only_the_channel_that_keeps_a_stored_response_goes_on_with_it_while_it_drains(
    config: settings.Config, simulated: Simulated, start: Start
) -> None:
    config["channels"] = [
        settings.channel("kept", "resp", simulated.base, {"m": "sim;unique_ids"}),
        settings.channel("other", "resp", simulated.base, {"m": "sim"}, priority=-1),
    ]
    gateway = start(config)
    first = await gateway.call(RESPONSES, {"model": "m", "input": "hi", "store": True})
    further = {"model": "m", "input": "and?", "previous_response_id": first.json()["id"]}
    await posted(gateway, "channels/kept/drain")
    for body, channel in (({"model": "m", "input": "hi"}, "other"), (further, "kept")):
        reply = await gateway.call(RESPONSES, body)
        assert reply.status == 200, reply.body
        assert await channel_of(gateway, reply) == channel
    await posted(gateway, "channels/kept/pause")
    assert (await gateway.call(RESPONSES, further)).status == 503
