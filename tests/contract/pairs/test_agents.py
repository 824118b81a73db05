"""Coding agents replayed over channels of all three protocols: two turns, with a tool call and its result."""

import json
from typing import Any

import pytest
import zstandard
from tests.contract.pairs import agents
from tests.harness import notation as n
from tests.harness.client import fetch
from tests.harness.crossing import Crossed
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, SIDES, Side
from tests.harness.gateway import Headers
from tests.harness.heard import Call
from tests.harness.notation import Json
from tests.harness.script import stream
from tests.harness.stage import Played, Stage

every_channel = pytest.mark.parametrize("channel", SIDES, ids=lambda side: side.name)


def _calls(channel: Side, call: Json) -> list[bytes]:
    """The upstream thinks, says something, and calls. `call` has `name`, `input`; on Responses the item."""
    if channel is CHAT:
        said = [n.k({"role": "assistant", "reasoning_content": "Look."}), n.k({"content": "I look."})]
        called = n.k(n.t(0, "call_1", call["name"], call["input"]))
        return [*said, called, n.k({}, "tool_calls"), n.u(USAGE), n.DONE]
    if channel is MESSAGES:
        tool: Json = {"type": "tool_use", "id": "call_1", "name": call["name"], "input": {}}
        return [
            n.ms(),
            *(n.bs(0, "thinking"), n.bd(0, n.think("Look.")), n.bd(0, n.sig("SIGNED")), n.be(0)),
            *(n.bs(1, "text"), n.bd(1, n.text("I look.")), n.be(1)),
            *(n.bs(2, tool), n.bd(2, n.args(call["input"])), n.be(2)),
            *(n.md("tool_use"), n.me),
        ]
    summary = [{"type": "summary_text", "text": "Look."}]
    thought: Json = {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "SEALED"}
    items = [thought, n.message_item("I look.", "completed"), call["item"]]
    done = [n.item_done(item, index) for index, item in enumerate(items)]
    return n.r(n.created(), *done, ("response.completed", n.response("completed", output=items)))


USAGE: Json = {"prompt_tokens": 5, "completion_tokens": 4, "total_tokens": 9}


def _function_item(name: str, arguments: str, **more: Any) -> Json:
    item: Json = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name}
    return {**item, "arguments": arguments, "status": "completed", **more}


def _custom_item(name: str, text: str, **more: Any) -> Json:
    item: Json = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": name}
    return {**item, "input": text, "status": "completed", **more}


async def _turn(
    stage: Stage, client: Side, channel: Side, body: Json, steps: list[bytes], headers: Headers
) -> tuple[Crossed, Json]:
    """One request as the agent sends it, and what the upstream got of it."""
    kind = {"msgs": "adaptive", "chat": "efforts", "resp": "a"}[channel.tag]
    model = stage.model(channel, kind)
    stage.script(channel, model, [stream(steps)])
    content = json.dumps({**body, "model": model}).encode()
    target = "/v1/messages?beta=true"
    if client is RESPONSES:  # Codex may compress
        content, target = zstandard.compress(content), "/v1/responses"
        headers = [*headers, ("content-encoding", "zstd")]
    reply = await stage.gateway.call(client, content, extra=headers, target=target)
    assert reply.status == 200, reply.body[:2000]
    played = Played(stage, client, model, reply, channel)
    return Crossed(played, {}), played.at_a[0].json()


def _declared(channel: Side, asked: Json) -> list[str]:
    tools = asked["tools"]
    return [tool["function"]["name"] if channel is CHAT else tool["name"] for tool in tools]


@every_channel
@pytest.mark.parametrize("newest", [True, False], ids=["new names", "old names"])
async def test_claude_code(crossing: Stage, channel: Side, newest: bool) -> None:
    first = agents.claude_code(newest=newest)
    arguments = '{"command":"ls"}'
    steps = _calls(channel, {"name": "Bash", "input": arguments, "item": _function_item("Bash", arguments)})
    crossed, asked = await _turn(crossing, MESSAGES, channel, first, steps, agents.CLAUDE_HEADERS)
    if channel is not MESSAGES:
        assert _declared(channel, asked) == list(agents.CLAUDE_TOOLS)
        _check_warnings(crossed, newest=newest)
        _check_headers(crossed)
    heard = crossed.heard
    assert (heard.parts, heard.thought, heard.text) == (["thought", "text", "call"], "Look.", "I look.")
    assert heard.calls == [Call("call_1", "Bash", '{"command": "ls"}')]
    assert heard.finish == "tool_use"
    following = agents.claude_code_next(first, heard.whole["content"])
    script = channel.script(pieces=("One ", "file."))
    again, asked = await _turn(crossing, MESSAGES, channel, following, script.all, agents.CLAUDE_HEADERS)
    assert (again.heard.text, again.heard.finish) == ("One file.", "end_turn")
    assert "README.md" in json.dumps(asked)
    assert "tgr1." not in json.dumps(asked)


def _check_warnings(crossed: Crossed, *, newest: bool) -> None:
    told = ["dropped:context_management"]
    assert sorted(crossed.warnings) == sorted(
        told if newest else [*told, "approximated:thinking.budget_tokens"]
    )


def _check_headers(crossed: Crossed) -> None:
    names = {name.lower() for name, _ in crossed.played.at_a[0].headers} - {"anthropic-version"}
    agents_own = ("anthropic-", "x-stainless", "x-claude", "x-codex", "x-app", "x-openai", "x-client")
    assert not [name for name in names if name.startswith(agents_own)]
    assert not names & {"originator", "session-id", "thread-id"}


