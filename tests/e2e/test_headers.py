"""What passes between caller and upstream besides the bodies: headers, credentials, encodings, identities."""

import gzip
import json
import re
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from tests.harness import settings
from tests.harness.client import Connection, Ended, fetch, request_bytes
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, SIDES, Side
from tests.harness.script import EVENT_STREAM, JSON, Answer, Framing, Gate, body, stream
from tests.harness.stage import Stage
from tests.harness.together import together

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)


@every_side
async def test_b180_the_upstream_sees_only_the_channels_own_credential(stage: Stage, side: Side) -> None:
    extra = [
        ("cookie", "session=caller-secret"),
        ("x-goog-api-key", "caller-secret"),
        ("proxy-authorization", "Basic caller-secret"),
        ("x-forwarded-for", "203.0.113.9"),
        ("x-real-ip", "203.0.113.9"),
        ("x-stainless-lang", "python"),
        ("x-team", "caller-secret"),
        ("referer", "https://caller.example"),
        ("user-agent", "caller/1.0"),
        ("connection", "keep-alive, x-hop"),
        ("x-hop", "caller-secret"),
    ]
    other = ("x-api-key", "x-wrong") if side is not MESSAGES else ("authorization", "Basic caller-secret")
    played = await stage.play(side, stream(side.script().all), extra=[*extra, other])
    seen = played.at_a[0]
    names = {name.lower() for name, _ in seen.headers}
    allowed = {
        "host",
        "content-type",
        "content-length",
        "accept",
        "accept-encoding",
        "connection",
        "user-agent",
    }
    credential = settings.CREDENTIALS[side.tag]
    if side is MESSAGES:
        assert seen.header("x-api-key") == credential
        allowed |= {"x-api-key", "anthropic-version"}
    else:
        assert seen.header("authorization") == f"Bearer {credential}"
        allowed |= {"authorization"}
    assert names <= allowed, names - allowed
    assert seen.header("user-agent") == "caller/1.0"
    assert "caller-secret" not in str(seen.headers)
    assert settings.KEY not in str(seen.headers)
    assert seen.method == "POST"
    assert seen.target == f"/{side.tag}-A{side.upstream_path}"
    assert (seen.header("content-type") or "").startswith("application/json")


@every_side
@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "x-api-key"])
async def test_a_key_is_taken_from_either_header_on_any_route(stage: Stage, side: Side, scheme: str) -> None:
    header = (
        ("X-Api-Key", settings.KEY)
        if scheme == "x-api-key"
        else ("Authorization", f"{scheme} {settings.KEY}")
    )
    model = stage.model(side)
    stage.script(side, model, [stream(side.script().all)])
    reply = await stage.gateway.call(side, side.request(model), key=None, extra=[header])
    assert reply.status == 200


@every_side
async def test_b181_nothing_of_the_upstreams_headers_reaches_the_caller(stage: Stage, side: Side) -> None:
    vendor = [
        ("set-cookie", "vendor=1"),
        ("server", "vendor-edge"),
        ("openai-organization", "org-vendor"),
        ("x-request-id", "req_vendor"),
        ("request-id", "req_vendor"),
        ("cf-ray", "vendor"),
        ("x-foo", "vendor"),
        ("x-ratelimit-remaining-requests", "98765432123"),
        ("anthropic-ratelimit-requests-remaining", "98765432123"),
        ("openai-processing-ms", "12"),
        ("retry-after", "7"),
        ("via", "vendor"),
        ("alt-svc", "vendor"),
    ]

    async def clean(answer: Answer, *, streamed: bool) -> None:
        played = await stage.play(side, answer, stream=streamed)
        text = str(played.reply.headers)
        assert "vendor" not in text
        assert "98765432123" not in text
        for name in ("set-cookie", "cf-ray", "openai-processing-ms", "via", "alt-svc", "x-foo"):
            assert played.reply.header(name) is None
        identity = played.reply.header("x-request-id") or ""
        assert re.fullmatch(r"[A-Za-z0-9_.-]{8,}", identity)
        if side is MESSAGES:
            assert played.reply.header("request-id") == identity
        assert (await played.row())["id"] == identity

    whole = json.dumps(side.whole()).encode()
    refusal = json.dumps(side.error_body("no", "invalid_request_error")).encode()
    await together(
        {
            "stream": clean(stream(side.script().all, headers=[*EVENT_STREAM, *vendor]), streamed=True),
            "whole": clean(body(whole, headers=[*JSON, *vendor]), streamed=False),
            "refusal": clean(body(refusal, 400, [*JSON, *vendor]), streamed=True),
        }
    )


