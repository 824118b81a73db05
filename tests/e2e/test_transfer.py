"""How requests arrive and names travel: chunked bodies, 100-continue, large bodies, awkward model names."""

import json

import pytest
from tests.harness import notation as n
from tests.harness.client import Connection, request_bytes
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, SIDES, Side
from tests.harness.script import body, pieces, stream
from tests.harness.stage import Stage

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)


@every_side
async def test_a_chunked_request_body(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    stage.script(side, model, [stream(side.script().all)])
    content = json.dumps(side.request(model)).encode()
    headers = [*stage.gateway.headers(side), ("transfer-encoding", "chunked")]
    chunks = b"".join(b"%x;x=y\r\n%b\r\n" % (len(part), part) for part in pieces(content, 10))
    connection = await Connection.open(stage.gateway.port)
    await connection.send(request_bytes("POST", side.path, headers) + chunks + b"0\r\nx-trailer: 1\r\n\r\n")
    reply = await (await connection.reply()).finish()
    connection.close()
    assert reply.status == 200
    assert stage.upstream.only(f"{side.tag}-A", model).json()["model"] == model


@every_side
async def test_a_client_that_waits_for_100_continue(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    stage.script(side, model, [stream(side.script().all)])
    request = stage.gateway.request(side, side.request(model), extra=[("expect", "100-continue")])
    split = request.index(b"\r\n\r\n") + 4
    connection = await Connection.open(stage.gateway.port)
    await connection.send(request[:split])
    assert b" 100 " in await connection.reader.readuntil(b"\r\n\r\n")
    await connection.send(request[split:])
    assert (await (await connection.reply()).finish()).status == 200
    connection.close()


@every_side
async def test_a_request_of_10_mb_goes_up_whole(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    stage.script(side, model, [stream(side.script().all)])
    blob = "QUJD" * 2_500_000
    reply = await stage.gateway.call(side, side.request(model, vendor_blob=blob))
    assert reply.status == 200, reply.body[:500]
    assert stage.upstream.only(f"{side.tag}-A", model).json()["vendor_blob"] == blob


AWKWARD = ['"quoted"', "back\\slash", "ünïcödé 北京", "a/b:c@d", "new\nline", "\u2028", "x" * 200]


@every_side
@pytest.mark.parametrize("tail", AWKWARD, ids=range(len(AWKWARD)))
async def test_awkward_model_names_stay_json(stage: Stage, side: Side, tail: str) -> None:
    model = stage.model(side) + tail
    script = side.script("up")
    stage.script(side, model, [stream(script.all), body(json.dumps(side.whole("up")).encode())])
    reply = await stage.gateway.call(side, side.request(model))
    assert reply.status == 200, reply.body
    text = reply.body.decode()
    assert json.dumps(model, ensure_ascii=False)[1:-1] in text or json.dumps(model)[1:-1] in text
    assert '"model":"up"' not in text
    whole = await stage.gateway.call(side, side.request(model, stream=False))
    assert whole.json()["model"] == model
    assert {seen.json()["model"] for seen in stage.upstream.requests(f"{side.tag}-A", model)} == {model}


async def test_only_the_models_own_member_is_set(stage: Stage) -> None:
    """Members of the same name elsewhere, before or after, belong to somebody else."""
    model = stage.model(CHAT)
    inner = {"model": "up", "x": {"model": "up"}}
    choice = {"index": 0, "delta": {"content": "a", "extra": inner}, "finish_reason": None}
    odd = {"first": inner, "id": "c1", "object": "chat.completion.chunk", "choices": [choice], "model": "up"}
    script = CHAT.script(model)
    events = [*script.opening, n.data({**odd, "last": inner}), *script.closing]
    played = await stage.play(CHAT, stream(events), model=model)
    wanted = n.data({**odd, "last": inner, "model": model})
    assert played.stream.events[1].raw == wanted


async def test_the_model_is_set_inside_message_and_response_only(stage: Stage) -> None:
    model = stage.model(MESSAGES)
    tool = {"type": "tool_use", "id": "t", "name": "f", "input": {"model": "up", "message": {"model": "up"}}}
    script = MESSAGES.script(model)
    block = n.bs(1, tool)
    events = [*script.opening, *script.deltas, script.closing[0], block, n.be(1), *script.closing[1:]]
    played = await stage.play(MESSAGES, stream(events), model=model)
    assert played.reply.body == b"".join(events)

    model = stage.model(RESPONSES)
    script = RESPONSES.script(model)
    call = {"id": "fc", "type": "function_call", "call_id": "c", "name": "f", "arguments": "", "model": "up"}
    number = len(script.opening) + len(script.deltas)
    extra = n.r(n.added(call, 1), start=number)
    played = await stage.play(RESPONSES, stream(script.opening, script.deltas, extra), model=model)
    assert extra[0] in played.reply.body


@every_side
async def test_no_warnings_where_nothing_was_converted(stage: Stage, side: Side) -> None:
    played = await stage.play(side, stream(side.script().all), members={"vendor_x": 1})
    assert played.reply.header("x-tidegate-warnings") is None
    assert (await played.row())["warnings"] == []


@every_side
async def test_a_client_that_asks_for_a_close_gets_one(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    script = side.script(model)
    stage.script(side, model, [stream(script.all)])
    connection = await Connection.open(stage.gateway.port)
    request = stage.gateway.request(side, side.request(model), extra=[("connection", "close")])
    await connection.send(request)
    reply = await (await connection.reply()).finish()
    assert reply.body == script.bytes()
    assert await connection.reader.read(10) == b""
    connection.close()
