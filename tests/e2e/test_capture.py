"""What requests and answers say is kept where a key says so, and nowhere else."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Start
from tests.harness import settings
from tests.harness.databases import Site
from tests.harness.dialects import CHAT, MESSAGES, SIDES
from tests.harness.gateway import Gateway, free_port
from tests.harness.script import CUT, HOLD, body, stream
from tests.harness.stage import Stage
from tests.harness.together import together
from tests.harness.upstream import ScriptedUpstream

SECRET = "sk-proj-0123456789abcdefXYZ"


def watched(site: Site, folder: Path, upstream: ScriptedUpstream, **capture: object) -> settings.Config:
    config = settings.standard(free_port(), str(folder), upstream.base)
    config["database"] = {"url": site.url}
    config["keys"][0]["capture"] = 1.0
    return settings.merged(config, capture={"redact": [r"\b\d{16}\b"], **capture})


async def content(gateway: Gateway, request_id: str | None) -> Any:
    """What is kept of a request, once it is over on this side too."""
    for _ in range(100):
        reply = await gateway.admin(f"requests/{request_id}/content")
        if reply.status != 404:
            assert reply.status == 200, reply.body
            return reply.json()
        await asyncio.sleep(0.05)
    raise AssertionError(f"nothing is kept of {request_id}")


async def test_a_stream_that_broke_can_be_looked_at(
    site: Site, tmp_path: Path, upstream: ScriptedUpstream, start: Start
) -> None:
    stage = Stage(start(watched(site, tmp_path, upstream)), upstream)

    async def broken(side: Any) -> None:
        script = side.script()
        played = await stage.play(side, stream(script.opening, script.deltas, CUT), extra=[("x-app", "a")])
        kept = await content(stage.gateway, played.reply.header("x-request-id"))
        assert json.loads(kept["request"]["text"]) == side.request(played.model)
        assert kept["answer"]["text"].encode() == played.reply.body
        assert kept["answer"] == {
            "text": played.reply.body.decode(),
            "bytes": len(played.reply.body),
            "truncated": False,
        }
        row = await stage.gateway.row_of(kept["id"])
        assert (row["outcome"], row["captured"]) == ("interrupted", True)
        audit = (await stage.gateway.admin(f"audit?kind=contents&name={kept['id']}")).json()["data"]
        assert {(one["action"], one["operator"]) for one in audit} == {("read", "admin")}

    async def counted() -> None:
        model = stage.model(MESSAGES)
        stage.script(MESSAGES, model, [body(b'{"input_tokens":4711}')])
        ask = {"model": model, "messages": [{"role": "user", "content": "hi"}]}
        reply = await stage.gateway.call(MESSAGES, ask, target="/v1/messages/count_tokens")
        assert reply.json() == {"input_tokens": 4711}
        kept = await content(stage.gateway, reply.header("x-request-id"))
        assert kept["answer"]["text"].encode() == reply.body

    async def not_asked_for() -> None:
        played = await stage.play(CHAT, stream(CHAT.script().all), key=settings.OTHER_KEY)
        request_id = played.reply.header("x-request-id")
        row = await stage.gateway.row_of(request_id)
        assert row["captured"] is False
        assert (await stage.gateway.admin(f"requests/{request_id}/content")).status == 404

    async def left() -> None:
        model = stage.model(CHAT)
        stage.script(CHAT, model, [stream(CHAT.script().opening, CHAT.script().deltas, HOLD)])
        async with stage.gateway.open(CHAT, CHAT.request(model)) as reply:
            await reply.until(b"lo")
        kept = await content(stage.gateway, reply.header("x-request-id"))
        assert kept["answer"]["text"].encode().startswith(b"data: ")

    sides = {side.name: broken(side) for side in SIDES}
    await together({**sides, "count": counted(), "other": not_asked_for(), "left": left()})


async def test_what_must_not_be_kept_is_not(
    site: Site, tmp_path: Path, upstream: ScriptedUpstream, start: Start
) -> None:
    gateway = start(watched(site, tmp_path, upstream, max_bytes=300))
    stage = Stage(gateway, upstream)
    model = stage.model(CHAT)
    stage.script(CHAT, model, [body(json.dumps(CHAT.whole(text=f"your key is {SECRET}")).encode())])
    long = f"card 4111111111111111 key {SECRET} {settings.CREDENTIALS['chat']} " + "x" * 1000
    ask = {"messages": [{"role": "user", "content": long}], "model": model}
    reply = await gateway.call(CHAT, ask)
    assert SECRET.encode() in reply.body, "the client gets it all the same"
    kept = await content(gateway, reply.header("x-request-id"))
    told = json.dumps(kept)
    for secret in ("4111111111111111", SECRET, settings.CREDENTIALS["chat"], settings.KEY):
        assert secret not in told
    assert "card [redacted] key [redacted] [redacted] xxx" in kept["request"]["text"]
    assert kept["request"]["truncated"]
    assert kept["request"]["bytes"] == len(json.dumps(ask))
    assert len(kept["request"]["text"]) == 300
    assert "xxxx" not in gateway.log
    assert b"4111111111111111" not in site.stored()


async def test_it_can_be_deleted_and_a_reload_ends_it(
    tmp_path: Path, upstream: ScriptedUpstream, start: Start
) -> None:
    config = settings.standard(free_port(), str(tmp_path), upstream.base)
    gateway = start(config)
    made = await gateway.admin("keys", method="POST", body={"name": "seen", "capture": 1})
    assert made.status == 201, made.body
    assert made.json()["capture"] == 1.0
    stage = Stage(gateway, upstream)
    played = await stage.play(CHAT, stream(CHAT.script().all), key=made.json()["secret"])
    kept = await content(gateway, played.reply.header("x-request-id"))
    gone = await gateway.admin(f"requests/{kept['id']}/content", method="DELETE")
    assert gone.status == 204
    assert (await gateway.admin(f"requests/{kept['id']}/content")).status == 404
    assert (await gateway.row_of(kept["id"]))["captured"] is False
    changed = await gateway.admin("keys/seen", method="PATCH", body={"capture": 0})
    assert changed.status == 200, changed.body
    played = await stage.play(CHAT, stream(CHAT.script().all), key=made.json()["secret"])
    assert (await gateway.row_of(played.reply.header("x-request-id")))["captured"] is False


@pytest.mark.parametrize("share", ["2", -1, "half"])
async def test_a_share_that_is_none_is_refused(stage: Stage, share: object) -> None:
    reply = await stage.gateway.admin("keys", method="POST", body={"name": "odd", "capture": share})
    assert reply.status == 422
    assert reply.json()["errors"][0]["field"] == "capture"
