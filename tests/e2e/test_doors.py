"""The console's files, signing in and out, and the audit log, with real processes."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Start
from tests.harness import settings
from tests.harness.client import Connection, fetch, request_bytes
from tests.harness.databases import Site
from tests.harness.gateway import Gateway, environment, free_port
from tests.harness.operator import JSON, Operator, sign_in
from tests.harness.upstream import ScriptedUpstream

EFFECT_SECONDS = 2.0
GRACE = 1.0
"""Seconds that a loaded machine may take on top."""
ALICE = "the-token-of-alice-0815"


@pytest.fixture
def in_file(tmp_path: Path, upstream: ScriptedUpstream) -> settings.Config:
    """A gateway with a second operator, on SQLite."""
    standard = settings.standard(free_port(), str(tmp_path), upstream.base)
    return settings.merged(standard, admin={"operators": {"alice": ALICE}, "session_idle": "1h"})


@pytest.fixture
def config(in_file: settings.Config, site: Site) -> settings.Config:
    """The same on both databases."""
    return settings.merged(in_file, database={"url": site.url})


async def holds(condition: Callable[[], Awaitable[bool]], within: float = EFFECT_SECONDS + GRACE) -> None:
    deadline = time.monotonic() + within
    while not await condition():
        assert time.monotonic() < deadline, f"not so within {within} s"
        await asyncio.sleep(0.05)


async def test_a_session_lives_on_all_workers_over_a_restart_and_ends_everywhere(
    start: Start, config: settings.Config, site: Site
) -> None:
    gateway = start(config, "--workers", "2")
    port = gateway.port
    alice, admin = await Operator.at(port, ALICE), await Operator.at(port)
    assert alice.session["operator"] == "alice"
    assert await alice.status(port, 20) == {200}
    connection, tail = await alice.open(port, "GET", "requests/tail")
    assert (await alice.ask(port, "DELETE", "session")).status == 204

    async def over() -> bool:
        return await alice.status(port, 12) == {401}

    await holds(over)
    await tail.finish(EFFECT_SECONDS + 8)  # what was open ends with its session
    connection.close()
    identifier = admin.cookie[1].partition("=")[2]
    gateway.stop()
    assert identifier.encode() not in site.stored()
    again = start(settings.merged(config, server={"port": free_port()}), "--workers", "2")
    assert await admin.status(again.port, 12) == {200}
    again.stop()
    config["admin"]["token"] = "another-admin-token"
    changed = start(settings.merged(config, server={"port": free_port()}))
    assert await admin.status(changed.port) == {401}
    assert (await sign_in(changed.port)).status == 401
    assert identifier not in gateway.log + again.log + changed.log
    assert ALICE not in gateway.log


async def test_who_is_signed_in_goes_on_reading_while_the_database_is_away(
    start: Start, tmp_path: Path, upstream: ScriptedUpstream, request: pytest.FixtureRequest
) -> None:
    postgres = request.getfixturevalue("postgres")
    name = postgres.fresh()
    config = settings.merged(
        settings.standard(free_port(), str(tmp_path), upstream.base), database={"url": postgres.url(name)}
    )
    gateway = start(config)
    operator = await Operator.at(gateway.port)
    postgres.stop()
    try:
        await asyncio.sleep(1.2)
        assert (await operator.ask(gateway.port, "GET", "channels")).status == 200
        assert await operator.status(gateway.port) == {200}
        assert (await operator.ask(gateway.port, "POST", "models", {"name": "m"})).status == 503
        assert (await sign_in(gateway.port)).status == 503
    finally:
        postgres.start()


async def test_the_audit_log_tells_what_api_console_and_commands_did(
    start: Start, in_file: settings.Config, tmp_path: Path
) -> None:
    gateway = start(in_file, "--workers", "2")
    port = gateway.port
    alice = await Operator.at(port, ALICE)
    channel = {"name": "c", "protocol": "chat", "base_url": "https://api.example.com/v1", "models": ["m"]}
    made = await alice.ask(port, "POST", "channels", {**channel, "api_key": "sk-never-to-be-seen"})
    assert made.json()["warnings"] == ["models: m have no price: free until priced"]
    assert (await gateway.admin("channels/c", method="PATCH", body={"weight": 3})).status == 200
    assert (await gateway.admin("channels/c", method="PATCH", body={"weight": -3})).status == 422
    assert (await gateway.admin("channels/c/pause", method="POST")).status == 200
    assert (await gateway.admin("accounts", method="POST", body={"name": "p", "balance": "5"})).status == 201
    assert (await sign_in(port, "wrong-token")).status == 401
    run(gateway, "keys", "create", "script", "--account", "acme")
    run(gateway, "accounts", "credit", "p", "1.50", "--reference", "r1")
    gateway.write_config(settings.merged(in_file, routing={"max_attempts": 3}))
    gateway.process.send_signal(1)

    async def reloaded() -> bool:
        return b'"reload"' in (await gateway.admin("audit?kind=config")).body

    await holds(reloaded, 10)
    rows = (await gateway.admin("audit?limit=100")).json()["data"]
    told = [(row["operator"], row["via"], row["action"], row["kind"], row["name"]) for row in reversed(rows)]
    user = next(row["operator"] for row in rows if row["via"] == "command_line" and row["operator"])
    assert told == [
        ("alice", "console", "sign_in", "sessions", None),
        ("alice", "console", "create", "channels", "c"),
        ("admin", "token", "change", "channels", "c"),
        ("admin", "token", "pause", "channels", "c"),
        ("admin", "token", "credit", "accounts", "p"),
        ("admin", "token", "create", "accounts", "p"),
        (None, "console", "sign_in_failed", "sessions", None),
        (user, "command_line", "create", "keys", "script"),
        (user, "command_line", "credit", "accounts", "p"),
        (None, "command_line", "reload", "config", None),
    ]
    by_action = {row["action"]: row["changes"] for row in rows}
    assert by_action["change"] == {"weight": [None, 3]}
    assert by_action["reload"] == {"routing.max_attempts": [4, 3]}
    assert by_action["sign_in_failed"] == {"tries": [None, 1], "addresses": [None, ["127.0.0.1"]]}
    assert rows[-2]["changes"]["api_key"] == [None, "(set)"]
    assert rows[-1]["address"] == "127.0.0.1"
    shown = run(gateway, "audit", "--kind", "channels", "--json")
    assert [json.loads(line)["action"] for line in shown.splitlines()] == ["pause", "change", "create"]
    assert "sk-never" not in json.dumps(rows) + gateway.log
    assert not [
        file for file in tmp_path.glob("tidegate.db*") if file.is_file() and b"sk-never" in file.read_bytes()
    ]


async def test_a_reload_withdraws_an_operator(start: Start, in_file: settings.Config) -> None:
    gateway = start(in_file, "--workers", "2")
    alice, admin = await Operator.at(gateway.port, ALICE), await Operator.at(gateway.port)
    connection, tail = await alice.open(gateway.port, "GET", "requests/tail")
    program = await Connection.open(gateway.port)
    bearer = [("authorization", f"Bearer {ALICE}")]
    await program.send(request_bytes("GET", "/admin/v1/requests/tail", bearer))
    by_token = await program.reply()
    gateway.write_config(settings.merged(in_file, admin={"operators": {"bob": "the-token-of-bob-4711"}}))
    gateway.process.send_signal(1)

    async def reloaded() -> bool:
        return gateway.log.count("the config was reloaded") == 2

    await holds(reloaded, 20)
    assert await alice.status(gateway.port, 12) == {401}
    await tail.finish(10)
    connection.close()
    await by_token.finish(10)
    program.close()
    assert (await sign_in(gateway.port, ALICE)).status == 401
    assert (await Operator.at(gateway.port, "the-token-of-bob-4711")).session["operator"] == "bob"
    assert await admin.status(gateway.port, 12) == {200}


def run(gateway: Gateway, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tidegate", *arguments, "--config", str(gateway.config_path)],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(),
        cwd=gateway.config_path.parent,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


async def test_wrong_tokens_are_counted_by_all_workers_together(
    start: Start, in_file: settings.Config
) -> None:
    gateway = start(in_file, "--workers", "2")
    port = gateway.port
    known = await Operator.at(port)
    statuses = [(await sign_in(port, "wrong-token")).status for _ in range(16)]
    assert statuses[:10] == [401] * 10
    assert set(statuses[11:]) == {429}
    throttled = await sign_in(port)
    assert (throttled.status, throttled.header("content-type")) == (429, "application/problem+json")
    assert int(throttled.header("retry-after") or "0") >= 1
    assert (await gateway.admin("keys")).status == 200
    assert (await gateway.admin("keys", "wrong-token")).status == 429
    assert await known.status(port, 6) == {200}
    for token, status in ((settings.ADMIN, 200), ("wrong-token", 429)):
        bearer = [("authorization", f"Bearer {token}")]
        assert (await fetch(port, "GET", "/metrics", bearer)).status == status


COOKIES = [
    "tidegate_session=garbage",
    "tidegate_session=" + "A" * 64,
    "tidegate_session=" + "A" * 9000,
    "tidegate_session=\xff\xfe",
    "=;;;==",
]


@pytest.mark.parametrize("cookie", COOKIES)
async def test_a_garbage_cookie_is_no_session(gateway: Gateway, cookie: str) -> None:
    for method, target in (("GET", "session"), ("GET", "keys"), ("DELETE", "session"), ("POST", "keys")):
        reply = await fetch(gateway.port, method, f"/admin/v1/{target}", [("cookie", cookie), JSON], b"{}")
        assert (reply.status, reply.header("content-type")) == (401, "application/problem+json")


CROSS: list[list[tuple[str, str]]] = [
    [("origin", "https://evil.example")],
    [("origin", "null")],
    [("origin", "http://gateway.test:1")],
    [("sec-fetch-site", "cross-site")],
    [("sec-fetch-site", "same-site"), ("origin", "http://gateway.test")],
]


async def test_a_page_of_another_site_changes_nothing(gateway: Gateway) -> None:
    operator = await Operator.at(gateway.port)
    body = json.dumps({"name": "forged"}).encode()
    for headers in CROSS:
        reply = await fetch(gateway.port, "POST", "/admin/v1/models", [*operator.headers, *headers], body)
        assert reply.status == 403, headers
        assert (await sign_in(gateway.port, extra=headers)).status == 403
    assert (await gateway.admin("models/forged")).status == 404
    own = [("origin", "http://gateway.test"), ("sec-fetch-site", "same-origin")]
    reply = await fetch(gateway.port, "POST", "/admin/v1/models", [*operator.headers, *own], body)
    assert reply.status == 201
    assert (await operator.ask(gateway.port, "DELETE", "models/forged")).status == 204


async def test_two_operators_that_change_one_row(gateway: Gateway) -> None:
    one, other = await Operator.at(gateway.port), await Operator.at(gateway.port)
    made = await one.ask(gateway.port, "POST", "models", {"name": "shared"})
    tag = ("if-match", made.header("etag") or "")
    change = json.dumps({"idle_timeout": 5}).encode()
    target = "/admin/v1/models/shared"
    first = await fetch(gateway.port, "PATCH", target, [*other.headers, tag], change)
    assert first.status == 200
    second = await fetch(gateway.port, "PATCH", target, [*one.headers, tag], change)
    assert (second.status, second.header("content-type")) == (412, "application/problem+json")
    for wrong in ('"0"', "x", '"' + "9" * 30 + '"', 'W/"1"', ""):
        reply = await fetch(gateway.port, "DELETE", target, [*one.headers, ("if-match", wrong)])
        assert reply.status == 412, wrong
    assert (await one.ask(gateway.port, "DELETE", "models/shared")).status == 204


async def test_the_console_is_served_with_its_headers(gateway: Gateway) -> None:
    moved = await fetch(gateway.port, "GET", "/console")
    assert (moved.status, moved.header("location")) == (308, "/console/")
    page = await fetch(gateway.port, "GET", "/console/requests/req_1")
    assert (page.status, page.header("content-type")) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in (page.header("content-security-policy") or "")
    again = await fetch(gateway.port, "GET", "/console/", [("if-none-match", page.header("etag") or "")])
    assert (again.status, again.body) == (304, b"")
    for path in ("/console/../config/loading.py", "/console/%2e%2e/%2e%2e/config/loading.py"):
        outside = await fetch(gateway.port, "GET", path)
        assert b"def load" not in outside.body
        assert outside.status in (200, 404)
    assert (await fetch(gateway.port, "HEAD", "/console/")).body == b""
    assert (await fetch(gateway.port, "POST", "/console/", [], b"x")).status == 405


async def test_without_a_token_there_is_no_console_and_no_api(
    start: Start, tmp_path: Path, upstream: ScriptedUpstream
) -> None:
    config: dict[str, Any] = settings.standard(free_port(), str(tmp_path), upstream.base)
    del config["admin"]
    gateway = start(config)
    for path in ("/console", "/console/", "/console/app.js", "/admin/v1/session", "/admin/v1/keys"):
        assert (await fetch(gateway.port, "GET", path)).status == 404
    assert (await sign_in(gateway.port)).status == 404
