"""Tools in every cross pair: declared, chosen, called, named, and given back in the caller's form."""

import hashlib
import json
from typing import Any

import pytest
from tests.harness import notation as n
from tests.harness.crossing import MODES, Crossed, cross
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, Side
from tests.harness.heard import Call
from tests.harness.notation import Json
from tests.harness.pairs import CROSS, Pair, by, finish
from tests.harness.stage import Stage
from tests.harness.together import together

every_cross_pair = pytest.mark.parametrize("pair", CROSS, ids=lambda pair: pair.name)
C_R, C_M = Pair(CHAT, RESPONSES), Pair(CHAT, MESSAGES)
R_C, R_M = Pair(RESPONSES, CHAT), Pair(RESPONSES, MESSAGES)
M_C, M_R = Pair(MESSAGES, CHAT), Pair(MESSAGES, RESPONSES)
SCHEMA: Json = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
PATCH = {"type": "grammar", "syntax": "lark", "definition": 'start: "patch"'}


def tool(side: Side, name: str = "f", **more: object) -> Json:
    """A function in the form of a protocol."""
    if side is MESSAGES:
        return {"name": name, "input_schema": SCHEMA, **more}
    function = {"name": name, "parameters": SCHEMA, **more}
    return {"type": "function", "function": function} if side is CHAT else {"type": "function", **function}


def names(side: Side, asked: Json) -> list[str]:
    """The names of the tools that an upstream got."""
    return [_name(side, declared) for declared in asked.get("tools", [])]


def _name(side: Side, declared: Json) -> str:
    name: str = declared["function"]["name"] if side is CHAT else declared["name"]
    return name


def calls(side: Side, name: str, input: str = '{"a":"b"}', id: str = "call_1") -> list[bytes]:
    """An upstream's stream with one call."""
    if side is CHAT:
        return [n.k(n.t(0, id, name, input)), n.k({}, "tool_calls"), n.DONE]
    if side is MESSAGES:
        start: Json = {"type": "tool_use", "id": id, "name": name, "input": {}}
        return [n.ms(), n.bs(0, start), n.bd(0, n.args(input)), n.be(0), n.md("tool_use"), n.me]
    item = {"type": "function_call", "id": "fc_1", "call_id": id, "name": name, "arguments": input}
    item["status"] = "completed"
    final = n.response("completed", output=[item])
    return n.r(n.created(), n.item_done(item), ("response.completed", final))


@every_cross_pair
async def test_b134_declarations(crossing: Stage, pair: Pair) -> None:
    described = tool(pair.client, description="Does f.", strict=True)
    asked = (await cross(crossing, pair, members={"tools": [described, tool(pair.client, "g")]})).asked
    wanted = tool(pair.channel, description="Does f.", strict=True)
    got = asked["tools"][0]
    assert got == wanted
    plain = asked["tools"][1]
    if pair.channel is RESPONSES:
        assert plain["strict"] is False
    assert _name(pair.channel, plain) == "g"


@pytest.mark.parametrize("pair", [M_C, M_R], ids=lambda pair: pair.name)
async def test_b134_a_schema_without_properties(crossing: Stage, pair: Pair) -> None:
    """OpenAI's servers want the member."""
    declared = {"name": "f", "input_schema": {"type": "object"}}
    asked = (await cross(crossing, pair, members={"tools": [declared]})).asked
    got = asked["tools"][0]
    parameters = got["function"]["parameters"] if pair.channel is CHAT else got["parameters"]
    assert parameters["type"] == "object"
    assert parameters.get("properties", {}) == {}


CHOICES: dict[str, dict[str, Any]] = {
    "auto": {"chat": "auto", "responses": "auto", "messages": {"type": "auto"}},
    "none": {"chat": "none", "responses": "none", "messages": {"type": "none"}},
    "any": {"chat": "required", "responses": "required", "messages": {"type": "any"}},
    "named": {
        "chat": {"type": "function", "function": {"name": "f"}},
        "responses": {"type": "function", "name": "f"},
        "messages": {"type": "tool", "name": "f"},
    },
}


@every_cross_pair
async def test_b133_tool_choice(crossing: Stage, pair: Pair) -> None:
    async def chosen(choice: str) -> None:
        told, wanted = CHOICES[choice][pair.client.name], CHOICES[choice][pair.channel.name]
        tools = [tool(pair.client), tool(pair.client, "g")]
        asked = (await cross(crossing, pair, members={"tools": tools, "tool_choice": told})).asked
        assert asked["tool_choice"] == wanted
        assert names(pair.channel, asked) == ["f", "g"]

    async def left_out() -> None:
        told = CHOICES["auto"][pair.client.name]
        asked = (await cross(crossing, pair, members={"tools": [], "tool_choice": told})).asked
        assert "tool_choice" not in asked
        assert "parallel_tool_calls" not in asked

    scenarios = {choice: chosen(choice) for choice in CHOICES}
    await together({**scenarios, "no tools": left_out()})