async def test_b146_headers_that_select_behaviour(stage: Stage) -> None:
    extra = [("anthropic-beta", "a,b"), ("anthropic-beta", "c"), ("openai-beta", "x")]

    async def up(side: Side) -> None:
        played = await stage.play(side, stream(side.script().all), extra=extra)
        seen = played.at_a[0]
        betas = ",".join(seen.values("anthropic-beta")).replace(" ", "")
        if side is MESSAGES:
            assert betas == "a,b,c"
            assert seen.header("anthropic-version") == "2023-06-01"
        else:
            assert betas == ""
            assert seen.header("anthropic-version") is None
            assert seen.header("openai-beta") == "x"

    await together({side.name: up(side) for side in SIDES})


async def test_anthropic_version_has_a_default(stage: Stage) -> None:
    model = stage.model(MESSAGES)
    stage.script(MESSAGES, model, [stream(MESSAGES.script().all)])
    connection_headers = [("x-api-key", settings.KEY), ("content-type", "application/json")]
    content = json.dumps(MESSAGES.request(model)).encode()
    reply = await fetch(stage.gateway.port, "POST", "/v1/messages", connection_headers, content)
    assert reply.status == 200
    assert stage.upstream.only("msgs-A", model).header("anthropic-version") == "2023-06-01"


async def test_the_codex_header_goes_up_on_responses_by_default(stage: Stage) -> None:
    extra = [("x-openai-internal-codex-responses-lite", "true"), ("x-codex-other", "1")]

    async def up(side: Side, wanted: str | None) -> None:
        played = await stage.play(side, stream(side.script().all), extra=extra)
        assert played.at_a[0].header("x-openai-internal-codex-responses-lite") == wanted
        assert played.at_a[0].header("x-codex-other") is None

    await together(
        {"responses": up(RESPONSES, "true"), "chat": up(CHAT, None), "messages": up(MESSAGES, None)}
    )


@every_side
async def test_an_idempotency_key_goes_up_as_a_hash_bound_to_the_account(stage: Stage, side: Side) -> None:
    async def up(key: str, value: str | None) -> str | None:
        extra = [("idempotency-key", value)] if value else []
        played = await stage.play(side, stream(side.script().all), key=key, extra=extra)
        return played.at_a[0].header("idempotency-key")

    first, again = await up(settings.KEY, "order-1"), await up(settings.KEY, "order-1")
    assert first
    assert "order-1" not in first
    assert first == again
    assert await up(settings.OTHER_KEY, "order-1") not in (None, first)
    assert await up(settings.KEY, "order-2") not in (None, first)
    assert await up(settings.KEY, None) is None


def _flushing(encoding: str) -> Callable[[bytes], bytes]:
    """A compressor whose every output can be read at once."""
    match encoding:
        case "gzip":
            stream_ = zlib.compressobj(wbits=31)
            return lambda part: stream_.compress(part) + stream_.flush(zlib.Z_SYNC_FLUSH)
        case "deflate":
            stream_ = zlib.compressobj()
            return lambda part: stream_.compress(part) + stream_.flush(zlib.Z_SYNC_FLUSH)
        case "br":
            brotli_ = brotli.Compressor()
            return lambda part: bytes(brotli_.process(part) + brotli_.flush())
        case _:
            zstd = zstandard.ZstdCompressor().compressobj()
            return lambda part: zstd.compress(part) + zstd.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)


