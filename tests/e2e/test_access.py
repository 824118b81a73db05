"""Who may call what: keys, routes, methods, model lists, health, browsers."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Start
from tests.harness import settings
from tests.harness.client import Connection, Reply, fetch
from tests.harness.dialects import (
    AUTH,
    CHAT,
    MESSAGES,
    NO_MODEL,
    NO_ROUTE,
    NOT_ALLOWED,
    RESPONSES,
    SIDES,
    WRONG_METHOD,
    Side,
    check_refusal,
)
from tests.harness.gateway import Headers, free_port
from tests.harness.script import stream
from tests.harness.stage import Stage
from tests.harness.together import together
from tests.harness.upstream import ScriptedUpstream

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
ANTHROPIC = [("anthropic-version", "2023-06-01")]


@every_side
async def test_s012_refused_before_output_in_the_callers_form(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    unknown = f"{side.tag}-none-1"
    bearer = "x-api-key" if side is MESSAGES else "authorization"
    scheme = "" if side is MESSAGES else "Bearer "

    async def ask(name: str, key: str | None, extra: Headers = ()) -> Reply:
        reply = await stage.gateway.call(side, side.request(name), key=key, extra=extra)
        assert (reply.header("content-type") or "").startswith("application/json")
        return reply

    check_refusal(side, await ask(model, None), AUTH)
    check_refusal(side, await ask(model, "sk-tg-wrong"), AUTH)
    check_refusal(side, await ask(model, None, [(bearer, scheme)]), AUTH)
    check_refusal(side, await ask(model, None, [("authorization", f"Basic {settings.KEY}")]), AUTH)
    check_refusal(side, await ask(model, None, [(bearer, f"{scheme}sk-tg-\u00e9")]), AUTH)
    check_refusal(side, await ask(model, settings.NARROW_KEY), NOT_ALLOWED)
    error = check_refusal(side, await ask(unknown, settings.KEY), NO_MODEL)
    assert unknown in error["message"]
    if side is not MESSAGES:
        assert error["param"] == "model"
    assert stage.upstream.requests(f"{side.tag}-A", model) == []
    row = await stage.gateway.row(unknown)
    assert (row["outcome"], row["status"], row["attempts"]) == ("rejected", 404, [])
    assert (row["key"], row["account"], row["protocol"]) == ("laptop", "acme", side.name)


async def test_rejected_requests_have_rows(stage: Stage) -> None:
    reply = await stage.gateway.call(CHAT, b"not json")
    identity = reply.header("x-request-id")
    rows = await _rows_until(stage, "outcome=rejected&limit=50", identity)
    row = next(row for row in rows if row["id"] == identity)
    assert (row["status"], row["outcome"], row["model"]) == (400, "rejected", None)
    refused = await stage.gateway.call(CHAT, CHAT.request("chat-a-0"), key="sk-tg-wrong")
    rows = await _rows_until(stage, "outcome=rejected&limit=50", refused.header("x-request-id"))
    row = next(row for row in rows if row["id"] == refused.header("x-request-id"))
    assert (row["status"], row["key"], row["account"]) == (401, None, None)


async def _rows_until(stage: Stage, query: str, identity: str | None) -> list[Any]:
    for _ in range(100):
        rows = await stage.gateway.rows(query)
        if any(row["id"] == identity for row in rows):
            return rows
        await asyncio.sleep(0.05)
    raise AssertionError(f"no row {identity}")


@every_side
async def test_b191_wrong_methods_and_unknown_routes_in_the_right_envelope(stage: Stage, side: Side) -> None:
    port = stage.gateway.port
    key = [("x-api-key", settings.KEY)]
    for method in ("GET", "PUT", "DELETE", "PATCH"):
        reply = await fetch(port, method, side.path, key)
        check_refusal(side, reply, WRONG_METHOD)
        assert reply.header("allow") in ("POST", "POST, OPTIONS", "OPTIONS, POST")
    connection = await Connection.open(port)
    for _ in range(2):  # a body after HEAD would be read as the next answer
        await connection.send(f"HEAD {side.path} HTTP/1.1\r\nhost: x\r\nx-api-key: x\r\n\r\n".encode())
        head = await connection.reply(bodyless=True)
        assert (head.status, head.header("allow") is None) == (405, False)
    connection.close()
    for target in (f"{side.path}/", f"{side.path}/x", f"{side.path}x"):
        reply = await fetch(port, "POST", target, [*key, *_marks(side)], b"{}")
        check_refusal(side, reply, NO_ROUTE)


def _marks(side: Side) -> Headers:
    """The header by which a request on no known route shows its dialect."""
    return ANTHROPIC if side is MESSAGES else []


async def test_b191_other_routes(stage: Stage) -> None:
    port = stage.gateway.port
    for target in ("/v2/chat/completions", "/v1", "/v1/embeddings", "/admin", "/%2e%2e/etc/passwd", "//x"):
        check_refusal(CHAT, await fetch(port, "POST", target, [], b"{}"), NO_ROUTE)
        check_refusal(CHAT, await fetch(port, "GET", target, []), NO_ROUTE)
    check_refusal(CHAT, await fetch(port, "POST", "/v1/models", [], b""), WRONG_METHOD)
    check_refusal(MESSAGES, await fetch(port, "GET", "/v1/messages/count_tokens", []), WRONG_METHOD)


async def test_the_order_of_checks(stage: Stage) -> None:
    """Route, method, key, body, model: the first that fails is told."""
    port = stage.gateway.port
    assert (await fetch(port, "GET", "/v1/nothing", [])).status == 404
    assert (await fetch(port, "GET", CHAT.path, [])).status == 405
    assert (await fetch(port, "POST", CHAT.path, [], b"not json")).status == 401
    wrong = [("authorization", f"Bearer {settings.KEY}")]
    assert (await fetch(port, "POST", CHAT.path, wrong, b"not json")).status == 400


async def test_b191_head_and_get_of_the_root_need_no_key(stage: Stage) -> None:
    for method in ("HEAD", "GET"):
        reply = await fetch(stage.gateway.port, method, "/", [])
        assert reply.status == 200


async def test_health(stage: Stage) -> None:
    for target in ("/healthz", "/readyz"):
        reply = await fetch(stage.gateway.port, "GET", target, [])
        assert reply.status == 200, reply.body


async def test_ready_needs_a_channel(start: Start, tmp_path: Path) -> None:
    gateway = start(settings.server(free_port(), str(tmp_path)))
    assert (await fetch(gateway.port, "GET", "/healthz", [])).status == 200
    reply = await fetch(gateway.port, "GET", "/readyz", [])
    assert reply.status == 503


async def test_b186_models_in_both_shapes_and_only_those_the_key_may_use(
    start: Start, tmp_path: Path
) -> None:
    config = settings.server(free_port(), str(tmp_path))
    names = ["gamma", "alpha", "beta", "chat-a-narrow", "wild-*"]
    config["channels"] = [settings.channel("c", "chat", "http://127.0.0.1:9", names)]
    config["models"] = [{"name": name} for name in names]
    config["keys"].append(settings.narrow_key("chat-a-narrow"))
    gateway = start(config)
    narrow = [("x-api-key", settings.NARROW_KEY)]
    full = [("authorization", f"Bearer {settings.KEY}")]

    openai = (await fetch(gateway.port, "GET", "/v1/models", full)).json()
    assert openai["object"] == "list"
    listed = {entry["id"] for entry in openai["data"]}
    assert {"alpha", "beta", "gamma", "chat-a-narrow"} <= listed
    assert all(entry["object"] == "model" for entry in openai["data"])
    assert all({"id", "object", "created", "owned_by"} <= set(entry) for entry in openai["data"])

    anthropic = (await fetch(gateway.port, "GET", "/v1/models", [*full, *ANTHROPIC])).json()
    assert {"data", "has_more", "first_id", "last_id"} <= set(anthropic)
    ids = [entry["id"] for entry in anthropic["data"]]
    assert set(ids) == listed
    assert (anthropic["first_id"], anthropic["last_id"]) == (ids[0], ids[-1])
    assert all(entry["type"] == "model" for entry in anthropic["data"])
    assert all({"id", "display_name", "created_at"} <= set(entry) for entry in anthropic["data"])

    only = (await fetch(gateway.port, "GET", "/v1/models", narrow)).json()
    assert [entry["id"] for entry in only["data"]] == ["chat-a-narrow"]
    check_refusal(CHAT, await fetch(gateway.port, "GET", "/v1/models", []), AUTH)

    one = await fetch(gateway.port, "GET", "/v1/models/alpha", full)
    assert (one.status, one.json()["id"], one.json()["object"]) == (200, "alpha", "model")
    one = await fetch(gateway.port, "GET", "/v1/models/alpha", [*full, *ANTHROPIC])
    assert (one.json()["id"], one.json()["type"]) == ("alpha", "model")
    check_refusal(CHAT, await fetch(gateway.port, "GET", "/v1/models/nope", full), NO_MODEL)
    check_refusal(
        MESSAGES, await fetch(gateway.port, "GET", "/v1/models/nope", [*full, *ANTHROPIC]), NO_MODEL
    )
    assert (await fetch(gateway.port, "GET", "/v1/models/alpha", narrow)).status in (403, 404)


async def test_browsers_may_call_only_from_the_listed_origins(start: Start, tmp_path: Path) -> None:
    config = settings.server(free_port(), str(tmp_path))
    config["server"]["cors_origins"] = ["https://app.example"]
    gateway = start(config)

    async def preflight(origin: str) -> Reply:
        headers = [
            ("origin", origin),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "authorization, content-type, anthropic-version"),
        ]
        return await fetch(gateway.port, "OPTIONS", "/v1/messages", headers)

    reply = await preflight("https://app.example")
    assert reply.status in (200, 204)
    assert reply.header("access-control-allow-origin") == "https://app.example"
    assert "POST" in (reply.header("access-control-allow-methods") or "")
    allowed = (reply.header("access-control-allow-headers") or "").lower()
    assert all(name in allowed for name in ("authorization", "content-type", "anthropic-version"))
    assert (await preflight("https://evil.example")).header("access-control-allow-origin") is None
    plain = await fetch(gateway.port, "POST", CHAT.path, [("origin", "https://app.example")], b"{}")
    assert plain.status == 401
    assert plain.header("access-control-allow-origin") == "https://app.example"


async def test_without_listed_origins_no_browser_may(stage: Stage) -> None:
    headers = [("origin", "https://app.example"), ("access-control-request-method", "POST")]
    reply = await fetch(stage.gateway.port, "OPTIONS", CHAT.path, headers)
    assert reply.header("access-control-allow-origin") is None


async def test_the_admin_api_needs_its_token(stage: Stage) -> None:
    for token in (None, "wrong", settings.KEY):
        reply = await stage.gateway.admin("requests", token)
        assert reply.status == 401
        assert "json" in (reply.header("content-type") or "")
        assert reply.json()


async def test_without_an_admin_token_there_is_no_admin_api(start: Start, tmp_path: Path) -> None:
    config = settings.server(free_port(), str(tmp_path))
    del config["admin"]
    gateway = start(config)
    assert (await gateway.admin("requests")).status == 404


async def test_rows_can_be_filtered_and_paged(stage: Stage) -> None:
    models = [stage.model(CHAT) for _ in range(3)]
    for model in models:
        await stage.play(CHAT, stream(CHAT.script().all), model=model)
    other = stage.model(RESPONSES)
    await stage.play(RESPONSES, stream(RESPONSES.script().all), model=other, key=settings.OTHER_KEY)
    for model in (*models, other):
        await stage.gateway.row(model)

    async def filtered(query: str, **wanted: object) -> None:
        rows = await stage.gateway.rows(f"limit=100&{query}")
        assert rows
        for row in rows:
            assert {name: row[name] for name in wanted} == wanted

    await together(
        {
            "key": filtered("key=other", key="other"),
            "account": filtered("account=globex", account="globex"),
            "channel": filtered("channel=chat-A", channel="chat-A"),
            "outcome": filtered("outcome=completed", outcome="completed"),
            "protocol": filtered("protocol=responses", protocol="responses"),
            "two": filtered("protocol=responses&account=globex", protocol="responses", account="globex"),
        }
    )
    first = await stage.gateway.rows("protocol=chat&limit=2")
    assert len(first) == 2
    second = await stage.gateway.rows(f"protocol=chat&limit=2&before={first[-1]['id']}")
    assert {row["id"] for row in first}.isdisjoint(row["id"] for row in second)
    times = [row["created_at"] for row in (*first, *second)]
    assert times == sorted(times, reverse=True)
    assert (await stage.gateway.admin("requests/req_nothing")).status == 404
    assert (await stage.gateway.admin("requests?limit=many")).status == 400


async def test_the_row_has_the_contracts_members(stage: Stage) -> None:
    played = await stage.play(CHAT, stream(CHAT.script().all))
    row = await played.row()
    members = {
        *("id", "created_at", "key", "account", "protocol", "stream", "model", "channel", "status"),
        *("outcome", "finish_reason", "first_token_ms", "duration_ms", "input_tokens", "cost"),
        *("cache_read_tokens", "cache_write_tokens", "output_tokens", "usage_source", "error"),
        *("warnings", "attempts", "items", "skipped", "user_agent", "trace_id", "captured"),
    }
    assert set(row) == members
    attempt = {"channel", "upstream_model", "status", "outcome", "error", "started_at", "duration_ms"}
    attempt |= {"upstream_cost", "reason", "failure_kind", "connected_ms", "first_byte_ms", "first_event_ms"}
    assert set(row["attempts"][0]) == attempt
    assert row["created_at"].endswith("Z")
    assert json.dumps(row["error"]) == "null"


async def test_the_admin_api_describes_itself(stage: Stage) -> None:
    reply = await stage.gateway.admin("openapi.json")
    assert reply.status == 200
    assert "/admin/v1/requests" in json.dumps(reply.json()["paths"]) or "/requests" in reply.json()["paths"]


async def test_keys_are_not_told_apart_by_the_answer(stage: Stage, upstream: ScriptedUpstream) -> None:
    """A wrong key learns nothing about models."""
    known = await stage.gateway.call(CHAT, CHAT.request("chat-a-1"), key="sk-tg-wrong")
    unknown = await stage.gateway.call(CHAT, CHAT.request("nothing"), key="sk-tg-wrong")
    assert known.json() == unknown.json()
