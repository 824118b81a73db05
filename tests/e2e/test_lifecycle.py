"""Starting, draining, reloading, dying: what signals do to a gateway under load."""

import asyncio
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.conftest import Start
from tests.harness import settings, sse
from tests.harness.client import Connection, Ended, Reply, fetch
from tests.harness.dialects import CHAT, SIDES, Side, check_error_form
from tests.harness.gateway import Gateway, environment, free_port
from tests.harness.invariants import check_stream
from tests.harness.script import HOLD, JSON, Answer, Framing, Gate, stream
from tests.harness.stage import Stage
from tests.harness.together import together
from tests.harness.upstream import ScriptedUpstream, until


@pytest.fixture
def config(tmp_path: Path, upstream: ScriptedUpstream) -> settings.Config:
    return settings.standard(free_port(), str(tmp_path), upstream.base)


class Opened:
    """A stream that has said its first word and now waits."""

    def __init__(self, stage: Stage, side: Side, gate: Gate | None) -> None:
        self.stage, self.side = stage, side
        self.model = stage.model(side)
        self.script = side.script(self.model)
        self._gate = gate

    async def begin(self) -> "Opened":
        waits = self._gate or HOLD
        first, second = self.script.deltas
        steps = stream(self.script.opening, first, waits, second, self.script.closing)
        self.stage.script(self.side, self.model, [steps])
        self.connection = await Connection.open(self.stage.gateway.port)
        await self.connection.send(self.stage.gateway.request(self.side, self.side.request(self.model)))
        self.reply: Reply = await self.connection.reply()
        await self.reply.until(first)
        return self


async def _opened(stage: Stage, gate: Gate | None, each: int = 4) -> list[Opened]:
    return await asyncio.gather(*(Opened(stage, side, gate).begin() for side in SIDES for _ in range(each)))


