"""The commands of accounts, keys and the ledger, as a user types them, beside a gateway and without one."""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Start
from tests.harness import settings
from tests.harness.databases import Site
from tests.harness.dialects import CHAT, OUTPUT
from tests.harness.gateway import environment, free_port
from tests.harness.script import Gate, stream
from tests.harness.upstream import ScriptedUpstream

MODEL = "chat-a-books"
CHARGED = OUTPUT * 1_000_000
"""nano-USD of one answer: a thousandth of a dollar for each token of output."""


class Commands:
    """Runs `tidegate` with the config of the test."""

    def __init__(self, folder: Path, config: settings.Config) -> None:
        self.folder = folder
        self.path = folder / "tidegate.toml"
        self.path.write_text(settings.toml(config))

    def run(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "tidegate", *words, "--config", str(self.path)],
            capture_output=True,
            text=True,
            timeout=30,
            env=environment(),
            cwd=self.folder,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout if code in (0, 1) else done.stderr

    def rows(self, *words: str) -> list[Any]:
        return [json.loads(line) for line in self.run(*words, "--json").splitlines()]

    def account(self, name: str) -> tuple[str, str]:
        (shown,) = self.rows("accounts", "show", name)
        return shown["balance"], shown["held"]


@pytest.fixture
def config(tmp_path: Path, upstream: ScriptedUpstream, site: Site) -> settings.Config:
    standard = settings.standard(free_port(), str(tmp_path), upstream.base)
    for model in standard["models"]:
        if model["name"] == "chat-a-*":
            model["price"] = {"input": "0", "output": "1000.00"}
    slowly = {"idle_timeout": "60s"}  # a stream waits while commands run, and they may take seconds each
    return settings.merged(standard, database={"url": site.url}, streaming=slowly)


@pytest.fixture
def commands(tmp_path: Path, config: settings.Config) -> Commands:
    return Commands(tmp_path, config)


async def test_money_goes_in_and_out_beside_a_gateway(
    start: Start, commands: Commands, config: settings.Config, upstream: ScriptedUpstream, site: Site
) -> None:
    assert "there are no books" in commands.run("ledger", "verify", code=2)
    commands.run("accounts", "create", "bob", "--balance", "1.00")  # before the gateway has ever run
    secret = commands.run("keys", "create", "phone", "--account", "bob", "--quiet").strip()
    gateway = start(config)
    gate, script = Gate(), CHAT.script()
    upstream.always("chat-A", MODEL, stream(script.opening, script.deltas, gate, script.closing))
    body = CHAT.request(MODEL, max_tokens=100)
    async with gateway.open(CHAT, body, key=secret) as reply:
        await reply.until(b"Hel")
        assert commands.account("bob") == ("1.000000000", "0.100000000")
        assert "add up" in commands.run("ledger", "verify")
        gate.open()
        await reply.finish()
        request = reply.header("x-request-id") or ""
    row = await gateway.row_of(request)
    assert row["cost"] == f"0.{CHARGED:09d}"
    assert commands.account("bob") == ("0.993000000", "0.000000000")
    for _ in range(2):
        commands.run("accounts", "credit", "bob", "0.5", "--reference", "invoice 7")
    assert "already" in commands.run("accounts", "credit", "bob", "0.6", "--reference", "invoice 7", code=2)
    for _ in range(2):
        commands.run("ledger", "refund", request, "--amount", "0.002", "--reference", "sorry")
    assert "0.005000000 USD are left" in commands.run("ledger", "refund", request, "--amount", "1", code=2)
    commands.run("ledger", "refund", request)
    commands.run("ledger", "refund", request, code=2)
    assert commands.account("bob") == ("1.500000000", "0.000000000")
    kinds = [posting["kind"] for posting in commands.rows("ledger", "show", "--account", "bob")]
    assert kinds == ["refund", "refund", "credit", "release", "settle", "hold", "credit"]
    gateway.stop()
    commands.run("accounts", "credit", "bob", "0.5", "--reference", "cash")
    assert "add up" in commands.run("ledger", "verify")
    site.run("UPDATE balances SET balance = balance + 1 WHERE account = 'bob'")
    assert "account bob: its balance is 2.000000001" in commands.run("ledger", "verify", code=1)
    site.run("UPDATE balances SET balance = balance - 1 WHERE account = 'bob'")
    site.run(f"UPDATE postings SET amount = amount - 1 WHERE kind = 'settle' AND reference = '{request}'")
    assert "account bob" in commands.run("ledger", "verify", code=1)


async def test_an_account_without_money_is_credited_and_can_call_at_once(
    start: Start, commands: Commands, config: settings.Config, upstream: ScriptedUpstream
) -> None:
    gateway = start(config, "--workers", "2")
    commands.run("accounts", "create", "poor", "--prepaid")
    secret = commands.run("keys", "create", "phone", "--account", "poor", "--quiet").strip()
    upstream.always("chat-A", MODEL, stream(CHAT.script().all))
    body = CHAT.request(MODEL, max_tokens=100)

    async def answers(status: int, within: float = 2.0) -> None:
        deadline = time.monotonic() + within
        while (reply := await gateway.call(CHAT, body, key=secret)).status != status:
            assert time.monotonic() < deadline, reply.body
            await asyncio.sleep(0.05)

    await answers(402)
    commands.run("accounts", "credit", "poor", "0.15")
    assert (await gateway.call(CHAT, body, key=secret)).status == 200
    commands.run("keys", "revoke", "phone")
    await answers(401)
    assert "has keys" not in commands.run("accounts", "delete", "poor")
    assert "add up" in commands.run("ledger", "verify")
