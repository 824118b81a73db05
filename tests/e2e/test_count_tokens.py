"""Counting tokens: the upstream's own number, else an estimate that is never zero."""

import json

from tests.harness.client import Reply
from tests.harness.dialects import AUTH, BAD_REQUEST, MESSAGES, NO_MODEL, check_refusal
from tests.harness.notation import Json
from tests.harness.script import body, stream
from tests.harness.stage import Stage
from tests.harness.together import together

PATH = "/v1/messages/count_tokens"
PROSE = "The river runs past the mill and on to the sea. " * 100
"""1100 tokens, give or take a few."""


def ask(model: str, text: str = "hello") -> Json:
    return {"model": model, "messages": [{"role": "user", "content": text}]}


async def _count(stage: Stage, content: Json | bytes, key: str | None = "") -> Reply:
    if key == "":
        return await stage.gateway.call(MESSAGES, content, target=PATH)
    return await stage.gateway.call(MESSAGES, content, target=PATH, key=key)


async def test_b184_a_messages_channel_gives_its_own_number(stage: Stage) -> None:
    model = stage.model(MESSAGES)
    stage.script(MESSAGES, model, [body(b'{"input_tokens":4711}')])
    reply = await _count(stage, ask(model))
    assert (reply.status, reply.json()) == (200, {"input_tokens": 4711})
    seen = stage.upstream.only("msgs-A", model)
    assert seen.target == "/msgs-A/v1/messages/count_tokens"
    assert seen.json() == ask(model)


async def test_b103_b184_an_upstream_that_cannot_count_gets_an_estimate(stage: Stage) -> None:
    """And its health is untouched: the next message goes there."""

    async def estimated(status: int, content: bytes) -> None:
        model = stage.model(MESSAGES, "ab")
        stage.script(MESSAGES, model, [*[body(content, status)] * 4, stream(MESSAGES.script().all)])
        for _ in range(4):
            reply = await _count(stage, ask(model, PROSE))
            assert reply.status == 200, reply.body
            assert 660 <= reply.json()["input_tokens"] <= 2310
        answer = await stage.gateway.call(MESSAGES, MESSAGES.request(model))
        assert MESSAGES.script().deltas[0] in answer.body
        assert len(stage.upstream.requests("msgs-A", model)) == 5

    error = json.dumps(MESSAGES.error_body("Not Found", "not_found_error")).encode()
    await together(
        {
            "JSON": estimated(404, error),
            "HTML": estimated(404, b"<html>"),
            "nothing": estimated(404, b""),
        }
    )


async def test_the_estimate_counts_system_and_tools(stage: Stage) -> None:
    async def number(**members: object) -> int:
        model = stage.model(MESSAGES)
        stage.script(MESSAGES, model, [body(b"", 404)])
        reply = await _count(stage, {**ask(model), **members})
        count = reply.json()["input_tokens"]
        assert isinstance(count, int)
        assert count > 0
        return count

    tool = {"name": "f", "description": PROSE, "input_schema": {"type": "object", "properties": {}}}
    plain = await number()
    assert await number(system=PROSE) > plain + 600
    assert await number(tools=[tool]) > plain + 600
    assert plain < 60


async def test_count_tokens_checks_like_the_other_routes(stage: Stage) -> None:
    model = stage.model(MESSAGES)
    check_refusal(MESSAGES, await _count(stage, ask(model), None), AUTH)
    check_refusal(MESSAGES, await _count(stage, b"nope"), BAD_REQUEST)
    check_refusal(MESSAGES, await _count(stage, ask("msgs-none")), NO_MODEL)
