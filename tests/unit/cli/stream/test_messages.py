"""How Messages events are read for showing."""

import json

from tidegate.cli.stream.messages import MessagesReader
from tidegate.cli.stream.said import (
    Counted,
    Ended,
    Failed,
    Piece,
    Reasoning,
    Stopped,
    Text,
    ToolArguments,
    ToolOpened,
    Unreadable,
)
from tidegate.core.sse import Framer
from tidegate.core.usage import Usage


def read(*events: dict[str, object]) -> list[Piece]:
    wire = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return read_wire(wire.encode())


def read_wire(wire: bytes) -> list[Piece]:
    reader = MessagesReader()
    return [piece for frame in Framer(1 << 20).feed(wire) for piece in reader.read(frame)]


def start(index: int, **block: object) -> dict[str, object]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, **change: object) -> dict[str, object]:
    return {"type": "content_block_delta", "index": index, "delta": change}


def test_a_whole_answer_with_thinking_and_a_tool() -> None:
    usage = {"input_tokens": 9, "cache_read_input_tokens": 4, "output_tokens": 1}
    late = {"output_tokens": 30, "output_tokens_details": {"thinking_tokens": 12}}
    assert read(
        {"type": "message_start", "message": {"usage": usage}},
        {"type": "ping"},
        start(0, type="thinking", thinking="", signature=""),
        delta(0, type="thinking_delta", thinking="hm"),
        delta(0, type="signature_delta", signature="c2ln"),
        {"type": "content_block_stop", "index": 0},
        start(1, type="text", text=""),
        delta(1, type="text_delta", text="Hi"),
        start(2, type="tool_use", id="toolu_1", name="get_weather", input={}),
        delta(2, type="input_json_delta", partial_json=""),
        delta(2, type="input_json_delta", partial_json='{"city":"Oslo"}'),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": late},
        {"type": "message_stop"},
    ) == [
        Counted(Usage(input=9, cache_read=4, output=1)),
        Reasoning("hm"),
        Text("Hi"),
        ToolOpened("2", "get_weather"),
        ToolArguments("2", "get_weather", '{"city":"Oslo"}'),
        Counted(Usage(output=30, reasoning=12)),
        Stopped("tool_use"),
        Ended("message_stop"),
    ]


def test_blocks_that_open_with_content_show_it() -> None:
    assert read(
        start(0, type="text", text="Hi"),
        start(1, type="thinking", thinking="hm"),
        start(2, type="redacted_thinking", data="x"),
        start(3, type="server_tool_use", id="s", name="web_search", input={"query": "q"}),
    ) == [
        Text("Hi"),
        Reasoning("hm"),
        Reasoning("[redacted]"),
        ToolOpened("3", "web_search"),
        ToolArguments("3", "web_search", '{"query": "q"}'),
    ]


def test_an_error_event_is_told_with_its_type() -> None:
    assert read({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}) == [
        Failed("overloaded_error", "busy")
    ]


def test_the_event_line_names_an_event_without_a_type() -> None:
    assert read_wire(b"event: message_stop\ndata: {}\n\n") == [Ended("message_stop")]


def test_what_is_no_json_object_is_told_and_the_unknown_is_not() -> None:
    assert read_wire(b"data: nonsense\n\n") == [Unreadable("nonsense")]
    assert read({"type": "brand_new"}, start(0, type="brand_new"), delta(0, type="brand_new")) == []
