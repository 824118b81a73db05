"""What a caller was told, in words that the three protocols share."""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.harness.dialects import Side
from tests.harness.sse import Stream


@dataclass(frozen=True)
class Call:
    """One call of a client's tool; `input` is the text as it was told."""

    id: str
    name: str
    input: str
    kind: str = "function"
    namespace: str | None = None


@dataclass(frozen=True)
class Counts:
    """Four counts that do not overlap, and the reasoning among the output."""

    fresh: int
    read: int = 0
    write: int = 0
    output: int = 0
    thought: int = 0


@dataclass
class Heard:
    """A whole answer. `parts` are the kinds of its parts in order; `finish` is the protocol's own word."""

    whole: Any
    finish: str
    counts: Counts | None
    parts: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    carriers: list[str] = field(default_factory=list)
    citations: list[Any] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def thought(self) -> str:
        return "".join(self.thoughts)

    @property
    def refusal(self) -> str:
        return "".join(self.refusals)

    def said(self) -> tuple[str, str, str, list[tuple[str, str, str]], str, Counts | None]:
        """What stream and whole answer must agree on."""
        calls = [(call.id, call.name, call.input) for call in self.calls]
        return self.text, self.thought, self.refusal, calls, self.finish, self.counts


def gathered(side: Side, stream: Stream) -> Any:
    """The whole answer that the events add up to."""
    match side.name:
        case "chat":
            return _gathered_chat(stream.json())
        case "responses":
            return stream.json()[-1]["response"]
        case _:
            return _gathered_messages(stream.json())


def heard(side: Side, whole: Any) -> Heard:
    """Reads a whole answer."""
    match side.name:
        case "chat":
            return _heard_chat(whole)
        case "responses":
            return _heard_responses(whole)
        case _:
            return _heard_messages(whole)


def _gathered_chat(chunks: list[Any]) -> Any:
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    whole = {**chunks[0], "object": "chat.completion", "usage": None}
    finish = None
    for chunk in chunks:
        whole["usage"] = chunk.get("usage") or whole["usage"]
        for choice in chunk["choices"] or ():
            finish = choice["finish_reason"] or finish
            _add_delta(message, choice["delta"])
    message["content"] = message["content"] or None
    whole["choices"] = [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}]
    return whole


def _add_delta(message: dict[str, Any], delta: Any) -> None:
    for name in ("content", "refusal", "reasoning_content"):
        if delta.get(name) is not None:
            message[name] = (message.get(name) or "") + delta[name]
    for name in ("reasoning_details", "annotations"):
        if delta.get(name):
            message.setdefault(name, []).extend(delta[name])
    for fragment in delta.get("tool_calls") or ():
        calls = message.setdefault("tool_calls", [])
        if fragment["index"] == len(calls):
            calls.append({name: value for name, value in fragment.items() if name != "index"})
        else:
            calls[fragment["index"]]["function"]["arguments"] += fragment["function"]["arguments"]


def _gathered_messages(events: list[Any]) -> Any:
    whole: dict[str, Any] = {}
    inputs: dict[int, str] = {}
    for event in events:
        match event["type"]:
            case "message_start":
                whole = {**event["message"], "content": []}
            case "content_block_start":
                whole["content"].append(dict(event["content_block"]))
            case "content_block_delta":
                _add_block_delta(whole["content"][event["index"]], event["delta"], inputs, event["index"])
            case "content_block_stop":
                if inputs.get(event["index"]):
                    whole["content"][event["index"]]["input"] = _read_input(inputs[event["index"]])
            case "message_delta":
                whole |= event["delta"]
                told = {name: count for name, count in event["usage"].items() if count is not None}
                whole["usage"] = whole["usage"] | told
            case _:  # ping, message_stop
                pass
    return whole


