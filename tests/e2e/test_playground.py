"""The playground: what an operator asks is answered, counted and billed as if a caller had asked."""

import asyncio
import json

from tests.harness import settings
from tests.harness.client import fetch
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, SIDES
from tests.harness.gateway import Gateway
from tests.harness.operator import Operator
from tests.harness.script import Pause, stream
from tests.harness.upstream import ScriptedUpstream

PATHS = {CHAT.name: "chat", RESPONSES.name: "responses", MESSAGES.name: "messages"}


async def test_every_protocol_answers_as_a_caller_gets_it(
    gateway: Gateway, upstream: ScriptedUpstream
) -> None:
    operator = await Operator.at(gateway.port)
    for side in SIDES:
        model = f"{side.tag}-a-playground"
        told = stream(side.script(model).all)
        upstream.script(f"{side.tag}-A", model, told, told)
        body = side.request(model, stream=True)
        target = f"playground/{PATHS[side.name]}?key=laptop"
        answer = await operator.ask(gateway.port, "POST", target, body)
        plain = await gateway.call(side, body)
        assert (answer.status, answer.header("content-type")) == (200, plain.header("content-type"))
        assert answer.body == plain.body
        row = await gateway.row_of(answer.header("x-request-id"))
        assert (row["key"], row["account"], row["outcome"]) == ("laptop", "acme", "completed")
        seen = upstream.requests(f"{side.tag}-A", model)[0]
        for name in ("cookie", "x-csrf-token", "origin", "referer"):
            assert seen.header(name) is None
        assert settings.ADMIN not in str(seen)


async def test_events_come_one_by_one_and_leaving_stops_the_upstream(
    gateway: Gateway, upstream: ScriptedUpstream
) -> None:
    operator, model = await Operator.at(gateway.port), "chat-a-playground-slow"
    script = CHAT.script(model)
    upstream.script("chat-A", model, stream(script.opening, script.deltas, Pause(20.0), script.closing))
    body = CHAT.request(model, stream=True)
    connection, reply = await operator.open(gateway.port, "POST", "playground/chat", body)
    await reply.until(b"Hel", within=10)
    connection.vanish()
    row = await gateway.row(model, within=10)
    assert (row["key"], row["account"], row["outcome"]) == ("console", "default", "client_closed")


async def test_who_asked_stands_in_the_audit_log(gateway: Gateway) -> None:
    body = CHAT.request("chat-a-playground-no", stream=True)
    await gateway.admin("playground/chat?key=narrow", method="POST", body=body)

    async def noted() -> bool:
        page = (await gateway.admin("audit?kind=playground&name=narrow")).json()
        return [(row["action"], row["operator"], row["changes"]) for row in page["data"]][:1] == [
            ("ask", "admin", {"protocol": [None, "chat"]})
        ]

    async with asyncio.timeout(10):
        while not await noted():
            await asyncio.sleep(0.05)


async def test_the_key_says_what_may_be_asked(gateway: Gateway) -> None:
    body = CHAT.request("chat-a-playground-no", stream=True)
    refused = await gateway.admin("playground/chat?key=narrow", method="POST", body=body)
    assert (refused.status, refused.json()["error"]["code"]) == (403, "model_not_allowed")
    unknown = await gateway.admin("playground/chat?key=nobody", method="POST", body=body)
    assert (unknown.status, unknown.json()["parameter"]) == (404, "key")
    assert (await gateway.admin("playground/grpc", method="POST", body=body)).status == 404
    assert (await gateway.admin("playground/chat", method="GET")).status == 405
    wrong = await gateway.admin("playground/chat", method="POST", body={"model": 5})
    assert (wrong.status, wrong.json()["error"]["param"]) == (400, "model")


async def test_a_caller_s_key_opens_no_playground(gateway: Gateway) -> None:
    body = json.dumps(CHAT.request("chat-a-x")).encode()
    for headers in ([], [("authorization", f"Bearer {settings.KEY}")], [("x-api-key", settings.KEY)]):
        reply = await fetch(gateway.port, "POST", "/admin/v1/playground/chat", headers, body)
        assert reply.status == 401
