"""Channels, models, accounts and keys over the admin API of real processes: in force at once, everywhere."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Start
from tests.harness import settings
from tests.harness.client import fetch
from tests.harness.databases import Site
from tests.harness.dialects import CHAT, MESSAGES, SIDES, Side
from tests.harness.gateway import Gateway, environment, free_port
from tests.harness.script import Pause, stream
from tests.harness.upstream import ScriptedUpstream

CREDENTIAL = "sk-upstream-managed-credential-4711"
HEADER = "header-value-nobody-may-see-0815"
EFFECT_SECONDS = 2.0


@pytest.fixture
def config(tmp_path: Path, upstream: ScriptedUpstream, site: Site) -> settings.Config:
    standard = settings.standard(free_port(), str(tmp_path), upstream.base)
    return settings.merged(standard, database={"url": site.url})


async def made(gateway: Gateway, target: str, body: dict[str, Any]) -> Any:
    reply = await gateway.admin(target, method="POST", body=body)
    assert reply.status == 201, reply.body
    return reply.json()


async def holds(condition: Callable[[], Awaitable[bool]], within: float = EFFECT_SECONDS) -> None:
    """The condition comes true in time."""
    deadline = time.monotonic() + within
    while not await condition():
        assert time.monotonic() < deadline, f"not so within {within} s"
        await asyncio.sleep(0.05)


async def statuses(gateway: Gateway, key: str, count: int = 12) -> set[int]:
    """What that many connections, of whichever worker, answer to the key."""
    header = [("authorization", f"Bearer {key}")]
    return {(await fetch(gateway.port, "GET", "/v1/models", header)).status for _ in range(count)}


def nowhere(gateway: Gateway, site: Site, *secrets: str) -> None:
    """No secret stands in the log, or in any byte of the database."""
    stored = site.stored()
    assert b"database.retention" in stored, "what is looked through is the database"
    for secret in secrets:
        assert secret not in gateway.log
        assert secret.encode() not in stored


def managed_channel(side: Side, upstream: ScriptedUpstream) -> dict[str, Any]:
    base = upstream.base(f"managed-{side.tag}")
    return {
        "name": f"managed/{side.tag}",
        "protocol": side.name,
        "base_url": base if side is MESSAGES else f"{base}/v1",
        "api_key": CREDENTIAL,
        "headers": {"X-Team": HEADER},
        "models": {f"managed-{side.tag}": "upstream-name"},
    }


async def test_a_key_made_on_one_worker_works_on_the_other_and_is_revoked_there(
    start: Start, config: settings.Config, site: Site
) -> None:
    gateway = start(config, "--workers", "2")
    key = await made(gateway, "keys", {"name": "app", "account": "acme", "requests_per_minute": 600})
    secret = key["secret"]
    assert secret.startswith("sk-tg-")
    assert key["hint"] == f"{secret[:8]}…{secret[-4:]}"

    async def accepted() -> bool:
        return await statuses(gateway, secret) == {200}

    async def refused() -> bool:
        return await statuses(gateway, secret) == {401}

    await holds(accepted)
    shown = await gateway.admin("keys/app")
    listed = await gateway.admin("keys")
    assert secret not in (shown.body + listed.body).decode()
    assert (await gateway.admin("keys/app", method="DELETE")).status == 204
    await holds(refused)
    nowhere(gateway, site, secret)


async def test_a_channel_made_over_the_api_serves_at_once(
    start: Start, config: settings.Config, upstream: ScriptedUpstream, site: Site
) -> None:
    gateway = start(config)
    for side in SIDES:
        answer = await made(gateway, "channels", managed_channel(side, upstream))
        assert (answer["has_api_key"], answer["header_names"]) == (True, ["x-team"])
        channel, model = f"managed-{side.tag}", f"managed-{side.tag}"
        upstream.script(channel, "upstream-name", stream(side.script().all))
        reply = await gateway.call(side, side.request(model, stream=True))
        assert reply.status == 200, reply.body
        seen = upstream.requests(channel, "upstream-name")[0]
        assert CREDENTIAL in (seen.header("authorization") or "") + (seen.header("x-api-key") or "")
        assert seen.header("x-team") == HEADER
        for target in ("channels", f"channels/managed%2F{side.tag}"):
            body = (await gateway.admin(target)).body.decode()
            assert CREDENTIAL not in body
            assert HEADER not in body
    nowhere(gateway, site, CREDENTIAL, HEADER)


async def test_a_deleted_channel_and_key_let_the_open_stream_go_on(
    start: Start, config: settings.Config, upstream: ScriptedUpstream
) -> None:
    gateway = start(config)
    await made(gateway, "channels", managed_channel(CHAT, upstream))
    secret = (await made(gateway, "keys", {"name": "app", "account": "acme"}))["secret"]
    script = CHAT.script("upstream-name")
    upstream.script(
        "managed-chat", "upstream-name", stream(script.opening, script.deltas, Pause(3.0), script.closing)
    )
    async with gateway.open(CHAT, CHAT.request("managed-chat", stream=True), key=secret) as reply:
        await reply.until(b"Hel")
        for target in ("channels/managed%2Fchat", "keys/app"):
            assert (await gateway.admin(target, method="DELETE")).status == 204
        assert await statuses(gateway, secret, 1) == {401}
        assert b"[DONE]" in (await reply.finish()).body
    gone = await gateway.call(CHAT, CHAT.request("managed-chat", stream=True))
    assert gone.status == 404


async def test_the_database_outlives_the_process_and_needs_the_same_secret(
    start: Start, config: settings.Config, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    gateway = start(config)
    await made(gateway, "channels", managed_channel(CHAT, upstream))
    await made(gateway, "channels", {**managed_channel(MESSAGES, upstream), "api_key": None, "headers": None})
    gateway.stop()
    config["server"] |= {"secret": "quite-another-secret-0123456789", "port": free_port()}
    other = start(config)
    assert "channel managed/chat: its credential cannot be opened" in other.log
    shown = (await other.admin("channels/managed%2Fchat")).json()
    assert "server.secret" in shown["problem"]
    model = "managed-msgs"
    upstream.script("managed-msgs", "upstream-name", stream(MESSAGES.script().all))
    assert (await other.call(MESSAGES, MESSAGES.request(model, stream=True))).status == 200
    assert (await other.call(CHAT, CHAT.request("managed-chat", stream=True))).status == 404
    halfway = await other.admin("channels/managed%2Fchat", method="PATCH", body={"api_key": CREDENTIAL})
    assert (halfway.status, halfway.json()["errors"][0]["field"]) == (422, "headers")
    anew = {"api_key": CREDENTIAL, "headers": {}}
    mended = await other.admin("channels/managed%2Fchat", method="PATCH", body=anew)
    assert (mended.status, mended.json()["problem"]) == (200, None)
    upstream.script("managed-chat", "upstream-name", stream(CHAT.script().all))
    assert (await other.call(CHAT, CHAT.request("managed-chat", stream=True))).status == 200


async def test_what_the_file_declares_is_shown_and_not_changed(start: Start, config: settings.Config) -> None:
    gateway = start(config)
    for target in ("keys/laptop", "channels/chat-A", "accounts/acme", "models/chat-a-*"):
        shown = await gateway.admin(target)
        assert shown.json()["managed_by"] == "file"
        for method in ("PATCH", "DELETE"):
            assert (await gateway.admin(target, method=method, body={})).status == 409
    for secret in settings.ENVIRONMENT.values():
        for kind in ("keys", "channels", "accounts", "models"):
            assert secret not in (await gateway.admin(kind)).body.decode()


async def test_a_name_that_the_file_takes_over_is_the_files(
    start: Start, config: settings.Config, tmp_path: Path
) -> None:
    gateway = start(config)
    secret = (await made(gateway, "keys", {"name": "app", "account": "acme"}))["secret"]
    config["keys"].append({"name": "app", "account": "globex", "key": "sk-tg-from-the-file-1"})
    gateway.write_config(config)
    gateway.process.send_signal(1)

    async def taken() -> bool:
        return bool((await gateway.admin("keys/app")).json()["managed_by"] == "file")

    await holds(taken)
    assert await statuses(gateway, secret, 1) == {401}
    assert await statuses(gateway, "sk-tg-from-the-file-1", 1) == {200}
    assert gateway.log.count("key app: stands in the config file and in the database") == 1


async def test_the_command_line_changes_a_running_gateway(start: Start, config: settings.Config) -> None:
    gateway = start(config, "--workers", "2")

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "tidegate", *arguments, "--config", str(gateway.config_path)],
            capture_output=True,
            text=True,
            timeout=30,
            env=environment(),
            cwd=gateway.config_path.parent,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    secret = run("keys", "create", "script", "--account", "acme", "--quiet").strip()
    assert secret.startswith("sk-tg-")

    async def accepted() -> bool:
        return await statuses(gateway, secret) == {200}

    async def refused() -> bool:
        return await statuses(gateway, secret) == {401}

    await holds(accepted)
    run("keys", "revoke", "script")
    await holds(refused)


async def test_a_database_that_goes_away_leaves_the_catalog_in_force(
    start: Start, config: settings.Config, site: Site
) -> None:
    gateway = start(config)
    secret = (await made(gateway, "keys", {"name": "app", "account": "acme"}))["secret"]
    with site.locked():
        assert await statuses(gateway, secret, 3) == {200}
        reply = await gateway.admin("keys", method="POST", body={"name": "late"})
        assert reply.status == 503
        assert (await gateway.admin("keys/app")).status == 200
    await made(gateway, "keys", {"name": "late", "account": "acme"})


GARBAGE = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'{"name": "\\ud800"}',
    b'{"name": NaN}',
    b'{"name": "a", "name": "b"}',
    b"\xff\xfe",
    b'{"name": "a", "weight": ' + b"9" * 5000 + b"}",
    b'{"a":' * 100_000,
    b"{" + b" " * (2 << 20) + b"}",
]


async def test_garbage_changes_nothing_and_breaks_nothing(start: Start, config: settings.Config) -> None:
    gateway = start(config)
    for target, method in (("keys", "POST"), ("channels", "POST"), ("accounts/acme/credit", "POST")):
        for body in GARBAGE:
            reply = await gateway.admin(target, method=method, body=body)
            assert reply.status in (400, 413), (target, body[:50], reply.body)
            assert reply.json()["status"] == reply.status
    assert [one["name"] for one in (await gateway.admin("keys")).json()["data"]] == [
        "laptop",
        "narrow",
        "other",
    ]
