"""The data routes on the wire: what is checked in which order, and how connections live on."""

import asyncio
import gzip
import json
from typing import Any

import pytest
from tests.unit.exchange.said import ASK, DONE, HELLO, STOP, STREAM, WHOLE, WITH_USAGE, answers, says
from tests.unit.exchange.scene import SECRET, Scene, channel, turns
from tests.unit.server.served import AUTH, RULES, served

from tidegate.core.protocol import Protocol
from tidegate.server.endpoints import CONSOLE_KEY, Rules

CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"
COUNT = MESSAGES + "/count_tokens"
BODY = json.dumps(ASK).encode()
ORIGIN = "origin: https://app.example.com"


async def test_a_whole_answer_and_another_on_the_same_connection() -> None:
    scene = Scene()
    async with served(scene) as one:
        client = await one.connect()
        for number in range(2):
            scene.upstream.plays.append(answers(WHOLE))
            client.ask(f"POST {CHAT}?beta=true", AUTH, body=BODY)
            reply = await client.reply()
            assert (reply.status, reply.json()["choices"]) == (200, WHOLE["choices"])
            assert reply.headers["content-type"] == "application/json"
            assert reply.headers["x-request-id"] == scene.rows[number].id
            assert "request-id" not in reply.headers
            assert "connection" not in reply.headers
        assert len({row.id for row in scene.rows}) == 2


async def test_a_stream_arrives_in_chunks_as_it_is_said() -> None:
    scene = Scene()
    async with served(scene) as one:
        client = await one.connect()
        client.ask(f"POST {CHAT}", AUTH, body=json.dumps(STREAM).encode())
        await one.until(1)
        scene.call.head()
        scene.call.body(HELLO)
        head = await client.head()
        assert head.headers["transfer-encoding"] == "chunked"
        assert head.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert (head.headers["cache-control"], head.headers["x-accel-buffering"]) == (
            "no-cache, no-transform",
            "no",
        )
        assert await client.exactly(len(chunked(HELLO))) == chunked(HELLO)
        scene.call.body(STOP)
        assert await client.exactly(len(chunked(STOP))) == chunked(STOP)
        scene.call.body(DONE)
        end = chunked(DONE) + b"0\r\n\r\n"
        assert await client.exactly(len(end)) == end
        scene.upstream.plays.append(answers(WHOLE))
        client.ask(f"POST {CHAT}", AUTH, body=BODY)
        assert (await client.reply()).status == 200


