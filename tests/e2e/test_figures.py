"""What operators see of many requests: the overview, the live tail, and what keys have done."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Start
from tests.harness import settings
from tests.harness.client import Connection, Reply, request_bytes
from tests.harness.databases import Server, Site
from tests.harness.dialects import CHAT, SIDES
from tests.harness.gateway import Gateway, free_port
from tests.harness.postgres_server import PostgresServer
from tests.harness.script import stream
from tests.harness.upstream import ScriptedUpstream

BEARER = ("authorization", f"Bearer {settings.ADMIN}")


class Tail:
    """An open live tail, and the events that came on it."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._read = 0

    async def next(self, within: float = 20.0) -> dict[str, Any]:
        """The next event; its data decoded."""
        deadline = time.monotonic() + within
        while True:
            while b"\n\n" not in self._rest:
                assert time.monotonic() < deadline, "nothing came"
                assert self._reply.ended is None, self._reply.ended
                await self._reply.quiet(0.1)
            frame, _, _ = self._rest.partition(b"\n\n")
            self._read += len(frame) + 2
            lines = dict(line.split(": ", 1) for line in frame.decode().split("\n"))
            if "event" in lines:
                return {**lines, "data": json.loads(lines["data"])}

    @property
    def _rest(self) -> bytes:
        return self._reply.body[self._read :]


@asynccontextmanager
async def tail(gateway: Gateway, query: str = "", *headers: tuple[str, str]) -> AsyncIterator[Tail]:
    connection = await Connection.open(gateway.port)
    try:
        target = f"/admin/v1/requests/tail?{query}"
        await connection.send(request_bytes("GET", target, [BEARER, *headers], None))
        reply = await connection.reply()
        assert (reply.status, reply.header("content-type")) == (200, "text/event-stream")
        yield Tail(reply)
    finally:
        connection.close()


@pytest.fixture
def config(tmp_path: Path, upstream: ScriptedUpstream, site: Site) -> settings.Config:
    standard = settings.standard(free_port(), str(tmp_path), upstream.base)
    return settings.merged(standard, database={"url": site.url})


async def ask(gateway: Gateway, *, model: str = "chat-a-figures", key: str = settings.KEY) -> str:
    reply = await gateway.call(CHAT, CHAT.request(model), key=key)
    found = reply.header("x-request-id")
    assert found is not None
    return found


async def test_what_two_workers_serve_is_told_by_each(
    start: Start, config: settings.Config, upstream: ScriptedUpstream
) -> None:
    gateway = start(config, "--workers", "2")
    for side in SIDES:
        upstream.always(f"{side.tag}-A", f"{side.tag}-a-figures", stream(side.script().all))
    async with tail(gateway) as everything, tail(gateway, "key=other&stream=true") as some:
        assert (await everything.next())["event"] == (await some.next())["event"] == "ready"
        asked = [await ask(gateway) for _ in range(4)]
        for side in SIDES[1:]:
            await gateway.call(side, side.request(f"{side.tag}-a-figures"))
        other = await ask(gateway, key=settings.OTHER_KEY)
        asked.append(await ask(gateway, key="sk-tg-unknown"))
        events = [await everything.next() for _ in range(8)]
        assert {event["event"] for event in events} == {"request"}
        shown = {event["data"]["id"]: event["data"] for event in events}
        assert {*asked, other} <= set(shown)
        reply = await gateway.admin(f"requests/{other}")
        assert {**shown[other], "captured": False} == reply.json()
        assert (await some.next())["data"]["id"] == other
        places = [event["id"] for event in events]
    async with tail(gateway, "", ("last-event-id", places[4])) as again:
        await again.next()
        later = [(await again.next())["data"]["id"] for _ in range(3)]
        assert later == [event["data"]["id"] for event in events[5:]]
    for _ in range(4):
        told = (await gateway.admin("overview?group_by=key")).json()
        totals = told["totals"]
        assert (totals["requests"], totals["completed"], totals["rejected"]) == (8, 7, 1)
        assert sum(bucket["requests"] for bucket in told["series"]) == 8
        groups = {group["name"]: group["requests"] for group in told["groups"]}
        assert groups == {"laptop": 6, "other": 1, None: 1}
    keys = (await gateway.admin("keys")).json()["data"]
    used = {key["name"]: key["last_used_at"] for key in keys}
    assert used["other"] == shown[other]["created_at"]
    found = await gateway.rows(f"id={other[4:16]}&status=200&since={shown[other]['created_at']}")
    assert other in [row["id"] for row in found]


@pytest.mark.parametrize("site", ["postgresql"], indirect=True)
async def test_a_tail_outlives_the_database(
    start: Start, config: settings.Config, upstream: ScriptedUpstream, site: Site, postgres: PostgresServer
) -> None:
    assert isinstance(site, Server)
    gateway = start(config)
    upstream.always("chat-A", "chat-a-figures", stream(CHAT.script().all))
    async with tail(gateway) as open_tail:
        assert (await open_tail.next())["event"] == "ready"
        first = await ask(gateway)
        assert (await open_tail.next())["data"]["id"] == first
        postgres.stop()
        assert (await open_tail.next())["event"] == "trouble"
        assert (await gateway.admin("overview")).status == 503
        meanwhile = await ask(gateway)
        postgres.start()
        assert (await open_tail.next())["event"] == "ready"
        assert (await open_tail.next())["data"]["id"] == meanwhile
        while (told := await gateway.admin("overview")).status != 200:
            await asyncio.sleep(0.2)
        assert told.json()["totals"]["requests"] == 2