async def test_sigterm_under_load_drains(
    start: Start, config: settings.Config, upstream: ScriptedUpstream
) -> None:
    gateway = start(config)
    stage = Stage(gateway, upstream)
    gate = Gate()
    whole = stage.model(CHAT)
    late = Answer((json.dumps(CHAT.whole()).encode(),), 200, JSON, Framing.LENGTH, before=(gate,))
    stage.script(CHAT, whole, [late])
    unfinished = asyncio.create_task(gateway.call(CHAT, CHAT.request(whole, stream=False)))
    ending, stuck = await _opened(stage, gate), await _opened(stage, None)
    kept = await Connection.open(gateway.port)
    await kept.send(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
    await (await kept.reply()).finish()
    at = time.monotonic()
    gateway.signal(signal.SIGTERM)
    await _refusing(gateway)
    for side in SIDES:
        reply = await gateway.call(side, side.request(f"{side.tag}-a-new"))
        _check_draining(side, reply)
    await kept.send(gateway.request(CHAT, CHAT.request("chat-a-new")))
    _check_draining(CHAT, await (await kept.reply()).finish())
    gate.open()
    assert CHAT.whole_text((await unfinished).json()) == "Hello"
    for one in ending:
        reply = await one.reply.finish()
        assert (sse.read(reply.body).bytes(), reply.ended) == (one.script.bytes(), Ended.WHOLE)
        check_stream(one.side, sse.read(reply.body))
    for one in stuck:
        _check_error(one.side, await one.reply.finish())
    assert 2.5 < time.monotonic() - at < 15
    assert gateway.exit_code(within=30) == 0
    again = start(config)
    for one in ending:
        assert (await again.row(one.model))["outcome"] == "completed"
    for one in stuck:
        assert (await again.row(one.model))["outcome"] == "interrupted"


async def _refusing(gateway: Gateway) -> None:
    """Wait until the gateway drains."""
    deadline = time.monotonic() + 3
    while (await fetch(gateway.port, "POST", CHAT.path, gateway.headers(CHAT), b"{}")).status != 503:
        assert time.monotonic() < deadline, "new requests are still taken"
        await asyncio.sleep(0.02)


def _check_draining(side: Side, reply: Reply) -> None:
    assert reply.status == 503
    check_error_form(side, reply)
    assert float(reply.header("retry-after") or "0") > 0


def _check_error(side: Side, reply: Reply) -> None:
    """The stream ended in order with its protocol's error event and no end mark."""
    assert reply.ended is Ended.WHOLE
    events = sse.read(reply.body).events
    error = side.error_of(events[-1])
    assert error is not None
    assert error["message"]
    assert not any(side.is_end(event) for event in events)


async def test_sigterm_without_load_ends_at_once(start: Start, config: settings.Config) -> None:
    gateway = start(config)
    idle = await Connection.open(gateway.port)
    at = time.monotonic()
    gateway.signal(signal.SIGTERM)
    assert gateway.exit_code(within=30) == 0
    assert time.monotonic() - at < 2.9
    idle.close()


async def test_clients_that_neither_read_nor_write_do_not_hold_up_the_drain(
    start: Start, config: settings.Config, upstream: ScriptedUpstream
) -> None:
    gateway = start(config)
    stage = Stage(gateway, upstream)
    model = stage.model(CHAT)
    script = CHAT.script(model, ("x" * 100_000,))
    stage.script(CHAT, model, [stream(script.opening, script.deltas * 300, HOLD)])
    deaf = await Connection.open(gateway.port, receive_buffer=4096)
    await deaf.send(gateway.request(CHAT, CHAT.request(model)))
    await upstream.arrived("chat-A", model)
    mute = await Connection.open(gateway.port)
    await mute.send(gateway.request(CHAT, CHAT.request("chat-a-x"))[:-20])
    await asyncio.sleep(0.2)
    at = time.monotonic()
    gateway.signal(signal.SIGTERM)
    assert gateway.exit_code(within=30) == 0
    assert time.monotonic() - at < 20
    again = start(config)
    assert (await again.row(model))["outcome"] in ("interrupted", "client_closed")
    deaf.vanish()
    mute.vanish()


async def test_sigint_ends_too(start: Start, config: settings.Config) -> None:
    gateway = start(config)
    gateway.signal(signal.SIGINT)
    assert gateway.exit_code(within=30) in (0, 130, -signal.SIGINT)


async def test_sighup_under_load(start: Start, config: settings.Config, upstream: ScriptedUpstream) -> None:
    gateway = start(config)
    stage = Stage(gateway, upstream)
    gate = Gate()
    opened = await _opened(stage, gate)
    config["channels"].append(settings.channel("late", "chat", upstream.base("late"), ["late-*"]))
    config["models"].append({"name": "late-*"})
    upstream.always("late", "late-1", stream(CHAT.script().all))
    assert (await gateway.call(CHAT, CHAT.request("late-1"))).status == 404
    gateway.write_config(config)
    gateway.signal(signal.SIGHUP)
    await _works(gateway, "late-1")
    for bad, word in (
        ("[server]\nprot = 1\n", "prot"),
        ("[[channels]]\nname = 7\n", "name"),
        ("not toml", ""),
    ):
        before = len(gateway.log)
        gateway.config_path.write_text(bad)
        gateway.signal(signal.SIGHUP)
        await _told(gateway, before, word)
        assert (await gateway.call(CHAT, CHAT.request("late-1"))).status == 200
    gate.open()
    for one in opened:
        reply = await one.reply.finish()
        assert sse.read(reply.body).bytes() == one.script.bytes()


async def _told(gateway: Gateway, start: int, word: str) -> None:
    """The log names the file and what is wrong with it."""

    def told() -> bool:
        log = gateway.log[start:]
        return "tidegate.toml" in log and word in log

    await until(told, 30, "the log says why the new file was not taken")


async def _works(gateway: Gateway, model: str) -> None:
    deadline = time.monotonic() + 4
    while (await gateway.call(CHAT, CHAT.request(model))).status != 200:
        assert time.monotonic() < deadline, f"{model} is not served after the reload"
        await asyncio.sleep(0.05)


async def test_a_key_taken_from_the_config_stops_working(start: Start, config: settings.Config) -> None:
    gateway = start(config)
    assert (await fetch(gateway.port, "GET", "/v1/models", [("x-api-key", settings.OTHER_KEY)])).status == 200
    config["keys"] = [key for key in config["keys"] if key["name"] != "other"]
    gateway.write_config(config)
    gateway.signal(signal.SIGHUP)
    deadline = time.monotonic() + 4
    while (await fetch(gateway.port, "GET", "/v1/models", [("x-api-key", settings.OTHER_KEY)])).status == 200:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


async def test_kill_9_leaves_a_readable_journal(
    start: Start, config: settings.Config, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    gateway = start(config)
    stage = Stage(gateway, upstream)
    done = [await stage.play(side, stream(side.script().all)) for side in SIDES for _ in range(10)]
    before = {played.model: await played.row() for played in done}
    opened = await _opened(stage, None)
    busy = [asyncio.create_task(_hammer(stage)) for _ in range(5)]
    await asyncio.sleep(0.3)
    gateway.process.kill()
    gateway.exit_code(within=30)
    for task in busy:
        task.cancel()
    await asyncio.gather(*busy, return_exceptions=True)
    for one in opened:
        assert (await one.reply.finish()).ended is not Ended.WHOLE
    with sqlite3.connect(tmp_path / "tidegate.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    again = start(config)
    for model, row in before.items():
        assert await again.row(model) == row
    for row in await again.rows("limit=100"):
        whole = (await again.admin(f"requests/{row['id']}")).json()
        assert whole["outcome"]
        assert all(attempt["outcome"] for attempt in whole["attempts"])
        if whole["outcome"] == "completed":
            assert whole["attempts"]
    follow = Stage(again, upstream)
    assert (await follow.play(CHAT, stream(CHAT.script().all))).text == "Hello"


async def _hammer(stage: Stage) -> None:
    while True:
        await stage.play(CHAT, stream(CHAT.script().all))


async def test_a_port_that_is_taken_is_told_without_a_traceback(
    config: settings.Config, tmp_path: Path
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", config["server"]["port"]))
        taken.listen()
        gateway = Gateway(config, tmp_path)
        assert gateway.exit_code(within=20) not in (0, None)
    assert "port" in gateway.log
    assert "Traceback" not in gateway.log


async def test_a_bad_config_is_told_without_a_traceback(config: settings.Config, tmp_path: Path) -> None:
    async def told(name: str, change: settings.Config, *words: str) -> None:
        folder = tmp_path / name
        folder.mkdir()
        gateway = Gateway(settings.merged(config, **change), folder)
        await until(lambda: gateway.process.poll() is not None, 30, "it ends")
        assert gateway.process.returncode == 2, gateway.log
        assert "Traceback" not in gateway.log
        for word in ("tidegate.toml", *words):
            assert word in gateway.log

    await together(
        {
            "unknown": told("unknown", {"server": {"prot": 1}}, "prot"),
            "type": told("type", {"server": {"port": "many"}}, "port"),
            "unset": told("unset", {"server": {"secret": "env:NOT_SET_ANYWHERE"}}, "NOT_SET_ANYWHERE"),
        }
    )


async def test_two_workers_share_the_port_and_the_journal(
    start: Start, config: settings.Config, upstream: ScriptedUpstream
) -> None:
    gateway = start(config, "--workers", "2")
    stage = Stage(gateway, upstream)

    async def one(side: Side) -> None:
        played = await stage.play(side, stream(side.script().all))
        assert played.text == "Hello"
        assert (await played.row())["outcome"] == "completed"

    await together({f"{side.name} {n}": one(side) for side in SIDES for n in range(12)})
    gateway.signal(signal.SIGTERM)
    assert gateway.exit_code(within=30) == 0


async def test_a_replaced_worker_has_the_config_of_its_siblings(
    start: Start, config: settings.Config, upstream: ScriptedUpstream
) -> None:
    gateway = start(config, "--workers", "2")

    async def statuses() -> set[int]:
        other = [("x-api-key", settings.OTHER_KEY)]
        return {(await fetch(gateway.port, "GET", "/v1/models", other)).status for _ in range(20)}

    assert await statuses() == {200}
    config["keys"] = [key for key in config["keys"] if key["name"] != "other"]
    gateway.write_config(config)
    gateway.signal(signal.SIGHUP)
    await until(lambda: gateway.log.count("the config was reloaded") == 2, 30, "both workers reload")
    for worker in gateway.workers():
        os.kill(worker, signal.SIGKILL)
    await until(lambda: gateway.log.count("is replaced") == 2, 30, "both workers are replaced")
    await until(lambda: len(gateway.workers()) == 2, 30, "both workers are there")
    assert await statuses() == {401}
    gateway.signal(signal.SIGTERM)
    assert gateway.exit_code(within=30) == 0


async def test_a_stop_while_a_worker_is_replaced_ends_all(start: Start, config: settings.Config) -> None:
    gateway = start(config, "--workers", "2")
    os.kill(gateway.workers()[0], signal.SIGKILL)
    await until(lambda: "is replaced" in gateway.log, 30, "the loss is told")
    gateway.signal(signal.SIGTERM)
    assert gateway.exit_code(within=30) == 0


def test_an_unusable_database_is_told_once_with_any_number_of_workers(
    config: settings.Config, tmp_path: Path
) -> None:
    (tmp_path / "tidegate.db").write_bytes(b"no database " * 100)
    gateway = Gateway(config, tmp_path, "--workers", "2")
    assert gateway.exit_code(within=20) == 2
    assert "Traceback" not in gateway.log
    assert gateway.log.count("cannot be opened as a database") == 1


def test_check_config_says_what_is_wrong(config: settings.Config, tmp_path: Path) -> None:
    def check(name: str, text: str) -> subprocess.CompletedProcess[str]:
        path = tmp_path / name
        path.write_text(text)
        return subprocess.run(
            [sys.executable, "-m", "tidegate", "check-config", str(path)],
            capture_output=True,
            text=True,
            timeout=20,
            env=environment(),
            check=False,
        )

    good = check("good.toml", settings.toml(config))
    assert good.returncode == 0, good.stderr
    bad = check("bad.toml", settings.toml(config).replace("[server]", "[server]\nprot = 1"))
    assert bad.returncode == 2
    assert "bad.toml" in bad.stderr + bad.stdout
    assert "prot" in bad.stderr + bad.stdout
    assert "Traceback" not in bad.stderr
    for secret in settings.ENVIRONMENT.values():
        assert secret not in json.dumps([good.stdout, good.stderr, bad.stdout, bad.stderr])


async def test_a_request_whose_body_is_arriving_at_sigterm_is_answered(
    start: Start, config: settings.Config, upstream: ScriptedUpstream
) -> None:
    gateway = start(config)
    stage = Stage(gateway, upstream)
    model = stage.model(CHAT)
    script = CHAT.script(model)
    stage.script(CHAT, model, [stream(script.all)])
    sent = gateway.request(CHAT, CHAT.request(model))
    connection = await Connection.open(gateway.port)
    await connection.send(sent[:-20])
    await asyncio.sleep(0.2)
    gateway.signal(signal.SIGTERM)
    await asyncio.sleep(0.3)
    await connection.send(sent[-20:])
    reply = await (await connection.reply()).finish()
    assert (reply.status, reply.body) == (200, script.bytes())
    assert gateway.exit_code(within=10) == 0
