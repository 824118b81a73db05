import json
from typing import Any

import pytest

from tidegate.core.protocol import Protocol

from .reading import asked, body, events, tools

MODELS = [
    "sim",
    "sim;reasoning=4",
    "sim;reasoning=4;redacted",
    "sim;web_search=2",
    "sim;tools=2;text=a b",
    "sim;tools=2;reasoning=3",
    "sim;refusal",
    "sim;ping",
    "sim;finish=pause_turn",
    "sim;words=0",
]


def told(model: str, **members: Any) -> list[Any]:
    if "tools" in model:
        members["tools"] = tools(Protocol.MESSAGES, "f", "g")
    found = events(body(asked(Protocol.MESSAGES, model, **members)))
    assert all(name == data["type"] for name, data in found)
    return [data for _, data in found]


def whole(model: str, **members: Any) -> Any:
    if "tools" in model:
        members["tools"] = tools(Protocol.MESSAGES, "f", "g")
    return json.loads(body(asked(Protocol.MESSAGES, model, stream=False, **members)))


def assembled(found: list[Any]) -> list[dict[str, Any]]:
    """The content, with the order of events checked on the way."""
    assert (found[0]["type"], found[0]["message"]["content"]) == ("message_start", [])
    assert [event["type"] for event in found[-2:]] == ["message_delta", "message_stop"]
    blocks: list[dict[str, Any]] = []
    open_block, partial = None, ""
    for event in found[1:-2]:
        match event["type"]:
            case "content_block_start":
                assert (open_block, event["index"]) == (None, len(blocks))
                open_block, partial = event["content_block"], ""
                blocks.append(open_block)
            case "content_block_delta":
                assert open_block is not None
                assert event["index"] == len(blocks) - 1
                partial += event["delta"].get("partial_json", "")
                _grow(open_block, event["delta"])
            case "content_block_stop":
                assert open_block is not None
                assert event["index"] == len(blocks) - 1
                if partial:
                    open_block["input"] = json.loads(partial)
                open_block = None
            case other:
                assert other == "ping"
    assert open_block is None
    return blocks


def _grow(block: dict[str, Any], delta: dict[str, Any]) -> None:
    match delta:
        case {"type": "text_delta", "text": text}:
            block["text"] += text
        case {"type": "thinking_delta", "thinking": text}:
            block["thinking"] += text
        case {"type": "signature_delta", "signature": text}:
            assert block["signature"] == ""
            block["signature"] = text
        case {"type": "citations_delta", "citation": citation}:
            block.setdefault("citations", []).append(citation)
        case other:
            assert other["type"] == "input_json_delta"


def without_ids(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    opaque = ("id", "tool_use_id", "signature", "data")
    return [{key: value for key, value in block.items() if key not in opaque} for block in blocks]


@pytest.mark.parametrize("model", MODELS)
def test_blocks_come_one_after_the_other_and_say_what_the_whole_answer_says(model: str) -> None:
    found, answer = told(model), whole(model)
    assert without_ids(assembled(found)) == without_ids(answer["content"])
    assert found[-2]["delta"]["stop_reason"] == answer["stop_reason"]
    assert found[-2]["usage"]["output_tokens"] == answer["usage"]["output_tokens"]


def test_reasons_to_stop() -> None:
    assert whole("sim;tools=1")["stop_reason"] == "tool_use"
    assert whole("sim;text=a b", stop_sequences=["b"])["stop_sequence"] == "b"
    assert whole("sim;refusal")["stop_details"]["type"] == "refusal"
    assert whole("sim;words=9", max_tokens=3)["stop_reason"] == "max_tokens"
    assert told("sim;words=9", max_tokens=3)[-2]["delta"]["stop_reason"] == "max_tokens"


def test_a_call_that_was_cut_has_no_arguments_in_a_whole_answer() -> None:
    (call,) = whole("sim;tools=1", max_tokens=1)["content"]
    assert call["input"] == {}


def test_hidden_reasoning_has_a_signature_and_no_text() -> None:
    (thought, _) = assembled(told("sim", thinking={"type": "adaptive", "display": "omitted"}))
    assert (thought["thinking"], thought["signature"][:4]) == ("", "sim_")


def test_usage_tells_the_cache_apart() -> None:
    usage = told("sim;input=1;cache_read=2;cache_write=3;cache_write_1h=4;output=5")[0]["message"]["usage"]
    assert (usage["input_tokens"], usage["cache_read_input_tokens"]) == (1, 2)
    assert usage["cache_creation_input_tokens"] == 7
    assert usage["cache_creation"] == {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4}
    assert "usage" not in json.dumps(told("sim;no_usage"))


def test_an_error_is_the_last_event() -> None:
    found = told("sim;error=overloaded;error_after=1")
    assert found[-1] == {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    assert [event["type"] for event in found].count("content_block_delta") == 1
