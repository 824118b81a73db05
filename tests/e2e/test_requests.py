"""The request on a same-protocol pair: a few members change, everything else keeps its bytes."""

import json

import pytest
from tests.harness import notation as n
from tests.harness.client import fetch
from tests.harness.dialects import (
    BAD_REQUEST,
    CHAT,
    MESSAGES,
    RESPONSES,
    SIDES,
    Side,
    check_error_form,
    check_refusal,
)
from tests.harness.notation import Json
from tests.harness.script import body, stream
from tests.harness.stage import Stage
from tests.harness.together import together

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)


async def _sent(stage: Stage, side: Side, model: str, content: str) -> bytes:
    """Send this body as it is; what the upstream got."""
    stage.script(side, model, [stream(side.script().all)])
    reply = await stage.gateway.call(side, content.encode("utf-8", "surrogatepass"))
    assert reply.status == 200, reply.body
    return stage.upstream.only(f"{side.tag}-A", model).body


def _prompt(side: Side, text: str) -> str:
    """The members that make a minimal request, with `text` as the JSON text of the prompt."""
    if side is RESPONSES:
        return f'"input" : {text}'
    limit = '"max_tokens" :  100, ' if side is MESSAGES else ""
    return f'{limit}"messages" : [ {{"role":"user", "content":{text}}} ]'


