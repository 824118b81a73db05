"""Two gateways on one PostgreSQL and one Redis: what one node does holds on the other."""

import asyncio
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import check_log
from tests.harness import settings, sse
from tests.harness.client import Reply, fetch
from tests.harness.dialects import CHAT, SIDES, Side
from tests.harness.gateway import Gateway, environment, free_port
from tests.harness.postgres_server import PASSWORD, PostgresServer
from tests.harness.redis_server import RedisServer
from tests.harness.script import Gate, Pause, stream
from tests.harness.upstream import ScriptedUpstream

EFFECT_SECONDS = 2.0
PRICE = {"input": "0", "output": "1000.00"}
"""USD per million tokens: a thousandth of a dollar for each token of output."""


class Nodes:
    """Starts nodes that share everything, each in a folder of its own."""

    def __init__(
        self, ends: ExitStack, folder: Path, upstream: ScriptedUpstream, url: str, redis: str
    ) -> None:
        self._ends = ends
        self._folder = folder
        self._shared = {"database": {"url": url}, "redis": {"url": redis}}
        self.upstream = upstream
        self.url = url

    def config(self, name: str, **changes: Any) -> settings.Config:
        standard = settings.standard(free_port(), str(self._folder / name), self.upstream.base)
        return settings.merged(standard, **self._shared, **changes)

    def start(self, name: str, config: settings.Config | None = None, *options: str) -> Gateway:
        folder = self._folder / name
        folder.mkdir(exist_ok=True)
        running = Gateway(config or self.config(name), folder, *options)
        self._ends.callback(check, running)
        self._ends.callback(running.stop)
        return running.wait_ready()


def check(one: Gateway) -> None:
    check_log(one)
    assert PASSWORD not in one.log


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def nodes(
    tmp_path: Path, upstream: ScriptedUpstream, postgres: PostgresServer, redis: RedisServer
) -> Iterator[Nodes]:
    name = postgres.fresh()
    with ExitStack() as ends:
        ends.callback(postgres.drop, name)
        yield Nodes(ends, tmp_path, upstream, postgres.url(name), redis.url)


async def holds(condition: Callable[[], Awaitable[bool]], within: float = EFFECT_SECONDS) -> None:
    deadline = time.monotonic() + within
    while not await condition():
        assert time.monotonic() < deadline, f"not so within {within} s"
        await asyncio.sleep(0.05)


async def made(node: Gateway, target: str, body: dict[str, Any]) -> Any:
    reply = await node.admin(target, method="POST", body=body)
    assert reply.status == 201, reply.body
    return reply.json()


async def facts(node: Gateway) -> dict[str, object]:
    found: dict[str, object] = (await fetch(node.port, "GET", "/readyz")).json()
    return found


async def metric(node: Gateway, name: str) -> float:
    header = [("authorization", f"Bearer {settings.ADMIN}")]
    text = (await fetch(node.port, "GET", "/metrics", header)).body.decode()
    (line,) = (line for line in text.splitlines() if line.startswith(f"{name} "))
    return float(line.split()[1])


def is_whole(side: Side, reply: Reply) -> bool:
    """The answer is the whole stream, ended with its end mark."""
    told = sse.read(reply.body)
    return side.text(told) == "Hello" and side.is_end(told.events[-1])


def channel(upstream: ScriptedUpstream, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "protocol": "chat",
        "base_url": f"{upstream.base(name)}/v1",
        "api_key": "sk-upstream-managed-credential-4711",
        "models": {f"{name}-model": "up"},
    }


