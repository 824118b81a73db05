"""Reasoning in every cross pair: shown, sealed, brought back to who made it, dropped where it is foreign."""

import json
from typing import Any

import pytest
from tests.harness import notation as n
from tests.harness import settings
from tests.harness.crossing import MODES, Crossed, cross
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, SIDES, Side
from tests.harness.notation import Json
from tests.harness.pairs import CROSS, Pair, by, over
from tests.harness.script import body, stream
from tests.harness.stage import Stage
from tests.harness.thinking import HIDDEN, THOUGHT, native, next_turn, replayed, thinking_then_call

every_cross_pair = pytest.mark.parametrize("pair", CROSS, ids=lambda pair: pair.name)
C_R, C_M = Pair(CHAT, RESPONSES), Pair(CHAT, MESSAGES)
R_C, R_M = Pair(RESPONSES, CHAT), Pair(RESPONSES, MESSAGES)
M_C, M_R = Pair(MESSAGES, CHAT), Pair(MESSAGES, RESPONSES)


@every_cross_pair
@pytest.mark.parametrize("mode", MODES)
async def test_b112_b115_b116_reasoning_comes_back_to_its_channel(
    crossing: Stage, pair: Pair, mode: str
) -> None:
    kind = {"chat": "replay", "messages": "adaptive"}.get(pair.channel.name, "a")
    first = await cross(crossing, pair, thinking_then_call(pair.channel), mode=mode, kind=kind)
    heard = first.heard
    assert [call.name for call in heard.calls] == ["f"]
    assert heard.thought == "Need it."
    assert len(heard.carriers) == (2 if pair.channel is MESSAGES else 1)
    again = await cross(crossing, pair, kind=kind, members=next_turn(pair.client, heard))
    assert replayed(pair.channel, again.asked) == native(pair.channel)
    assert again.warnings == []


@every_cross_pair
async def test_carriers_show_neither_channel_nor_content(crossing: Stage, pair: Pair) -> None:
    heard = (await cross(crossing, pair, thinking_then_call(pair.channel))).heard
    for carrier in heard.carriers:
        assert carrier.startswith("tgr1.")
        assert not any(word in carrier for word in ("SIGNED", "SEALED", "ENC", pair.channel.name))


async def test_carriers_are_the_accounts_own(crossing: Stage) -> None:
    """Another account's, another channel's, or a forged carrier is foreign: dropped, told in the row only."""
    first = (await cross(crossing, C_M, thinking_then_call(MESSAGES), kind="adaptive")).heard
    mine = next_turn(CHAT, first)
    forged = json.loads(json.dumps(mine).replace(first.carriers[0], first.carriers[0][:-4] + "AAAA"))
    for kind, members, key in (
        ("adaptive", mine, settings.OTHER_KEY),
        ("a", mine, settings.KEY),
        ("adaptive", forged, settings.KEY),
    ):
        crossed = await cross(crossing, C_M, kind=kind, members=members, key=key)
        assert crossed.played.reply.status == 200
        assert THOUGHT not in replayed(MESSAGES, crossed.asked)
        assert not any("reasoning" in entry for entry in crossed.warnings)
        row = await crossed.played.row()
        assert any("reasoning" in entry for entry in row["warnings"])
    strict = await cross(crossing, C_M, members=mine, key=settings.STRICT_KEY)
    assert strict.heard.text == "Hello"


@pytest.mark.parametrize("channel", SIDES, ids=lambda side: side.name)
async def test_b118_a_carrier_never_reaches_an_upstream(crossing: Stage, channel: Side) -> None:
    """On the maker's protocol either: what is not the channel's own is taken out."""
    for pair in CROSS:
        first = (await cross(crossing, pair, thinking_then_call(pair.channel))).heard
        other = await cross(crossing, Pair(pair.client, channel), members=next_turn(pair.client, first))
        assert other.played.reply.status == 200, other.played.reply.body
        assert "tgr1." not in json.dumps(other.asked)


@pytest.mark.parametrize("mode", MODES)
async def test_b118_thinking_has_a_signature(crossing: Stage, mode: str) -> None:
    heard = (await cross(crossing, M_C, thinking_then_call(CHAT), mode=mode)).heard
    block = heard.whole["content"][0]
    assert (block["type"], block["thinking"]) == ("thinking", "Need it.")
    assert block["signature"].startswith("tgr1.")