def _read_input(text: str) -> Any:
    """Cut arguments stay text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _add_block_delta(block: dict[str, Any], delta: Any, inputs: dict[int, str], index: int) -> None:
    match delta["type"]:
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case "signature_delta":
            block["signature"] = delta["signature"]
        case "input_json_delta":
            inputs[index] = inputs.get(index, "") + delta["partial_json"]
        case "citations_delta":
            block.setdefault("citations", []).append(delta["citation"])
        case other:
            raise AssertionError(f"a delta of type {other}")


def _heard_chat(whole: Any) -> Heard:
    (choice,) = whole["choices"]
    message = choice["message"]
    result = Heard(whole, choice["finish_reason"], _openai_counts(whole.get("usage"), "prompt", "completion"))
    for name, kind, kept in (
        ("reasoning_content", "thought", result.thoughts),
        ("content", "text", result.texts),
        ("refusal", "refusal", result.refusals),
    ):
        if message.get(name):
            kept.append(message[name])
            result.parts.append(kind)
    result.carriers += [entry["data"] for entry in message.get("reasoning_details") or ()]
    result.citations += message.get("annotations") or ()
    for call in message.get("tool_calls") or ():
        inner = call[call["type"]]
        told = inner["arguments"] if call["type"] == "function" else inner["input"]
        result.calls.append(Call(call["id"], inner["name"], told, call["type"]))
        result.parts.append("call")
    return result


def _heard_responses(whole: Any) -> Heard:
    reason = (whole.get("incomplete_details") or {}).get("reason")
    finish = f"{whole['status']}:{reason}" if reason else whole["status"]
    result = Heard(whole, finish, _openai_counts(whole.get("usage"), "input", "output"))
    for item in whole["output"]:
        match item["type"]:
            case "message":
                for part in item["content"]:
                    _hear_part(result, part)
            case "reasoning":
                said = item["summary"] + (item.get("content") or [])
                result.thoughts += [part["text"] for part in said]
                result.carriers += [item["encrypted_content"]] if item.get("encrypted_content") else []
                result.parts.append("thought")
            case "function_call" | "custom_tool_call":
                kind = "custom" if item["type"] == "custom_tool_call" else "function"
                told = item["input" if kind == "custom" else "arguments"]
                call = Call(item["call_id"], item["name"], told, kind, item.get("namespace"))
                result.calls.append(call)
                result.parts.append("call")
            case other:
                result.parts.append(other)
    return result


def _hear_part(result: Heard, part: Any) -> None:
    if part["type"] == "refusal":
        result.refusals.append(part["refusal"])
        result.parts.append("refusal")
    else:
        result.texts.append(part["text"])
        result.citations += part["annotations"]
        result.parts.append("text")


def _heard_messages(whole: Any) -> Heard:
    result = Heard(whole, whole["stop_reason"], _anthropic_counts(whole["usage"]))
    explanation = (whole.get("stop_details") or {}).get("explanation")
    result.refusals += [explanation] if explanation else []
    for block in whole["content"]:
        match block["type"]:
            case "text":
                result.texts.append(block["text"])
                result.citations += block.get("citations") or ()
                result.parts.append("text")
            case "thinking":
                result.thoughts.append(block["thinking"])
                result.carriers.append(block["signature"])
                result.parts.append("thought")
            case "tool_use":
                told = block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
                result.calls.append(Call(block["id"], block["name"], told))
                result.parts.append("call")
            case other:
                result.parts.append(other)
    return result


def _openai_counts(usage: Any, prompt: str, completion: str) -> Counts | None:
    if usage is None:
        return None
    total, output = usage[f"{prompt}_tokens"], usage[f"{completion}_tokens"]
    assert usage["total_tokens"] == total + output
    details = usage.get(f"{prompt}_tokens_details") or {}
    read, write = details.get("cached_tokens") or 0, details.get("cache_write_tokens") or 0
    thought = (usage.get(f"{completion}_tokens_details") or {}).get("reasoning_tokens") or 0
    return Counts(total - read - write, read, write, output, thought)


def _anthropic_counts(usage: Any) -> Counts:
    return Counts(
        usage["input_tokens"],
        usage.get("cache_read_input_tokens") or 0,
        usage.get("cache_creation_input_tokens") or 0,
        usage["output_tokens"],
        (usage.get("output_tokens_details") or {}).get("thinking_tokens") or 0,
    )