def verify(url: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tidegate", "ledger", "verify", "--database", url],
        capture_output=True,
        text=True,
        timeout=30,
        env=environment(),
        cwd=folder,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


async def test_what_one_node_makes_the_other_serves(nodes: Nodes) -> None:
    here, there = nodes.start("here"), nodes.start("there", None, "--workers", "2")
    await made(here, "channels", channel(nodes.upstream, "shared"))
    await made(here, "models", {"name": "shared-model", "price": PRICE})
    await made(here, "accounts", {"name": "globex-2", "balance": "5.00"})
    secret = (await made(here, "keys", {"name": "app", "account": "globex-2"}))["secret"]
    nodes.upstream.always("shared", "up", stream(CHAT.script().all))

    async def served() -> bool:
        replies = [
            await there.call(CHAT, CHAT.request("shared-model", max_tokens=20), key=secret) for _ in range(6)
        ]
        return {reply.status for reply in replies} == {200}

    await holds(served)
    shown = (await there.admin("accounts/globex-2")).json()
    assert (shown["managed_by"], shown["prepaid"], shown["balance"] < "5.00") == ("database", True, True)
    assert (await there.admin("keys/app", method="DELETE")).status == 204
    assert (await there.admin("channels/shared", method="DELETE")).status == 204

    async def gone() -> bool:
        return (await here.call(CHAT, CHAT.request("shared-model"), key=secret)).status == 401

    await holds(gone)


@pytest.mark.parametrize("with_redis", [True, False])
async def test_two_nodes_never_overdraw_one_account(
    nodes: Nodes, redis: RedisServer, tmp_path: Path, with_redis: bool
) -> None:
    """Each call holds 0.1 USD and costs 0.007: of 0.55 USD five fit at the same time."""
    here, there = nodes.start("here"), nodes.start("there", None, "--workers", "2")
    if not with_redis:
        redis.kill()
    await made(here, "channels", channel(nodes.upstream, "paid"))
    await made(here, "models", {"name": "paid-model", "price": PRICE})
    await made(here, "accounts", {"name": "few", "balance": "0.55"})
    secret = (await made(here, "keys", {"name": "app", "account": "few"}))["secret"]
    gate, script = Gate(), CHAT.script()
    nodes.upstream.always("paid", "up", stream(script.opening, script.deltas, gate, script.closing))

    async def known() -> bool:
        header = [("authorization", f"Bearer {secret}")]  # by both of its workers, so by many connections
        asked = [fetch(there.port, "GET", "/v1/models", header) for _ in range(12)]
        return {reply.status for reply in await asyncio.gather(*asked)} == {200}

    await holds(known)
    seen: Counter[int] = Counter()

    async def tried(node: Gateway) -> bool:
        async with node.open(CHAT, CHAT.request("paid-model", max_tokens=100), key=secret) as reply:
            if reply.status == 401:  # of two workers only one may know the key yet
                return False
            seen[reply.status] += 1
            if reply.status == 402:
                assert (await reply.finish()).json()["error"]["code"] == "insufficient_balance"
            else:
                assert b"[DONE]" in (await reply.finish()).body
        return True

    async def one(node: Gateway) -> None:
        while not await tried(node):
            await asyncio.sleep(0.1)

    calls = [asyncio.create_task(one(node)) for node in (here, there) for _ in range(25)]

    async def all_answered() -> bool:
        return seen.total() == 50

    try:
        await holds(all_answered, within=15)
        shown = (await there.admin("accounts/few")).json()
        assert (shown["balance"], shown["held"]) == ("0.550000000", "0.500000000")
    finally:
        gate.open()
    await asyncio.gather(*calls)
    assert seen == {200: 5, 402: 45}

    async def settled() -> bool:
        shown = (await here.admin("accounts/few")).json()
        return (shown["balance"], shown["held"]) == ("0.515000000", "0.000000000")

    await holds(settled)
    assert "add up" in verify(nodes.url, tmp_path)


async def test_a_concurrency_limit_is_one_for_both(nodes: Nodes) -> None:
    here, there = nodes.start("here"), nodes.start("there")
    secret = (await made(here, "keys", {"name": "three", "account": "acme", "max_concurrency": 3}))["secret"]
    gate, script = Gate(), CHAT.script()
    model = "chat-a-concurrency"
    nodes.upstream.always("chat-A", model, stream(script.opening, script.deltas, gate, script.closing))

    async def known() -> bool:
        header = [("authorization", f"Bearer {secret}")]
        return (await fetch(there.port, "GET", "/v1/models", header)).status == 200

    await holds(known)
    seen: Counter[int] = Counter()

    async def one(node: Gateway) -> None:
        async with node.open(CHAT, CHAT.request(model), key=secret) as reply:
            seen[reply.status] += 1
            await reply.finish()

    calls = [asyncio.create_task(one(node)) for _ in range(6) for node in (here, there)]

    async def all_answered() -> bool:
        return seen.total() == 12

    try:
        await holds(all_answered, within=10)
        assert (
            await metric(here, "tidegate_open_requests") + await metric(there, "tidegate_open_requests") == 3
        )
    finally:
        gate.open()
    await asyncio.gather(*calls)
    assert seen == {200: 3, 429: 9}

    async def free() -> bool:
        return (await there.call(CHAT, CHAT.request(model), key=secret)).status == 200

    await holds(free)


async def test_a_rolling_restart_loses_no_stream(nodes: Nodes, tmp_path: Path) -> None:
    configs = {name: nodes.config(name, server={"port": free_port()}) for name in ("here", "there")}
    options = {"here": (), "there": ("--workers", "2")}
    running = {name: nodes.start(name, configs[name], *options[name]) for name in configs}
    for side in SIDES:
        script = side.script()
        answer = stream(script.opening, script.deltas, Pause(1.0), script.closing)
        nodes.upstream.always(f"{side.tag}-A", f"{side.tag}-a-rolling", answer)
    failed: list[str] = []
    whole = 0
    ends = asyncio.Event()
    takes_new = set(running)

    async def caller(number: int) -> None:
        """A load balancer's view: it asks whoever takes new requests."""
        nonlocal whole
        await asyncio.sleep(number * 0.17)  # so that at any moment some streams are open
        while not ends.is_set():
            for side in SIDES:
                names = sorted(takes_new)
                node = running[names[number % len(names)]]
                reply = await node.call(side, side.request(f"{side.tag}-a-rolling"))
                if reply.status == 200 and is_whole(side, reply):
                    whole += 1
                else:
                    failed.append(f"{reply.status} {reply.body[-200:]!r}")

    callers = [asyncio.create_task(caller(number)) for number in range(6)]
    await asyncio.sleep(1)
    for name in ("here", "there"):
        takes_new.discard(name)
        await asyncio.sleep(0.2)  # the load balancer has heard of it; streams are still open there
        assert await metric(running[name], "tidegate_open_requests") > 0
        await asyncio.to_thread(running[name].stop)
        assert running[name].process.returncode == 0
        running[name] = await asyncio.to_thread(nodes.start, name, configs[name], *options[name])
        takes_new.add(name)
        await asyncio.sleep(1)
    ends.set()
    await asyncio.gather(*callers)
    assert failed == []
    assert whole > 20
    assert "add up" in verify(nodes.url, tmp_path)


async def test_without_redis_limits_are_local_and_requests_are_served(
    nodes: Nodes, redis: RedisServer
) -> None:
    here = nodes.start("here")
    secret = (await made(here, "keys", {"name": "two", "account": "acme", "requests_per_minute": 2}))[
        "secret"
    ]
    assert (await facts(here))["redis"] == "ok"
    assert await metric(here, "tidegate_redis_up") == 1
    redis.kill()

    async def away() -> bool:
        found = await facts(here)
        return (found["status"], found["redis"]) == ("ready", "away")

    await holds(away, within=10)
    assert await metric(here, "tidegate_redis_up") == 0
    model = "chat-a-without-redis"
    nodes.upstream.always("chat-A", model, stream(CHAT.script().all))
    statuses = [(await here.call(CHAT, CHAT.request(model), key=secret)).status for _ in range(4)]
    assert statuses == [200, 200, 429, 429]
    redis.start()

    async def back() -> bool:
        return (await facts(here))["redis"] == "ok"

    await holds(back, within=10)


async def test_nodes_with_different_files_say_so_and_serve(nodes: Nodes) -> None:
    config = nodes.config("here")
    config["accounts"].append({"name": "opened", "balance": "5.00"})
    here = nodes.start("here", config)
    other = nodes.config("there", server={"port": free_port()})
    other["accounts"].append({"name": "opened", "balance": "7.00"})
    other["keys"].append({"name": "more", "account": "acme", "key": "sk-tg-only-here-1"})
    there = nodes.start("there", other)

    async def differ() -> bool:
        found = [await facts(node) for node in (here, there)]
        return [(one["status"], one.get("config")) for one in found] == [
            ("ready", "differs from another node")
        ] * 2

    await holds(differ, within=15)
    for node in (here, there):
        assert node.log.count("differs in accounts, keys") == 1
    assert "was credited as 5.000000000 USD before" in there.log
    assert "was credited as" not in here.log
    shown = (await there.admin("accounts/opened")).json()
    assert shown["balance"] == "5.000000000"
    other["keys"].pop()
    other["accounts"][-1]["balance"] = "5.00"
    there.write_config(other)
    there.process.send_signal(1)

    async def agree() -> bool:
        found = [await facts(node) for node in (here, there)]
        return not any("config" in one for one in found)

    await holds(agree, within=15)
    assert there.log.count("the config files of all nodes are the same again") == 1
    assert "sk-tg-only-here-1" not in here.log + there.log
