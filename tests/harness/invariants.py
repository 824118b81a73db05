"""The standing rules that hold for every good stream, whatever the case."""

from typing import Any

from tests.harness.dialects import Side
from tests.harness.sse import Stream

_FITTING = {
    "text": {"text_delta", "citations_delta"},
    "thinking": {"thinking_delta", "signature_delta"},
    "tool_use": {"input_json_delta"},
    "server_tool_use": {"input_json_delta"},
}


def check_stream(side: Side, stream: Stream) -> None:
    """The rules of the protocol for a stream that ended well."""
    match side.name:
        case "chat":
            check_chat(stream)
        case "responses":
            check_responses(stream)
        case _:
            check_messages(stream)


def check_chat(stream: Stream) -> None:
    """Role first, one finish a choice with nothing after it, usage alone, `[DONE]` last."""
    assert stream.events[-1].data == "[DONE]"
    assert all(event.name is None for event in stream.events)
    assert sum(event.data == "[DONE]" for event in stream.events) == 1
    finished: set[int] = set()
    seen: set[int] = set()
    for value in stream.json():
        assert "error" not in value
        if value.get("usage"):
            assert value["choices"] == []
        for choice in value["choices"]:
            index = choice["index"]
            assert index not in finished, "content after the finish"
            if index not in seen:
                assert choice["delta"].get("role") == "assistant"
                seen.add(index)
            if choice["finish_reason"] is not None:
                finished.add(index)
    assert finished == seen


def check_messages(stream: Stream) -> None:
    """One message_start, blocks in order and one at a time, one message_delta, one message_stop."""
    values = [value for value in stream.json() if value["type"] != "ping"]
    assert [event.name for event in stream.events] == [value["type"] for value in stream.json()]
    assert values[0]["type"] == "message_start"
    assert [value["type"] for value in values[-2:]] == ["message_delta", "message_stop"]
    assert values[-2]["delta"]["stop_reason"] is not None
    open_block: Any = None
    blocks = 0
    for value in values[1:-2]:
        match value["type"]:
            case "content_block_start":
                assert open_block is None
                assert value["index"] == blocks
                open_block = value["content_block"]["type"]
                blocks += 1
            case "content_block_delta":
                assert value["index"] == blocks - 1
                assert value["delta"]["type"] in _FITTING[open_block]
            case "content_block_stop":
                assert open_block is not None
                assert value["index"] == blocks - 1
                open_block = None
            case other:
                raise AssertionError(f"{other} among the blocks")
    assert open_block is None


def check_responses(stream: Stream) -> None:
    """Numbers from 0 without a gap, created first, one terminal event, last, that repeats the items."""
    values = stream.json()
    assert [event.name for event in stream.events] == [value["type"] for value in values]
    assert [value["sequence_number"] for value in values] == list(range(len(values)))
    assert values[0]["type"] == "response.created"
    ends = [value for value in values if value["type"] in ("response.completed", "response.incomplete")]
    assert ends == values[-1:]
    ids = {value["response"]["id"] for value in values if "response" in value}
    assert len(ids) == 1
    done = [value["item"] for value in values if value["type"] == "response.output_item.done"]
    assert values[-1]["response"]["output"] == done