@every_side
async def test_b147_unknown_members_and_odd_json_keep_their_bytes(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    options = '"stream_options":{"include_usage":true},' if side is CHAT else ""
    content = (
        f'{{ "stream":true , {options} "vendor_x" : [1.50, 1E+2, -0, "\\u00e9\\/", "é", {{"a":1,"a":2}}],\n'
        f'"model":"{model}", "service_tier":"auto","metadata":{{"user_id":"u"}}, '
        f'"context_management":{{"edits":[ ]}}, {_prompt(side, json.dumps("hi"))} }}'
    )
    got = await _sent(stage, side, model, content)
    assert got == content.encode()


@every_side
@pytest.mark.parametrize("text", ['"\\ud83d"', '"\\udc00 alone"', '"\\u2028\\u0000"', '"\\ud83d\\ude00"'])
async def test_lone_surrogates_and_odd_characters_pass(stage: Stage, side: Side, text: str) -> None:
    model = stage.model(side)
    content = f'{{"model":"{model}","stream":true,{_prompt(side, text)}}}'
    got = await _sent(stage, side, model, content)
    assert text.encode() in got


@every_side
async def test_deep_but_sane_nesting_passes(stage: Stage, side: Side) -> None:
    model = stage.model(side)
    deep = "[" * 60 + "]" * 60
    content = f'{{"model":"{model}","stream":true,"x":{deep},{_prompt(side, json.dumps("hi"))}}}'
    assert deep.encode() in await _sent(stage, side, model, content)


@every_side
async def test_any_content_type_will_do_and_query_strings_too(stage: Stage, side: Side) -> None:
    async def accepted(label: str, target: str) -> None:
        model = stage.model(side)
        stage.script(side, model, [stream(side.script().all)])
        content = json.dumps(side.request(model)).encode()
        headers = [h for h in stage.gateway.headers(side) if h[0] != "content-type"]
        headers += [("content-type", label)] if label else []
        reply = await fetch(stage.gateway.port, "POST", target, headers, content)
        assert reply.status == 200, reply.body

    labels = ("text/plain", "", "application/x-www-form-urlencoded", "multipart/form-data", "x")
    scenarios = {f"type {label!r}": accepted(label, side.path) for label in labels}
    scenarios["query"] = accepted("application/json", f"{side.path}?beta=true")
    await together(scenarios)


@every_side
async def test_c023_a_member_that_occurs_twice_is_named(stage: Stage, side: Side) -> None:
    async def refused(member: str, first: str, second: str) -> None:
        model = stage.model(side)
        start = f'{{"model":"{model}",' if member != "model" else "{"
        content = f'{start}"{member}":{first},{_prompt(side, json.dumps("hi"))},"{member}":{second}}}'
        error = check_refusal(side, await stage.gateway.call(side, content.encode()), BAD_REQUEST)
        assert member in error["message"]
        assert stage.upstream.requests(f"{side.tag}-A", model) == []

    await together(
        {
            "temperature": refused("temperature", "0.1", "0.9"),
            "the same value": refused("temperature", "1", "1"),
            "escaped": refused("top_p", "1", "0"),
            "model": refused("model", '"a"', '"b"'),
            "stream": refused("stream", "true", "false"),
        }
    )


async def test_c023_an_escaped_name_is_the_same_name(stage: Stage) -> None:
    content = '{"model":"chat-a-x","temperature":1,"temper\\u0061ture":2,"messages":[]}'
    error = check_refusal(CHAT, await stage.gateway.call(CHAT, content.encode()), BAD_REQUEST)
    assert "temperature" in error["message"]


@every_side
@pytest.mark.parametrize(
    "stream_", ['"stream":null,', '"stream":false,', ""], ids=["null", "false", "absent"]
)
async def test_without_stream_true_the_answer_is_whole(stage: Stage, side: Side, stream_: str) -> None:
    model = stage.model(side)
    stage.script(side, model, [body(json.dumps(side.whole()).encode())])
    content = f'{{"model":"{model}",{stream_}{_prompt(side, json.dumps("hi"))}}}'
    reply = await stage.gateway.call(side, content.encode())
    assert side.whole_text(reply.json()) == "Hello"


NOT_JSON = {
    "nothing": b"",
    "spaces": b"   ",
    "text": b"hello",
    "cut": b'{"model":"m","stream":tr',
    "trailing": b'{"model":"m"} x',
    "two values": b'{"model":"m"}{"model":"m"}',
    "list": b"[]",
    "string": b'"m"',
    "null": b"null",
    "NaN": b'{"model":"chat-a-x","temperature":NaN,"messages":[]}',
    "Infinity": b'{"model":"chat-a-x","temperature":-Infinity,"messages":[]}',
    "single quotes": b"{'model':'m'}",
    "comment": b'{"model":"m" /* x */}',
    "bad escape": b'{"model":"\\x"}',
    "control character": b'{"model":"a\nb"}',
    "leading zero": b'{"model":"m","n":01}',
    "bytes that are no UTF-8": b'{"model":"m\xff"}',
    "UTF-16": '{"model":"m"}'.encode("utf-16"),
    "too deep": b'{"model":"m","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "too deep, unclosed": b'{"a":' * 100_000,
}


@every_side
async def test_what_is_no_json_object_is_told_so(stage: Stage, side: Side) -> None:
    async def refused(content: bytes) -> None:
        check_refusal(side, await stage.gateway.call(side, content), BAD_REQUEST)

    await together({what: refused(content) for what, content in NOT_JSON.items()})


@every_side
async def test_a_byte_order_mark_gets_a_clear_answer(stage: Stage, side: Side) -> None:
    """Either it is taken as what it is, or refused with a word about it."""
    model = stage.model(side)
    stage.script(side, model, [stream(side.script().all)])
    reply = await stage.gateway.call(side, b"\xef\xbb\xbf" + json.dumps(side.request(model)).encode())
    if reply.status != 200:
        error = check_refusal(side, reply, BAD_REQUEST)
        assert "BOM" in error["message"] or "byte order mark" in error["message"].lower()


def _wrong_types(side: Side, model: str) -> dict[str, tuple[Json, str]]:
    good = side.request(model)
    prompt = "input" if side is RESPONSES else "messages"
    cases: dict[str, tuple[Json, str]] = {
        "no model": ({key: value for key, value in good.items() if key != "model"}, "model"),
        "model null": ({**good, "model": None}, "model"),
        "model empty": ({**good, "model": ""}, "model"),
        "model a number": ({**good, "model": 7}, "model"),
        "stream a string": ({**good, "stream": "yes"}, "stream"),
        "stream a number": ({**good, "stream": 1}, "stream"),
    }
    if side is not RESPONSES:
        cases["no prompt"] = ({key: value for key, value in good.items() if key != prompt}, prompt)
        cases["prompt a string"] = ({**good, prompt: "hi"}, prompt)
    else:
        cases["prompt a number"] = ({**good, prompt: 7}, prompt)
    if side is CHAT:
        cases["options a list"] = ({**good, "stream_options": []}, "stream_options")
        cases["n a string"] = ({**good, "n": "2"}, "n")
    return cases


@every_side
async def test_wrong_types_are_named(stage: Stage, side: Side) -> None:
    model = stage.model(side)

    async def refused(content: Json, member: str) -> None:
        error = check_refusal(side, await stage.gateway.call(side, content), BAD_REQUEST)
        if side is not MESSAGES:
            assert error["param"] == member
        assert member in error["message"]

    await together({what: refused(*case) for what, case in _wrong_types(side, model).items()})
    assert stage.upstream.requests(f"{side.tag}-A", model) == []


async def test_b131_b132_b140_b116_b035_messages_pass_both_ways(stage: Stage) -> None:
    cache = {"type": "ephemeral", "ttl": "1h"}
    search = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}
    history = [
        {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": cache}]},
        {
            "role": "assistant",
            "content": [
                {"type": "redacted_thinking", "data": "ENC=="},
                {"type": "thinking", "thinking": "t", "signature": "Sig+/=="},
                {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]},
    ]
    members: Json = {
        "system": [{"type": "text", "text": "S", "cache_control": cache}],
        "tools": [{"name": "f", "input_schema": {"type": "object"}, "cache_control": cache}, search],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
        "messages": history,
        "context_management": {"edits": []},
    }
    results = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    citation = {"type": "citations_delta", "citation": {"type": "web_search_result_location", "url": "u"}}
    server = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    events = [
        n.ms(),
        *(n.bs(0, "text"), n.bd(0, n.text("\n")), n.be(0)),
        *(n.bs(1, "thinking"), n.bd(1, n.think("t")), n.bd(1, n.sig("S")), n.be(1)),
        *(n.bs(2, {"type": "redacted_thinking", "data": "ENC"}), n.be(2)),
        *(n.bs(3, server), n.bd(3, n.args('{"query":"x"}')), n.be(3)),
        *(n.bs(4, results), n.be(4)),
        *(n.bs(5, "text"), n.bd(5, citation), n.bd(5, n.text("t")), n.be(5)),
        n.named("vendor_event", {"type": "vendor_event", "x": 1.50}),
        n.md("pause_turn", vendor_x=1),
        n.me,
    ]
    model = stage.model(MESSAGES)
    events[0] = n.ms(model=model)
    played = await stage.play(MESSAGES, stream(events), model=model, members=members)
    assert played.reply.body == b"".join(events)
    sent = played.at_a[0].json()
    assert {key: sent[key] for key in members} == members
    assert b'"signature": "Sig+/=="' in played.at_a[0].body


async def test_b115_reasoning_content_and_logprobs_of_chat_pass(stage: Stage) -> None:
    calls = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}]
    members: Json = {
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "a", "content": "ok"},
        ],
        "logprobs": True,
        "top_logprobs": 2,
        "top_k": 40,
    }
    model = stage.model(CHAT)
    lp = {"content": [{"token": "a", "logprob": -0.50, "bytes": [97], "top_logprobs": []}]}
    choice = {"index": 0, "delta": {"content": "a"}, "finish_reason": None, "logprobs": lp}
    events = [
        n.k({"role": "assistant", "content": ""}, model=model),
        n.k({"reasoning_content": "hm"}, model=model),
        n.data(n.chunk([choice], model, system_fingerprint="fp", obfuscation="zz")),
        n.k({}, "stop", model=model),
        n.u({"prompt_tokens": 1, "completion_tokens": 1}, model),
        n.DONE,
    ]
    played = await stage.play(CHAT, stream(events), model=model, members=members)
    assert played.reply.body == b"".join(events)
    sent = played.at_a[0].json()
    assert {key: sent[key] for key in members} == members