@every_side
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
async def test_b016_a_compressed_answer_is_decoded_as_it_comes(
    stage: Stage, side: Side, encoding: str
) -> None:
    accepts = [("accept-encoding", "gzip, br, zstd")]

    async def streamed() -> None:
        model = stage.model(side)
        script = side.script(model)
        compress = _flushing(encoding)
        gate = Gate()
        early = compress(b"".join([*script.opening, script.deltas[0]]))
        late = compress(b"".join([script.deltas[1], *script.closing]))
        headers = [*EVENT_STREAM, ("content-encoding", encoding)]
        stage.script(side, model, [stream(early, gate, late, headers=headers)])
        async with stage.gateway.open(side, side.request(model), extra=accepts) as reply:
            await reply.until(script.deltas[0])
            gate.open()
            await reply.finish()
        assert reply.header("content-encoding") is None
        assert reply.body == script.bytes()
        assert stage.upstream.only(f"{side.tag}-A", model).header("accept-encoding") == "identity"

    async def whole() -> None:
        content = json.dumps(side.whole()).encode()
        packed = _whole(encoding, content)
        answer = body(packed, headers=[*JSON, ("content-encoding", encoding)])
        played = await stage.play(side, answer, stream=False, extra=accepts)
        assert played.reply.header("content-encoding") is None
        assert side.whole_text(played.reply.json()) == "Hello"

    async def refusal() -> None:
        content = json.dumps(side.error_body("the very message", "invalid_request_error")).encode()
        packed = _whole(encoding, content)
        answer = body(packed, 400, headers=[*JSON, ("content-encoding", encoding)])
        played = await stage.play(side, answer, extra=accepts)
        assert played.reply.json()["error"]["message"] == "the very message"

    async def broken() -> None:
        answer = Answer((b"not compressed at all",), 200, [*EVENT_STREAM, ("content-encoding", encoding)])
        played = await stage.play(side, answer, b=[stream(side.script().all)])
        assert played.text == "Hello"

    await together({"stream": streamed(), "whole": whole(), "refusal": refusal(), "broken": broken()})


def _whole(encoding: str, content: bytes) -> bytes:
    match encoding:
        case "gzip":
            return gzip.compress(content)
        case "deflate":
            return zlib.compress(content)
        case "br":
            return bytes(brotli.compress(content))
        case _:
            return zstandard.ZstdCompressor().compress(content)


@every_side
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
async def test_a_compressed_request_is_decoded(stage: Stage, side: Side, encoding: str) -> None:
    model = stage.model(side)
    stage.script(side, model, [stream(side.script().all)])
    content = _whole(encoding, json.dumps(side.request(model, user="ü")).encode())
    extra = [("content-encoding", encoding)]
    reply = await stage.gateway.call(side, content, extra=extra)
    assert reply.status == 200, reply.body
    seen = stage.upstream.only(f"{side.tag}-A", model)
    assert seen.header("content-encoding") is None
    assert seen.json()["user"] == "ü"


@every_side
async def test_http_1_0_and_reuse_and_pipelining(stage: Stage, side: Side) -> None:
    def ask(model: str, version: str, *headers: tuple[str, str]) -> bytes:
        content = json.dumps(side.request(model)).encode()
        sent = [*stage.gateway.headers(side), *headers]
        return request_bytes("POST", side.path, sent, content, version)

    async def old_client() -> None:
        model = stage.model(side)
        script = side.script(model)
        stage.script(side, model, [stream(script.all)])
        connection = await Connection.open(stage.gateway.port)
        await connection.send(ask(model, "HTTP/1.0"))
        reply = await (await connection.reply()).finish()
        assert reply.header("transfer-encoding") is None
        assert (reply.body, reply.ended) == (script.bytes(), Ended.WHOLE)
        connection.close()

    async def on_one_connection(*, pipelined: bool) -> None:
        models = [stage.model(side) for _ in range(3)]
        scripts = [side.script(model, (model,)) for model in models]
        for model, script in zip(models, scripts, strict=True):
            stage.script(side, model, [stream(script.all)])
        connection = await Connection.open(stage.gateway.port)
        requests = [ask(model, "HTTP/1.1") for model in models]
        if pipelined:
            await connection.send(b"".join(requests))
        for request, script in zip(requests, scripts, strict=True):
            if not pipelined:
                await connection.send(request)
            reply = await (await connection.reply()).finish()
            assert reply.body == script.bytes()
        connection.close()

    await together(
        {
            "HTTP/1.0": old_client(),
            "reuse": on_one_connection(pipelined=False),
            "pipelined": on_one_connection(pipelined=True),
        }
    )


@every_side
async def test_upstream_connections_are_reused(stage: Stage, side: Side) -> None:
    async def one() -> int:
        played = await stage.play(side, stream(side.script().all))
        return played.at_a[0].connection.number

    numbers = [await one() for _ in range(5)]
    assert len(set(numbers)) < 5


async def test_answers_without_a_length_use_close_framing(stage: Stage) -> None:
    script = CHAT.script()
    played = await stage.play(CHAT, Answer(script.all, framing=Framing.UNTIL_CLOSE))
    assert played.text == "Hello"