async def test_b133_allowed_tools(crossing: Stage) -> None:
    """Kept between the OpenAI protocols; on Messages the list of tools is cut."""
    listed = {
        "chat": {
            "type": "allowed_tools",
            "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "g"}}]},
        },
        "responses": {
            "type": "allowed_tools",
            "mode": "required",
            "tools": [{"type": "function", "name": "g"}],
        },
    }
    for pair in (C_M, R_M, C_R, R_C):
        told = listed[pair.client.name]
        tools = [tool(pair.client), tool(pair.client, "g")]
        crossed = await cross(crossing, pair, members={"tools": tools, "tool_choice": told})
        if pair.channel is MESSAGES:
            assert names(MESSAGES, crossed.asked) == ["g"]
            assert crossed.asked["tool_choice"] == {"type": "any"}
            assert any(entry.startswith("approximated:tool_choice") for entry in crossed.warnings)
        else:
            assert crossed.asked["tool_choice"] == listed[pair.channel.name]


async def test_b132_parallel_calls(crossing: Stage) -> None:
    for pair in (C_M, R_M):
        asked = (
            await cross(crossing, pair, members={"tools": [tool(pair.client)], "parallel_tool_calls": False})
        ).asked
        assert asked["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
        without = (await cross(crossing, pair, members={"parallel_tool_calls": False})).asked
        assert "tool_choice" not in without
    for pair in (M_C, M_R):
        choice = {"type": "auto", "disable_parallel_tool_use": True}
        asked = (
            await cross(crossing, pair, members={"tools": [tool(MESSAGES)], "tool_choice": choice})
        ).asked
        assert (asked["parallel_tool_calls"], asked["tool_choice"]) == (False, "auto")


LONG = [("n" * 70) + end for end in ("first", "other")]


def _alias(name: str, most: int = 64) -> str:
    return name[: most - 9] + "_" + hashlib.sha256(name.encode()).hexdigest()[:8]


@pytest.mark.parametrize("pair", [M_C, R_C], ids=lambda pair: pair.name)
async def test_b142_names_that_are_too_long(crossing: Stage, pair: Pair) -> None:
    """A short one upstream, in choice and history too; the caller's own comes back."""
    choice = (
        {"type": "tool", "name": LONG[1]}
        if pair.client is MESSAGES
        else {"type": "function", "name": LONG[1]}
    )
    members: Json = {"tools": [tool(pair.client, name) for name in LONG], "tool_choice": choice}
    members |= _history(pair.client, LONG[0])
    for mode in MODES:
        steps = calls(pair.channel, _alias(LONG[1]))
        crossed = await cross(crossing, pair, steps, mode=mode, members=members)
        assert names(CHAT, crossed.asked) == [_alias(name) for name in LONG]
        assert crossed.asked["tool_choice"]["function"]["name"] == _alias(LONG[1])
        assert crossed.asked["messages"][1]["tool_calls"][0]["function"]["name"] == _alias(LONG[0])
        assert [call.name for call in crossed.heard.calls] == [LONG[1]]


def _history(side: Side, name: str) -> Json:
    if side is MESSAGES:
        use = {"type": "tool_use", "id": "call_0", "name": name, "input": {}}
        result = {"type": "tool_result", "tool_use_id": "call_0", "content": "ok"}
        turns = [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
        return {"messages": [{"role": "user", "content": "hi"}, *turns]}
    call = {"type": "function_call", "call_id": "call_0", "name": name, "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "call_0", "output": "ok"}
    return {"input": [{"role": "user", "content": "hi"}, call, output]}


async def test_b142_names_with_other_characters(crossing: Stage) -> None:
    members = {"tools": [tool(RESPONSES, "a.b")]}
    alias = "a_b_" + hashlib.sha256(b"a.b").hexdigest()[:8]
    crossed = await cross(crossing, R_M, calls(MESSAGES, alias), members=members)
    assert names(MESSAGES, crossed.asked) == [alias]
    assert [call.name for call in crossed.heard.calls] == ["a.b"]


CUSTOM: Json = {"type": "custom", "name": "apply_patch", "description": "Patches.", "format": PATCH}
NAMESPACE: Json = {
    "type": "namespace",
    "name": "files",
    "description": "Files.",
    "tools": [tool(RESPONSES, "read"), tool(RESPONSES, "write")],
}


@pytest.mark.parametrize("pair", by(RESPONSES), ids=lambda pair: pair.name)
@pytest.mark.parametrize("mode", MODES)
async def test_b139_tools_of_a_coding_agent(crossing: Stage, pair: Pair, mode: str) -> None:
    tools = [{"type": "web_search"}, CUSTOM, NAMESPACE, tool(RESPONSES)]
    text = '*** Begin Patch\n+"é"\n*** End Patch'

    async def custom() -> None:
        steps = calls(pair.channel, "apply_patch", json.dumps({"input": text}))
        crossed = await cross(crossing, pair, steps, mode=mode, members={"tools": tools})
        got = names(pair.channel, crossed.asked)
        assert got == ["apply_patch", "files__read", "files__write", "f"]
        declared = crossed.asked["tools"][0]
        inner = declared["function"] if pair.channel is CHAT else declared
        schema = inner["parameters"] if pair.channel is CHAT else inner["input_schema"]
        assert schema["properties"].keys() == {"input"}
        assert schema["required"] == ["input"]
        assert 'start: "patch"' in inner["description"]
        assert "dropped:tools[0]" in [entry.removesuffix(".type") for entry in crossed.warnings]
        assert any(entry.startswith("approximated:tools[1]") for entry in crossed.warnings)
        assert crossed.heard.calls == [Call("call_1", "apply_patch", text, "custom")]
        if mode == "stream":
            _check_custom_events(crossed, text)

    async def spaced() -> None:
        steps = calls(pair.channel, "files__write")
        crossed = await cross(crossing, pair, steps, mode=mode, members={"tools": tools})
        assert crossed.heard.calls == [Call("call_1", "write", '{"a":"b"}', "function", "files")]

    await together({"custom": custom(), "namespace": spaced()})


def _check_custom_events(crossed: Crossed, text: str) -> None:
    values = [value for value in crossed.played.stream.json() if "custom_tool_call_input" in value["type"]]
    assert [value["type"].rpartition(".")[2] for value in values] == ["delta", "done"]
    assert values[0]["delta"] == values[1]["input"] == text


@pytest.mark.parametrize("pair", by(RESPONSES), ids=lambda pair: pair.name)
async def test_b139_a_dropped_tool_that_is_needed_is_refused(crossing: Stage, pair: Pair) -> None:
    search = {"type": "web_search"}

    async def refused(members: Json, kind: str = "a") -> None:
        crossed = await cross(crossing, pair, kind=kind, members=members)
        assert crossed.played.reply.status == 400, crossed.played.reply.body
        assert crossed.asked == {}
        assert crossed.played.reply.json()["error"]["param"].startswith("tool")

    await together(
        {
            "chosen": refused({"tools": [search, tool(RESPONSES)], "tool_choice": {"type": "web_search"}}),
            "alone": refused({"tools": [search]}),
            "a channel that rejects": refused({"tools": [search, tool(RESPONSES)]}, "reject"),
            "unknown": refused({"tools": [{"type": "mystery_tool"}, tool(RESPONSES)]}),
        }
    )


@pytest.mark.parametrize("pair", by(RESPONSES), ids=lambda pair: pair.name)
async def test_b139_history_of_custom_calls(crossing: Stage, pair: Pair) -> None:
    history = [
        {"role": "user", "content": "hi"},
        {
            "type": "custom_tool_call",
            "call_id": "call_0",
            "name": "apply_patch",
            "input": "a\nb",
        },
        {"type": "custom_tool_call_output", "call_id": "call_0", "output": "done"},
    ]
    asked = (await cross(crossing, pair, members={"tools": [CUSTOM], "input": history})).asked
    turn = asked["messages"][1]
    if pair.channel is CHAT:
        assert json.loads(turn["tool_calls"][0]["function"]["arguments"]) == {"input": "a\nb"}
        assert asked["messages"][2]["content"] == "done"
    else:
        assert turn["content"][0]["input"] == {"input": "a\nb"}
        assert asked["messages"][2]["content"][0]["content"] == "done"


async def test_custom_tools_of_a_chat_caller(crossing: Stage) -> None:
    """A `function` call in streams, which SDKs can read; a `custom` one in whole answers."""
    declared = {"type": "custom", "custom": {"name": "apply_patch", "description": "Patches."}}
    steps = calls(MESSAGES, "apply_patch", json.dumps({"input": "x"}))
    streamed = (await cross(crossing, C_M, steps, members={"tools": [declared]})).heard
    assert [(call.kind, json.loads(call.input)) for call in streamed.calls] == [("function", {"input": "x"})]
    whole = (await cross(crossing, C_M, steps, mode="whole", members={"tools": [declared]})).heard
    assert [(call.kind, call.input) for call in whole.calls] == [("custom", "x")]


async def test_legacy_functions_of_a_chat_caller(crossing: Stage) -> None:
    members: Json = {"functions": [{"name": "f", "parameters": SCHEMA}], "function_call": {"name": "f"}}
    for pair in (C_M, C_R):
        whole = await cross(crossing, pair, calls(pair.channel, "f"), mode="whole", members=members)
        assert names(pair.channel, whole.asked) == ["f"]
        (choice,) = whole.played.reply.json()["choices"]
        assert choice["finish_reason"] == "function_call"
        assert choice["message"]["function_call"] == {"name": "f", "arguments": '{"a":"b"}'}


RESULT: Json = {
    "type": "web_search_result",
    "url": "https://e.com/t",
    "title": "Tides",
    "encrypted_content": "X",
}


def _searched() -> list[bytes]:
    citation = {"type": "web_search_result_location", "url": "https://e.com/t", "title": "Tides"}
    citation |= {"cited_text": "high", "encrypted_index": "E"}
    use: Json = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found: Json = {
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": [{**RESULT, "encrypted_content": "X"}],
    }
    return [
        n.ms(),
        *(n.bs(0, use), n.bd(0, n.args('{"query":"tide"}')), n.be(0)),
        *(n.bs(1, found), n.be(1)),
        n.bs(2, {"type": "text", "text": ""}),
        n.bd(2, {"type": "citations_delta", "citation": citation}),
        *(n.bd(2, n.text("high tide")), n.be(2)),
        *(n.md("end_turn"), n.me),
    ]


@pytest.mark.parametrize("mode", MODES)
async def test_b140_a_search_that_the_provider_ran(crossing: Stage, mode: str) -> None:
    for client, members in (
        (CHAT, {"web_search_options": {"search_context_size": "low"}}),
        (RESPONSES, {"tools": [{"type": "web_search"}]}),
    ):
        crossed = await cross(
            crossing, Pair(client, MESSAGES), _searched(), mode=mode, kind="search", members=members
        )
        assert crossed.asked["tools"][0]["type"].startswith("web_search")
        heard = crossed.heard
        assert (heard.text, heard.calls, heard.finish) == ("high tide", [], finish(client, "stop"))
        (cited,) = heard.citations
        assert cited["type"] == "url_citation"
        inner = cited["url_citation"] if client is CHAT else cited
        assert (inner["url"], inner["title"]) == ("https://e.com/t", "Tides")
        assert client is CHAT or heard.parts == ["web_search_call", "text"]


@pytest.mark.parametrize("mode", MODES)
async def test_b141_url_citations(crossing: Stage, mode: str) -> None:
    inner = {"url": "https://e.com/t", "title": "Tides", "start_index": 0, "end_index": 4}
    chat = [n.k({"role": "assistant", "content": "high tide"})]
    chat += [n.k({"annotations": [{"type": "url_citation", "url_citation": inner}]}), n.k({}, "stop"), n.DONE]
    annotation = {"type": "url_citation", **inner}
    item = n.message_item("high tide", "completed")
    item["content"][0]["annotations"] = [annotation]
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    responses = n.r(
        n.created(),
        n.added(n.message_item()),
        n.part_added(),
        n.text_delta("high tide"),
        (
            "response.output_text.annotation.added",
            {**place, "annotation_index": 0, "annotation": annotation},
        ),
        n.item_done(item),
        ("response.completed", n.response("completed", output=[item])),
    )
    heard = (await cross(crossing, R_C, chat, mode=mode)).heard
    assert [(each["url"], each["start_index"]) for each in heard.citations] == [("https://e.com/t", 0)]
    heard = (await cross(crossing, C_R, responses, mode=mode)).heard
    assert [each["url_citation"]["url"] for each in heard.citations] == ["https://e.com/t"]
    for channel, steps in ((CHAT, chat), (RESPONSES, responses)):
        heard = (await cross(crossing, Pair(MESSAGES, channel), steps, mode=mode)).heard
        assert (heard.text, heard.citations) == ("high tide", [])