def _thinking_history() -> list[Json]:
    thinking = {"type": "thinking", "thinking": "t", "signature": "Foreign+/=="}
    answer = [thinking, {"type": "redacted_thinking", "data": "ENC"}, {"type": "text", "text": "a"}]
    return [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": answer},
        {"role": "user", "content": "go on"},
    ]


async def test_b112_a_foreign_signature_is_taken_out_once(stage: Stage) -> None:
    text = "messages.1.content.0: Invalid `signature` in `thinking` block"
    refusal = body(json.dumps(MESSAGES.error_body(text, "invalid_request_error")).encode(), 400)
    members: Json = {"messages": _thinking_history()}

    async def repaired() -> None:
        model = stage.model(MESSAGES, "ab")
        good = MESSAGES.script(model)
        played = await stage.play(MESSAGES, refusal, stream(good.all), b=[], model=model, members=members)
        assert played.reply.body == good.bytes()
        first, second = played.at_a
        assert b"Foreign+/==" in first.body
        assert b"Foreign" not in second.body
        assert second.json()["messages"][1] == {
            "role": "assistant",
            "content": [{"type": "text", "text": "a"}],
        }
        assert second.json()["messages"][2] == {"role": "user", "content": "go on"}
        assert played.at_b == []
        attempts = (await played.row())["attempts"]
        assert [(a["outcome"], a["status"]) for a in attempts] == [("repaired", 400), ("served", 200)]

    async def once_only() -> None:
        played = await stage.play(MESSAGES, refusal, refusal, b=[], members=members)
        assert played.reply.status == 400
        assert (len(played.at_a), len(played.at_b)) == (2, 0)

    async def nothing_to_take_out() -> None:
        played = await stage.play(MESSAGES, refusal, b=[])
        assert (played.reply.status, len(played.at_a)) == (400, 1)

    async def another_400() -> None:
        other = MESSAGES.error_body("max_tokens: too large", "invalid_request_error")
        answer = body(json.dumps(other).encode(), 400)
        played = await stage.play(MESSAGES, answer, b=[], members=members)
        assert (played.reply.status, len(played.at_a)) == (400, 1)

    await together(
        {
            "repaired": repaired(),
            "once": once_only(),
            "nothing": nothing_to_take_out(),
            "another": another_400(),
        }
    )


