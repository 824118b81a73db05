"""The console's files, signing in and out, and the playground, with real processes."""

import asyncio
import json
from typing import Any

from tests.conftest import Start
from tests.harness import settings
from tests.harness.client import Reply, fetch
from tests.harness.dialects import CHAT
from tests.harness.gateway import Gateway, free_port
from tests.harness.script import stream
from tests.harness.upstream import ScriptedUpstream

JSON = [("content-type", "application/json")]


async def sign_in(gateway: Gateway, token: str = settings.ADMIN, more: Any = ()) -> Reply:
    body = json.dumps({"token": token}).encode()
    return await fetch(gateway.port, "POST", "/admin/v1/session", [*JSON, *more], body)


def cookie_of(reply: Reply) -> tuple[str, str]:
    return ("cookie", (reply.header("set-cookie") or "").partition(";")[0])


async def asked(gateway: Gateway, method: str, target: str, headers: Any, body: Any = None) -> Reply:
    content = None if body is None else json.dumps(body).encode()
    return await fetch(gateway.port, method, f"/admin/v1/{target}", headers, content)


async def test_a_session_holds_on_both_workers_and_ends_on_both(
    start: Start, tmp_path: Any, upstream: ScriptedUpstream
) -> None:
    gateway = start(settings.standard(free_port(), str(tmp_path), upstream.base), "--workers", "2")
    reply = await sign_in(gateway)
    assert reply.status == 200
    cookie = cookie_of(reply)
    for _ in range(20):
        assert (await asked(gateway, "GET", "keys", [cookie])).status == 200
    csrf = ("x-csrf-token", reply.json()["csrf"])
    assert (await asked(gateway, "DELETE", "session", [cookie])).status == 403
    assert (await asked(gateway, "DELETE", "session", [cookie, csrf])).status == 204
    await asyncio.sleep(2)
    assert {(await asked(gateway, "GET", "keys", [cookie])).status for _ in range(20)} == {401}


async def test_the_playground_answers_as_the_data_plane_does(
    gateway: Gateway, upstream: ScriptedUpstream
) -> None:
    cookie, csrf = cookie_of(reply := await sign_in(gateway)), ("x-csrf-token", reply.json()["csrf"])
    model = "chat-a-playground"
    upstream.script("chat-A", model, stream(CHAT.script(model).all))
    body = CHAT.request(model, stream=True)
    answer = await asked(gateway, "POST", "playground/chat?key=laptop", [cookie, csrf, *JSON], body)
    assert answer.status == 200, answer.body
    assert answer.body.endswith(b"data: [DONE]\n\n")
    row = await gateway.row_of(answer.header("x-request-id"))
    assert (row["key"], row["account"], row["outcome"]) == ("laptop", "acme", "completed")
    seen = upstream.requests("chat-A", model)[0]
    assert seen.header("cookie") is None
    assert seen.header("x-csrf-token") is None


async def test_the_console_is_served_with_its_headers(gateway: Gateway) -> None:
    moved = await fetch(gateway.port, "GET", "/console")
    assert (moved.status, moved.header("location")) == (308, "/console/")
    page = await fetch(gateway.port, "GET", "/console/requests/req_1")
    assert (page.status, page.header("content-type")) == (200, "text/html; charset=utf-8")
    policy = page.header("content-security-policy") or ""
    assert "default-src 'none'" in policy
    again = await fetch(gateway.port, "GET", "/console/", [("if-none-match", page.header("etag") or "")])
    assert (again.status, again.body) == (304, b"")
