"""Histories and content in every cross pair: turns, tool results, images, system text, stored state."""

import json
from typing import Any

import pytest
from tests.harness.crossing import cross
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, Side
from tests.harness.notation import Json
from tests.harness.pairs import CROSS, Pair, by, over
from tests.harness.stage import Stage

C_R, C_M = Pair(CHAT, RESPONSES), Pair(CHAT, MESSAGES)
R_C, R_M = Pair(RESPONSES, CHAT), Pair(RESPONSES, MESSAGES)
M_C, M_R = Pair(MESSAGES, CHAT), Pair(MESSAGES, RESPONSES)
PNG = "iVBORw0KGgo="
DATA_URL = f"data:image/png;base64,{PNG}"
LINK = "https://example.com/p.png"
USER: Json = {"role": "user", "content": "hi"}
every_cross_pair = pytest.mark.parametrize("pair", CROSS, ids=lambda pair: pair.name)


async def _asked(stage: Stage, pair: Pair, **members: Any) -> Json:
    crossed = await cross(stage, pair, members=members)
    assert crossed.played.reply.status == 200, crossed.played.reply.body
    return crossed.asked


def _use(id: str, **input: object) -> Json:
    return {"type": "tool_use", "id": id, "name": "f", "input": input}


def _result(id: str, content: object) -> Json:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def _chat_call(id: str, arguments: str = "{}") -> Json:
    return {"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}}


def _item(id: str, arguments: str = "{}") -> Json:
    return {"type": "function_call", "call_id": id, "name": "f", "arguments": arguments}


def _output(id: str, output: object) -> Json:
    return {"type": "function_call_output", "call_id": id, "output": output}


def _bare(item: Json) -> Json:
    """An item without members that say nothing."""
    return {name: value for name, value in item.items() if name not in ("id", "status", "detail")}


async def test_b031_empty_arguments_in_the_history(crossing: Stage) -> None:
    turn = {"role": "assistant", "content": "", "tool_calls": [_chat_call("a", "")]}
    answer = {"role": "tool", "tool_call_id": "a", "content": "ok"}
    asked = await _asked(crossing, C_M, messages=[USER, turn, answer])
    assert asked["messages"][1] == {"role": "assistant", "content": [_use("a")]}
    asked = await _asked(crossing, C_R, messages=[USER, turn, answer])
    assert _bare(asked["input"][1])["arguments"] in ("", "{}")


@pytest.mark.parametrize("pair", over(MESSAGES), ids=lambda pair: pair.name)
async def test_b144_results_to_a_messages_channel_are_one_turn(crossing: Stage, pair: Pair) -> None:
    if pair.client is CHAT:
        turn = {"role": "assistant", "content": None, "tool_calls": [_chat_call("a"), _chat_call("b")]}
        results = [{"role": "tool", "tool_call_id": id, "content": f"r{id}"} for id in ("a", "b")]
        members = {"messages": [USER, turn, *results, {"role": "user", "content": "go"}]}
    else:
        outputs = [_output("a", "ra"), _output("b", "rb")]
        members = {"input": [USER, _item("a"), _item("b"), *outputs, {"role": "user", "content": "go"}]}
    messages = (await _asked(crossing, pair, **members))["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert messages[1]["content"] == [_use("a"), _use("b")]
    assert messages[2]["content"] == [_result("a", "ra"), _result("b", "rb"), {"type": "text", "text": "go"}]


async def test_b144_results_out_of_a_messages_turn(crossing: Stage) -> None:
    content = [_result("a", "ra"), _result("b", "rb"), {"type": "text", "text": "go"}]
    turns = [
        USER,
        {"role": "assistant", "content": [_use("a"), _use("b")]},
        {"role": "user", "content": content},
    ]
    chat = (await _asked(crossing, M_C, messages=turns))["messages"]
    assert [message["role"] for message in chat] == ["user", "assistant", "tool", "tool", "user"]
    assert [message["content"] for message in chat[2:]] == ["ra", "rb", "go"]
    items = (await _asked(crossing, M_R, messages=turns))["input"]
    kinds = [item.get("type", item.get("role")) for item in items]
    assert kinds[-5:] == [
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
        "user",
    ]


@every_cross_pair
async def test_b138_images_keep_their_place(crossing: Stage, pair: Pair) -> None:
    made = _parts(pair.client)
    member = "input" if pair.client is RESPONSES else "messages"
    asked = await _asked(crossing, pair, **{member: [{"role": "user", "content": made}]})
    got = asked["input" if pair.channel is RESPONSES else "messages"][-1]["content"]
    wanted = _parts(pair.channel)
    assert [_without_detail(part) for part in got] == [_without_detail(part) for part in wanted]


def _without_detail(part: Json) -> Json:
    """The level of detail may be told though it is the default."""
    inner = part.get("image_url")
    if isinstance(inner, dict):
        return {**part, "image_url": {"url": inner["url"]}}
    return {name: value for name, value in part.items() if name != "detail"}


def _parts(side: Side) -> list[Json]:
    """Text, an image as data, text, an image as a link."""
    if side is MESSAGES:
        data = {"type": "base64", "media_type": "image/png", "data": PNG}
        link = {"type": "url", "url": LINK}
        images: list[Json] = [{"type": "image", "source": data}, {"type": "image", "source": link}]
        text = "text"
    elif side is CHAT:
        images = [{"type": "image_url", "image_url": {"url": url}} for url in (DATA_URL, LINK)]
        text = "text"
    else:
        images = [{"type": "input_image", "image_url": url} for url in (DATA_URL, LINK)]
        text = "input_text"
    return [{"type": text, "text": "one"}, images[0], {"type": text, "text": "two"}, images[1]]


BAD_URLS = [
    "data:image/png;base64,@@@",
    "data:image/tiff;base64,AAAA",
    "data:nonsense",
    "ftp://example.com/x.png",
]


@pytest.mark.parametrize("url", BAD_URLS)
async def test_b138_images_that_cannot_be_read_are_refused(crossing: Stage, url: str) -> None:
    chat = [{"type": "image_url", "image_url": {"url": url}}]
    responses = [{"type": "input_image", "image_url": url}]
    for pair, member, content in ((C_M, "messages", chat), (R_M, "input", responses)):
        crossed = await cross(crossing, pair, members={member: [{"role": "user", "content": content}]})
        assert crossed.played.reply.status == 400, url
        assert crossed.played.reply.json()["error"]["param"].startswith(f"{member}[0].content[0]")
        assert crossed.asked == {}


AUDIO: Json = {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}
UNKNOWN: list[tuple[Pair, str, Json]] = [
    (
        C_M,
        "messages[0].content[0]",
        {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
    ),
    (
        C_R,
        "messages[0].content[0]",
        {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
    ),
    (C_M, "messages[0].content[0]", {"type": "mystery"}),
    (R_C, "input[0].content[0]", {"type": "input_file", "file_url": "https://example.com/a.pdf"}),
    (R_M, "input[0].content[0]", {"type": "input_image", "file_id": "file_1"}),
    (M_C, "messages[0].content[0]", {"type": "container_upload", "file_id": "f"}),
    (M_R, "messages[0].content[0]", {"type": "image", "source": {"type": "file", "file_id": "f"}}),
]


@pytest.mark.parametrize(("pair", "path", "part"), UNKNOWN, ids=lambda value: getattr(value, "name", None))
async def test_content_that_has_no_form_there_is_named(
    crossing: Stage, pair: Pair, path: str, part: Json
) -> None:
    member = "input" if pair.client is RESPONSES else "messages"
    crossed = await cross(crossing, pair, members={member: [{"role": "user", "content": [part]}]})
    assert crossed.played.reply.status == 400
    error = crossed.played.reply.json()["error"]
    assert path in (error["message"] if pair.client is MESSAGES else error["param"])
    assert crossed.asked == {}


CACHED: Json = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


@pytest.mark.parametrize("pair", by(MESSAGES), ids=lambda pair: pair.name)
async def test_b131_cache_hints_are_taken_out(crossing: Stage, pair: Pair) -> None:
    text = {"type": "text", "text": "S", **CACHED}
    crossed = await cross(
        crossing,
        pair,
        members={
            "system": [text, {"type": "text", "text": "T"}],
            "messages": [{"role": "user", "content": [text]}],
            "tools": [{"name": "f", "input_schema": {"type": "object", "properties": {}}, **CACHED}],
        },
    )
    assert "cache_control" not in json.dumps(crossed.asked)
    told = crossed.asked["messages"][0] if pair.channel is CHAT else crossed.asked
    assert told["content" if pair.channel is CHAT else "instructions"] == "S\n\nT"
    assert crossed.warnings == []


async def test_system_text_in_every_direction(crossing: Stage) -> None:
    system, developer = {"role": "system", "content": "A"}, {"role": "developer", "content": "B"}
    asked = await _asked(crossing, C_R, messages=[system, developer, USER])
    assert [item["role"] for item in asked["input"]] == ["system", "developer", "user"]
    assert "instructions" not in asked
    asked = await _asked(crossing, C_M, messages=[system, developer, USER])
    assert [block["text"] for block in asked["system"]] == ["A", "B"]
    asked = await _asked(crossing, R_C, instructions="I", input=[developer, USER])
    assert [(turn["role"], turn["content"]) for turn in asked["messages"]][:2] == [
        ("system", "I"),
        ("system", "B"),
    ]
    asked = await _asked(crossing, R_M, instructions="I", input=[developer, USER])
    assert [block["text"] for block in asked["system"]] == ["I", "B"]
    asked = await _asked(crossing, M_R, system="S", messages=[USER])
    assert asked["instructions"] == "S"


async def test_capabilities_that_change_the_system_text(crossing: Stage) -> None:
    system, developer = {"role": "system", "content": "A"}, {"role": "developer", "content": "B"}
    crossed = await cross(crossing, C_R, kind="instructions", members={"messages": [system, USER]})
    assert crossed.asked["instructions"] == "A"
    crossed = await cross(crossing, R_C, kind="custom", members={"input": [developer, USER]})
    assert crossed.asked["messages"][0] == developer
    late = [USER, {"role": "assistant", "content": "x"}, USER, system]
    crossed = await cross(crossing, C_M, kind="midsystem", members={"messages": late})
    assert crossed.asked["messages"][-1] in (
        {"role": "system", "content": "A"},
        {"role": "system", "content": [{"type": "text", "text": "A"}]},
    )
    crossed = await cross(crossing, C_M, members={"messages": late})
    assert crossed.asked["messages"][-1]["content"][-1] == {"type": "text", "text": "System: A"}
    assert crossed.warnings == ["approximated:messages[3]"]


async def test_a_system_message_inside_messages_is_normal(crossing: Stage) -> None:
    turns = [USER, {"role": "system", "content": "Now."}, {"role": "assistant", "content": "x"}, USER]
    asked = await _asked(crossing, M_C, messages=turns)
    assert [turn["role"] for turn in asked["messages"]] == ["user", "system", "assistant", "user"]
    asked = await _asked(crossing, M_R, messages=turns)
    assert [item["role"] for item in asked["input"]] == ["user", "system", "assistant", "user"]


async def test_prefill(crossing: Stage) -> None:
    prefilled = [USER, {"role": "assistant", "content": "The"}]
    for pair in (M_C, M_R):
        crossed = await cross(crossing, pair, members={"messages": prefilled})
        assert crossed.played.reply.status == 400
        assert crossed.asked == {}
    refused = await cross(crossing, C_M, kind="noprefill", members={"messages": prefilled})
    assert refused.played.reply.json()["error"]["code"] == "unsupported_value"
    asked = await _asked(crossing, C_M, messages=prefilled)
    assert asked["messages"][-1]["role"] == "assistant"


async def test_results_with_images_and_errors(crossing: Stage) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    bad = {**_result("a", [{"type": "text", "text": "no"}, image]), "is_error": True}
    turns = [USER, {"role": "assistant", "content": [_use("a")]}, {"role": "user", "content": [bad]}]
    crossed = await cross(crossing, M_C, members={"messages": turns})
    tool, follow = crossed.asked["messages"][-2:]
    assert tool["content"] == "Error: no"
    assert follow["content"][0]["text"] == "[image from tool result a]"
    assert follow["content"][1]["image_url"]["url"] == DATA_URL
    assert sorted(crossed.warnings) == [
        "approximated:messages[2].content[0].content[1]",
        "approximated:messages[2].content[0].is_error",
    ]


@pytest.mark.parametrize("pair", by(RESPONSES), ids=lambda pair: pair.name)
async def test_b150_b151_stored_state_stays_on_its_channel(crossing: Stage, pair: Pair) -> None:
    for members, code in (
        ({"previous_response_id": "resp_unknown"}, "previous_response_not_found"),
        ({"input": [USER, {"type": "item_reference", "id": "msg_1"}]}, None),
    ):
        crossed = await cross(crossing, pair, members=members)
        assert crossed.played.reply.status == 400
        assert code in (crossed.played.reply.json()["error"]["code"], None)
        assert crossed.asked == {}


@pytest.mark.parametrize("pair", by(RESPONSES), ids=lambda pair: pair.name)
async def test_items_of_hosted_tools_in_the_history(crossing: Stage, pair: Pair) -> None:
    """What the server ran is dropped; what only the client can run there is refused."""
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    asked = await _asked(crossing, pair, input=[USER, search, {"role": "assistant", "content": "x"}, USER])
    assert [turn["role"] for turn in asked["messages"]] == ["user", "assistant", "user"]
    for kind in ("computer_call", "local_shell_call", "mcp_approval_request", "compaction", "mystery"):
        crossed = await cross(crossing, pair, members={"input": [USER, {"type": kind, "id": "x"}]})
        assert crossed.played.reply.status == 400, kind
        assert crossed.asked == {}


@every_cross_pair
async def test_b146_b180_headers_stay_on_their_protocol(crossing: Stage, pair: Pair) -> None:
    extra = [("anthropic-beta", "a,b"), ("anthropic-beta", "c"), ("openai-beta", "x=v1")]
    extra += [
        ("cookie", "k=v"),
        ("x-goog-api-key", "g"),
        ("x-forwarded-for", "1.2.3.4"),
        ("x-stainless-lang", "js"),
    ]
    crossed = await cross(crossing, pair, extra=extra)
    (seen,) = crossed.played.at_a
    names = {name.lower() for name, _ in seen.headers}
    assert not names & {"anthropic-beta", "openai-beta", "cookie", "x-goog-api-key", "x-forwarded-for"}
    assert not names & {"x-stainless-lang", "x-claude-code-session-id", "originator"}
    credential = f"sk-upstream-{pair.channel.tag}-credential-77"
    if pair.channel is MESSAGES:
        assert seen.header("x-api-key") == credential
        assert seen.header("anthropic-version")
        assert "authorization" not in names
    else:
        assert seen.header("authorization") == f"Bearer {credential}"
        assert not names & {"x-api-key", "anthropic-version"}