@pytest.mark.parametrize("pair", over(CHAT), ids=lambda pair: pair.name)
async def test_b114_b115_reasoning_on_chat_channels(crossing: Stage, pair: Pair) -> None:
    """Only where the channel wants it; then every turn with calls has it, empty where there was none."""
    encrypted: Json = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "FOREIGN"}
    readable: Json = {**encrypted, "summary": [{"type": "summary_text", "text": "why"}]}
    del readable["encrypted_content"]

    async def turn(kind: str, reasoning: Json, block: Json) -> Json:
        call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
        output = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
        use = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
        result = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
        user = {"role": "user", "content": "hi"}
        members: Json = {"input": [user, reasoning, call, output]}
        if pair.client is MESSAGES:
            turns = [{"role": "assistant", "content": [block, use]}, {"role": "user", "content": [result]}]
            members = {"messages": [user, *turns]}
        asked = (await cross(crossing, pair, kind=kind, members=members)).asked
        assert [message["role"] for message in asked["messages"]] == ["user", "assistant", "tool"]
        message: Json = asked["messages"][1]
        assert len(message["tool_calls"]) == 1
        return message

    foreign = {"type": "thinking", "thinking": "why", "signature": "FOREIGN"}
    bare = {"type": "thinking", "thinking": "why", "signature": ""}
    assert "reasoning_content" not in await turn("a", encrypted, foreign)
    assert "reasoning_content" not in await turn("a", readable, bare)
    assert (await turn("replay", readable, bare))["reasoning_content"] == "why"
    assert (await turn("replay", encrypted, HIDDEN))["reasoning_content"] == ""


@pytest.mark.parametrize("pair", by(CHAT), ids=lambda pair: pair.name)
async def test_the_forms_of_other_gateways(crossing: Stage, pair: Pair) -> None:
    """`reasoning_details` with a signature, and `thinking_blocks`: blocks for Messages, else nothing."""
    details = [{"type": "reasoning.text", "text": "Need it.", "signature": "SIGNED", "index": 0}]
    for more in ({"reasoning_details": details}, {"thinking_blocks": [THOUGHT]}):
        call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        turn: Json = {"role": "assistant", "content": None, "tool_calls": [call], **more}
        result = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
        members = {"messages": [{"role": "user", "content": "hi"}, turn, result]}
        asked = (await cross(crossing, pair, kind="adaptive" if pair == C_M else "a", members=members)).asked
        assert replayed(pair.channel, asked) == ([THOUGHT] if pair == C_M else [])


async def test_b111_a_signature_and_text_in_one_chunk(crossing: Stage) -> None:
    both = {
        "content": "answer",
        "reasoning_details": [{"type": "reasoning.encrypted", "data": "X", "index": 0}],
    }
    steps = [n.k({"role": "assistant", "reasoning_content": "think"}), n.k(both), n.k({}, "stop"), n.DONE]
    heard = (await cross(crossing, M_C, steps)).heard
    assert (heard.thought, heard.text) == ("think", "answer")


@pytest.mark.parametrize("pair", [C_M, R_M, C_R, M_R], ids=lambda pair: pair.name)
async def test_b112_refused_reasoning_is_left_out_and_tried_once_more(crossing: Stage, pair: Pair) -> None:
    kind = "adaptive" if pair.channel is MESSAGES else "a"
    first = (await cross(crossing, pair, thinking_then_call(pair.channel), kind=kind)).heard
    message = "messages.1.content.0: Invalid `signature` in `thinking` block"
    code = None
    if pair.channel is RESPONSES:
        message, code = "The encrypted content could not be verified.", "invalid_encrypted_content"
    error = pair.channel.error_body(message, "invalid_request_error", code)
    refused = body(json.dumps(error).encode(), 400)
    model = crossing.model(pair.channel, kind)
    good = stream(pair.channel.script(model).all)
    played = await crossing.play(
        pair.client, refused, good, channel=pair.channel, model=model, members=next_turn(pair.client, first)
    )
    assert Crossed(played, {}).heard.text == "Hello"
    before, after = (seen.json() for seen in played.at_a)
    assert replayed(pair.channel, before) == native(pair.channel)
    assert replayed(pair.channel, after) == []
    row = await played.row()
    assert [attempt["outcome"] for attempt in row["attempts"]] == ["repaired", "served"]


async def test_a_continued_call_without_its_thinking_is_legal(crossing: Stage) -> None:
    """Old models with a budget refuse it unless thinking is off."""
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turn: Json = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
    members: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}, turn, result]}
    crossed = await cross(crossing, C_M, kind="budget", members={**members, "reasoning_effort": "high"})
    assert crossed.asked.get("thinking", {"type": "disabled"}) == {"type": "disabled"}
