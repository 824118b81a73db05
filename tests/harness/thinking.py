"""Reasoning as each upstream tells it, and what of it comes back in the caller's next request."""

from tests.harness import notation as n
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, Side
from tests.harness.heard import Heard
from tests.harness.notation import Json

THOUGHT: Json = {"type": "thinking", "thinking": "Need it.", "signature": "SIGNED"}
HIDDEN: Json = {"type": "redacted_thinking", "data": "ENC"}
ITEM: Json = {
    "type": "reasoning",
    "id": "rs_up",
    "summary": [{"type": "summary_text", "text": "Need it."}],
    "encrypted_content": "SEALED",
}


def thinking_then_call(channel: Side) -> list[bytes]:
    """Reasoning with whatever the protocol adds to get it back, then a call."""
    if channel is CHAT:
        said = n.k({"role": "assistant", "reasoning_content": "Need it."})
        return [said, n.k(n.t(0, "call_1", "f", "{}")), n.k({}, "tool_calls"), n.DONE]
    if channel is MESSAGES:
        call: Json = {"type": "tool_use", "id": "call_1", "name": "f", "input": {}}
        return [
            n.ms(),
            *(n.bs(0, "thinking"), n.bd(0, n.think("Need it.")), n.bd(0, n.sig("SIGNED")), n.be(0)),
            *(n.bs(1, HIDDEN), n.be(1)),
            *(n.bs(2, call), n.be(2)),
            *(n.md("tool_use"), n.me),
        ]
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"}
    item["status"] = "completed"
    final = n.response("completed", output=[ITEM, item])
    return n.r(n.created(), n.item_done(ITEM), n.item_done(item, 1), ("response.completed", final))


def next_turn(client: Side, first: Heard) -> Json:
    """The caller's next request: what it got, and the result of the call."""
    if client is CHAT:
        kept = ("role", "content", "reasoning_content", "reasoning_details", "tool_calls")
        message = first.whole["choices"][0]["message"]
        turn = {name: message[name] for name in kept if message.get(name)}
        result = {"role": "tool", "tool_call_id": "call_1", "content": "ok"}
        return {"messages": [{"role": "user", "content": "hi"}, turn, result]}
    if client is MESSAGES:
        result = {"type": "tool_result", "tool_use_id": "call_1", "content": "ok"}
        turns = [
            {"role": "assistant", "content": first.whole["content"]},
            {"role": "user", "content": [result]},
        ]
        return {"messages": [{"role": "user", "content": "hi"}, *turns]}
    result = {"type": "function_call_output", "call_id": "call_1", "output": "ok"}
    return {"input": [{"role": "user", "content": "hi"}, *first.whole["output"], result]}


def replayed(channel: Side, asked: Json) -> list[Json]:
    """The reasoning in what the upstream got."""
    if channel is RESPONSES:
        return [item for item in asked["input"] if item.get("type") == "reasoning"]
    turns = [turn for turn in asked["messages"] if turn["role"] == "assistant"]
    if channel is CHAT:
        return [
            {"reasoning_content": turn["reasoning_content"]} for turn in turns if "reasoning_content" in turn
        ]
    blocks = [block for turn in turns for block in turn["content"]]
    return [block for block in blocks if block["type"] in ("thinking", "redacted_thinking")]


def native(channel: Side) -> list[Json]:
    """The same in the upstream's own words."""
    if channel is CHAT:
        return [{"reasoning_content": "Need it."}]
    return [THOUGHT, HIDDEN] if channel is MESSAGES else [ITEM]