async def test_claude_code_keeps_its_system_text(crossing: Stage) -> None:
    body = agents.claude_code(newest=True)
    steps = CHAT.script().all
    _, asked = await _turn(crossing, MESSAGES, CHAT, body, steps, agents.CLAUDE_HEADERS)
    roles = [message["role"] for message in asked["messages"]]
    assert roles == ["system", "user", "system"]
    assert asked["messages"][0]["content"].count(agents.TEXT) == 41
    assert asked["reasoning_effort"] == "high"
    assert asked["safety_identifier"] == body["metadata"]["user_id"]
    assert "cache_control" not in json.dumps(asked)


LS = '{"cmd":"ls"}'
PATCH = '*** Begin Patch\n*** Update File: a.py\n+print("é")\n*** End Patch'
GENERATIONS: dict[str, tuple[Json, Json, Call, str]] = {
    "unknown name, function": (
        agents.codex_unknown(),
        {
            "name": "exec_command",
            "input": LS,
            "item": _function_item("exec_command", LS),
        },
        Call("call_1", "exec_command", LS),
        "exec_command",
    ),
    "unknown name, namespace": (
        agents.codex_unknown(),
        {
            "name": "mcp__files__read",
            "input": LS,
            "item": _function_item("read", LS, namespace="mcp__files"),
        },
        Call("call_1", "read", LS, "function", "mcp__files"),
        "mcp__files__read",
    ),
    "older name": (
        agents.codex_older(),
        {
            "name": "apply_patch",
            "input": json.dumps({"input": PATCH}),
            "item": _custom_item("apply_patch", PATCH),
        },
        Call("call_1", "apply_patch", PATCH, "custom"),
        "apply_patch",
    ),
    "newest name": (
        agents.codex_newest(),
        {
            "name": "functions__exec",
            "input": json.dumps({"input": 'text("hi")\n'}),
            "item": _custom_item("exec", 'text("hi")\n', namespace="functions"),
        },
        Call("call_1", "exec", 'text("hi")\n', "custom", "functions"),
        "functions__exec",
    ),
}


@every_channel
@pytest.mark.parametrize("generation", GENERATIONS)
async def test_codex(crossing: Stage, channel: Side, generation: str) -> None:
    first, call, wanted, upstream_name = GENERATIONS[generation]
    headers = [*agents.CODEX_HEADERS, *([agents.LITE] if generation.startswith("newest") else [])]
    crossed, asked = await _turn(crossing, RESPONSES, channel, first, _calls(channel, call), headers)
    heard = crossed.heard
    assert (heard.text, heard.thought, heard.finish) == ("I look.", "Look.", "completed")
    assert heard.calls == [wanted]
    assert len(heard.carriers) == 1
    if channel is RESPONSES:
        assert asked["input"] == first["input"]
        assert crossed.played.at_a[0].header(agents.LITE[0]) == ("true" if "newest" in generation else None)
    else:
        assert upstream_name in _declared(channel, asked)
        assert all(name and len(name) <= 64 for name in _declared(channel, asked))
        _check_headers(crossed)
        _check_codex_warnings(crossed, generation)
    following = agents.codex_next(first, heard.whole["output"])
    script = channel.script(pieces=("One ", "file."))
    again, asked = await _turn(crossing, RESPONSES, channel, following, script.all, headers)
    assert (again.heard.text, again.heard.finish) == ("One file.", "completed")
    if channel is not RESPONSES:
        _check_history(channel, asked, call)


def _check_codex_warnings(crossed: Crossed, generation: str) -> None:
    """Hosted tools are dropped, and what is said in another way is told."""
    dropped = [entry for entry in crossed.warnings if entry.startswith("dropped:")]
    expected = {"unknown name": "dropped:tools[8]", "older name": "dropped:tools[8]"}
    for begins, entry in expected.items():
        if generation.startswith(begins):
            assert any(each.startswith(entry) for each in dropped)
    assert not any(each.startswith(("dropped:input", "dropped:include")) for each in dropped)


def _check_history(channel: Side, asked: Json, call: Json) -> None:
    """The call and its result as the channel's protocol has them, under the names that it was told."""
    turns = asked["messages"]
    if channel is CHAT:
        called = next(turn for turn in turns if turn.get("tool_calls"))["tool_calls"][0]
        assert called["function"]["name"] == call["name"]
        assert json.loads(called["function"]["arguments"]) == json.loads(call["input"])
        assert turns[-1] == {"role": "tool", "tool_call_id": "call_1", "content": "README.md"}
        return
    blocks = next(turn for turn in turns if turn["role"] == "assistant")["content"]
    assert blocks[0] == {"type": "thinking", "thinking": "Look.", "signature": "SIGNED"}
    assert (blocks[-1]["name"], blocks[-1]["input"]) == (call["name"], json.loads(call["input"]))
    (result,) = turns[-1]["content"]
    assert (result["tool_use_id"], result["content"]) == ("call_1", "README.md")


@pytest.mark.parametrize("channel", [CHAT, MESSAGES], ids=lambda side: side.name)
async def test_codex_custom_calls_come_with_their_own_events(crossing: Stage, channel: Side) -> None:
    first, call, _, _ = GENERATIONS["newest name"]
    crossed, _ = await _turn(crossing, RESPONSES, channel, first, _calls(channel, call), agents.CODEX_HEADERS)
    values = crossed.played.stream.json()
    kinds = [value["type"] for value in values]
    assert kinds.count("response.custom_tool_call_input.delta") == 1
    assert kinds.count("response.custom_tool_call_input.done") == 1
    assert "response.function_call_arguments.delta" not in kinds
    items = [value["item"] for value in values if value["type"] == "response.output_item.added"]
    assert [(item["type"], item.get("namespace")) for item in items][-1] == ("custom_tool_call", "functions")


async def test_a_head_request_warms_the_connection(crossing: Stage) -> None:
    reply = await fetch(crossing.gateway.port, "HEAD", "/")
    assert reply.status == 200