async def test_b119_reasoning_items_pass_and_missing_ones_are_taken_out_once(stage: Stage) -> None:
    user = {"role": "user", "content": "hi"}
    sealed = {"type": "reasoning", "encrypted_content": "ENC", "summary": []}
    bare = {"type": "reasoning", "id": "rs_x", "summary": []}

    async def passes(item: Json) -> None:
        members = {"input": [user, item], "store": False}
        played = await stage.play(RESPONSES, stream(RESPONSES.script().all), members=members)
        assert played.at_a[0].json()["input"] == [user, item]

    async def repaired(item: Json, status: int, message: str, code: str | None) -> None:
        error = RESPONSES.error_body(message, "invalid_request_error", code)
        refusal = body(json.dumps(error).encode(), status)
        members = {"input": [user, item], "store": False}
        answer = stream(RESPONSES.script().all)
        played = await stage.play(RESPONSES, refusal, answer, b=[], members=members)
        assert played.text == "Hello"
        assert [seen.json()["input"] for seen in played.at_a] == [[user, item], [user]]
        attempts = (await played.row())["attempts"]
        assert [attempt["outcome"] for attempt in attempts] == ["repaired", "served"]

    missing = "Item with id 'rs_x' not found. Items are not persisted when `store` is set to false."
    sealed_message = "The encrypted content for item rs_y could not be verified."
    await together(
        {
            "without id": passes(sealed),
            "bare": passes(bare),
            "not found": repaired(bare, 404, missing, None),
            "not found, 400": repaired(bare, 400, missing, None),
            "encrypted": repaired(sealed, 400, sealed_message, "invalid_encrypted_content"),
        }
    )


@every_side
async def test_a_refusal_of_nothing_known_is_not_repaired(stage: Stage, side: Side) -> None:
    error = side.error_body("Some other thing is wrong.", "invalid_request_error")
    played = await stage.play(side, body(json.dumps(error).encode(), 400), b=[])
    assert (played.reply.status, len(played.at_a), played.at_b) == (400, 1, [])
    check_error_form(side, played.reply)