def chunked(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


async def test_http_1_0_gets_a_stream_that_ends_with_the_connection() -> None:
    scene = Scene()
    async with served(scene) as one:
        scene.upstream.plays.append(says(HELLO, STOP, DONE))
        client = await one.connect()
        body = json.dumps(STREAM).encode()
        client.ask(f"POST {CHAT}", AUTH, "connection: keep-alive", body=body, version="1.0")
        head = await client.head()
        assert "transfer-encoding" not in head.headers
        assert head.headers["connection"] == "close"
        assert await client.rest() == HELLO + STOP + DONE


@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_who_wants_the_connection_closed_gets_it_closed(version: str) -> None:
    scene = Scene()
    async with served(scene) as one:
        scene.upstream.plays.append(answers(WHOLE))
        client = await one.connect()
        client.ask(f"POST {CHAT}", AUTH, "connection: close", body=BODY, version=version)
        assert (await client.reply()).headers["connection"] == "close"
        assert await client.is_closed()


@pytest.mark.parametrize(
    ("path", "protocol"),
    [
        (CHAT, "chat"),
        (MESSAGES, "messages"),
        (RESPONSES, "responses"),
        (MESSAGES + "/count_tokens", "messages"),
    ],
)
async def test_refusals_come_in_the_form_of_the_route_and_each_has_a_row(path: str, protocol: str) -> None:
    scene = Scene()
    async with served(scene) as one:
        wrong_method = await one.call(f"PUT {path}", AUTH)
        no_key = await one.call(f"POST {path}", body=BODY)
        bad_key = await one.call(f"POST {path}", "x-api-key: nobody", body=BODY)
        large = await one.call(f"POST {path}", AUTH, body=b"x" * 10_001)
        bad = await one.call(f"POST {path}", AUTH, body=b"{")
        assert [reply.status for reply in (wrong_method, no_key, bad_key, large, bad)] == [
            405,
            401,
            401,
            413,
            400,
        ]
        assert wrong_method.headers["allow"] == "POST"
        for reply in (wrong_method, no_key, bad_key, large, bad):
            value = reply.json()
            assert set(value) == ({"type", "error", "request_id"} if protocol == "messages" else {"error"})
            assert ("request-id" in reply.headers) is (protocol == "messages")
        await one.rows(5)
    assert [row.outcome for row in scene.rows] == ["rejected"] * 5
    assert {row.protocol for row in scene.rows} == {protocol}
    assert [row.key for row in scene.rows] == [None, None, None, "laptop", "laptop"]


async def test_checks_come_in_their_order() -> None:
    async with served(Scene()) as one:
        large = b"x" * 10_001
        assert (await one.call(f"PUT {CHAT}", body=large)).status == 405
        assert (await one.call(f"POST {CHAT}", body=large)).status == 401
        assert (await one.call(f"POST {CHAT}", AUTH, body=large)).status == 413
        assert (await one.call(f"POST {CHAT}/", AUTH, body=large)).status == 404


async def test_head_on_a_data_route_has_no_body_and_the_connection_lives_on() -> None:
    scene = Scene()
    async with served(scene) as one:
        client = await one.connect()
        client.ask(f"HEAD {CHAT}", AUTH)
        assert (await client.reply(head=True)).status == 405
        scene.upstream.plays.append(answers(WHOLE))
        client.ask(f"POST {CHAT}", AUTH, body=BODY)
        assert (await client.reply()).status == 200


async def test_a_refused_body_that_was_not_read_closes_the_connection() -> None:
    async with served(Scene()) as one:
        client = await one.connect()
        client.send(f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: 9000\r\n\r\n{{".encode())
        reply = await client.reply()
        assert (reply.status, reply.headers["connection"]) == (401, "close")
        assert await client.is_closed()
        whole = await one.connect()
        whole.ask(f"POST {CHAT}", body=BODY)
        assert "connection" not in (await whole.reply()).headers


async def test_a_body_in_chunks_is_bounded_and_one_that_is_malformed_refused() -> None:
    head = f"POST {CHAT} HTTP/1.1\r\nhost: x\r\n{AUTH}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
    scene = Scene()
    async with served(scene) as one:
        scene.upstream.plays.append(answers(WHOLE))
        good = await one.connect()
        good.send(head, chunked(BODY[:9]), chunked(BODY[9:]) + b"0\r\n\r\n")
        assert (await good.reply()).status == 200
        large = await one.connect()
        large.send(head, chunked(b"x" * 10_001))
        assert (await large.reply()).status == 413
        bad = await one.connect()
        bad.send(head, b"zz\r\n")
        reply = await bad.reply()
        assert (reply.status, set(reply.json())) == (400, {"error"})


async def test_a_client_that_waits_for_permission_gets_it() -> None:
    scene = Scene()
    async with served(scene) as one:
        scene.upstream.plays.append(answers(WHOLE))
        client = await one.connect()
        client.begin(f"POST {CHAT}", AUTH, "expect: 100-continue", f"content-length: {len(BODY)}")
        assert (await client.head()).status == 100
        client.send(BODY)
        assert (await client.reply()).status == 200
        refused = await one.connect()
        refused.begin(f"POST {CHAT}", "expect: 100-continue", "content-length: 9")
        assert (await refused.head()).status == 401


async def test_a_body_that_does_not_come_in_time() -> None:
    scene = Scene()
    async with served(scene, Rules(max_body_bytes=100, body_timeout=0.02)) as one:
        client = await one.connect()
        client.begin(f"POST {CHAT}", AUTH, "content-length: 9")
        reply = await client.reply()
        assert (reply.status, reply.json()["error"]["code"]) == (408, "request_timeout")
        assert await client.is_closed()
    assert scene.rows[0].status == 408


async def test_a_compressed_body() -> None:
    scene = Scene()
    async with served(scene) as one:
        scene.upstream.plays.append(answers(WHOLE))
        reply = await one.call(f"POST {CHAT}", AUTH, "content-encoding: gzip", body=gzip.compress(BODY))
        assert reply.status == 200
    sent = scene.call.request
    assert json.loads(sent.body)["messages"] == ASK["messages"]
    assert "content-encoding" not in dict(sent.headers)


async def test_header_lines_of_one_name_are_one_value() -> None:
    scene = Scene(channel(protocol=Protocol.MESSAGES))
    async with served(scene) as one:
        body = json.dumps({**ASK, "max_tokens": 1}).encode()
        client = await one.connect()
        client.ask(f"POST {MESSAGES}", AUTH, "Anthropic-Beta: a", "anthropic-beta: b, c", body=body)
        await one.until(1)
        assert dict(scene.call.request.headers)["anthropic-beta"] == "a, b, c"
        await client.leave()


@pytest.mark.parametrize("sent", [0, 5])
async def test_a_client_that_leaves_before_its_body_is_whole_is_noted(sent: int) -> None:
    scene = Scene()
    async with served(scene) as one:
        client = await one.connect()
        client.begin(f"POST {CHAT}", AUTH, "content-length: 9")
        client.send(b"x" * sent)
        await turns(50)
        await client.leave()
        await one.rows(1)
    assert (scene.rows[0].status, scene.rows[0].outcome) == (499, "client_closed")


@pytest.mark.parametrize("body", [ASK, STREAM])
@pytest.mark.parametrize("said", [[], [HELLO]])
async def test_a_client_that_leaves_stops_the_upstream(body: Any, said: list[bytes]) -> None:
    scene = Scene()
    async with served(scene) as one:
        client = await one.connect()
        client.ask(f"POST {CHAT}", AUTH, body=json.dumps(body).encode())
        await one.until(1)
        if said:
            scene.call.head()
            scene.call.body(*said)
            await turns()
        await client.leave()
        await one.rows(1)
        assert scene.call.done == ["cancel"]
    assert scene.rows[0].outcome == "client_closed"


async def test_a_slow_client_holds_the_upstream_and_lets_it_go_on() -> None:
    scene = Scene()
    async with served(scene) as one:
        client = await one.connect()
        client.ask(f"POST {CHAT}", AUTH, body=json.dumps(STREAM).encode())
        await one.until(1)
        scene.call.head()
        big = b"data: " + json.dumps({"choices": [{"delta": {"content": "x" * 100_000}}]}).encode() + b"\n\n"
        written = 0
        while "pause" not in scene.call.done:
            scene.call.body(big)
            written += 1
            assert written < 1000
            await asyncio.sleep(0)
        assert scene.call.done == ["pause"]
        await client.head()
        async with asyncio.timeout(60):
            while "resume" not in scene.call.done:
                await client.reader.read(1 << 20)
        scene.call.body(STOP, DONE)
        client.writer.close()
        await one.rows(1)


async def test_a_fault_of_the_gateway_before_anything_was_sent_is_a_plain_error() -> None:
    scene = Scene()
    scene.upstream.fault = RuntimeError("a secret fault")
    async with served(scene) as one:
        client = await one.connect()
        client.ask(f"POST {CHAT}", AUTH, body=BODY)
        reply = await client.reply()
        assert (reply.status, reply.json()["error"]["code"]) == (500, "internal_error")
        assert reply.headers["x-request-id"] == scene.rows[0].id
        assert b"secret" not in reply.body
        assert await client.is_closed()


async def test_a_fault_of_the_gateway_in_a_stream_is_no_second_answer() -> None:
    scene = Scene()
    scene.tokenizer.fault = RuntimeError("a fault")
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    async with served(scene) as one:
        scene.upstream.plays.append(says(HELLO, STOP, DONE))
        client = await one.connect()
        client.ask(f"POST {CHAT}", AUTH, body=json.dumps(WITH_USAGE).encode())
        text = await client.rest()
    assert text.count(b"HTTP/1.1") == 1
    assert b"internal_error" in text


async def test_a_fault_that_nobody_caught_is_no_second_answer_either(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene()

    async def breaks(incoming: object, key: object, body: object, pipe: Any) -> None:
        pipe.write(HELLO)
        raise RuntimeError("a fault")

    monkeypatch.setattr(scene.exchange, "serve", breaks)
    async with served(scene) as one:
        client = await one.connect()
        client.ask(f"POST {CHAT}", AUTH, body=BODY)
        text = await client.rest()
    assert text.count(b"HTTP/1.1") == 1
    assert text.endswith(chunked(HELLO)), "without a last chunk a client knows that something broke"


async def test_pages_of_an_allowed_origin_may_call() -> None:
    scene = Scene()
    async with served(scene) as one:
        asks = "access-control-request-headers: x-api-key"
        preflight = await one.call(f"OPTIONS {CHAT}", ORIGIN, "access-control-request-method: POST", asks)
        assert preflight.status == 204
        assert preflight.headers["access-control-allow-methods"] == "POST"
        assert preflight.headers["access-control-allow-headers"] == "x-api-key"
        assert preflight.headers["x-request-id"]
        assert preflight.headers["server"] == "tidegate"
        scene.upstream.plays.append(answers(WHOLE))
        good = await one.call(f"POST {CHAT}", AUTH, ORIGIN, body=BODY)
        bad = await one.call(f"POST {CHAT}", ORIGIN, body=BODY)
        missing = await one.call("GET /nowhere", ORIGIN)
        for reply in (good, bad, missing):
            assert reply.headers["access-control-allow-origin"] == "https://app.example.com"
        other = await one.call(f"OPTIONS {CHAT}", "origin: https://evil.example")
        assert other.status == 405
        assert "access-control-allow-origin" not in other.headers


async def test_a_drain_turns_new_requests_away_and_rules_change_at_once() -> None:
    scene = Scene()
    async with served(scene) as one:
        scene.exchange.draining = True
        reply = await one.call(f"POST {CHAT}", AUTH, body=BODY)
        assert (reply.status, reply.headers["retry-after"]) == (503, "2")
        scene.exchange.draining = False
        one.plane.rules = Rules(max_body_bytes=5, body_timeout=5)
        assert (await one.call(f"POST {CHAT}", AUTH, body=BODY)).status == 413


async def test_what_belongs_to_others_is_left_to_them() -> None:
    from aiohttp import web

    async with served(Scene()) as one:
        assert (await one.call("GET /admin/v1/requests")).status == 404
        one.other = web.json_response({"others": True})
        assert (await one.call("GET /admin/v1/requests")).json() == {"others": True}


async def test_no_secret_of_a_caller_goes_up() -> None:
    scene = Scene()
    async with served(scene, RULES) as one:
        client = await one.connect()
        client.ask(f"POST {CHAT}", AUTH, f"x-api-key: {SECRET}", "cookie: c=1", body=BODY)
        await one.until(1)
        assert SECRET not in repr(scene.call.request)
        await client.leave()


async def test_bad_http_for_operators_is_a_problem() -> None:
    async with served(Scene()) as one:
        reply = await one.call("GET /admin/v1/keys", "x: " + "y" * 5000)
        assert (reply.status, reply.headers["content-type"]) == (431, "application/problem+json")


async def test_an_operator_asks_as_a_key_and_its_own_credentials_go_nowhere() -> None:
    scene = Scene()
    async with served(scene, RULES) as one:
        assert one.plane.key_named("nobody") is None
        assert one.plane.key_named(None) == CONSOLE_KEY
        assert one.plane.key_named("console") is None
        one.asks_as = CONSOLE_KEY
        client = await one.connect()
        hidden = ("authorization: Bearer the-admin", "cookie: c=1", "x-csrf-token: t", "origin: http://x")
        client.ask("POST /admin/ask", *hidden, "user-agent: console", body=BODY)
        await one.until(1)
        assert "the-admin" not in repr(scene.call.request)
        assert "x-csrf-token" not in repr(scene.call.request)
        assert ("user-agent", "console") in scene.call.request.headers
        await client.leave()
        await one.rows(1)
        assert (scene.rows[0].key, scene.rows[0].account) == ("console", "default")
