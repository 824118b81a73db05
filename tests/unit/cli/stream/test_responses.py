"""How Responses events are read for showing."""

import json

from tidegate.cli.stream.responses import ResponsesReader
from tidegate.cli.stream.said import (
    Counted,
    Ended,
    Failed,
    Piece,
    Reasoning,
    Refusal,
    Stopped,
    Text,
    ToolArguments,
    ToolOpened,
    Unreadable,
)
from tidegate.core.sse import Framer
from tidegate.core.usage import Usage


def read(*events: tuple[str, dict[str, object]]) -> list[Piece]:
    wire = "".join(
        f"event: {kind}\ndata: {json.dumps({'type': kind} | members)}\n\n" for kind, members in events
    )
    return read_wire(wire.encode())


def read_wire(wire: bytes) -> list[Piece]:
    reader = ResponsesReader()
    return [piece for frame in Framer(1 << 20).feed(wire) for piece in reader.read(frame)]


def item(kind: str, index: int, **members: object) -> tuple[str, dict[str, object]]:
    return f"response.output_item.{kind}", {"output_index": index, "item": members}


def delta(kind: str, index: int, text: str) -> tuple[str, dict[str, object]]:
    return f"response.{kind}.delta", {"output_index": index, "delta": text}


TEXT_ITEM = {"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}


def test_a_whole_answer_shows_nothing_twice() -> None:
    usage = {
        "input_tokens": 20,
        "input_tokens_details": {"cached_tokens": 8},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    call = {"type": "function_call", "name": "get_weather", "arguments": '{"city":"Oslo"}'}
    assert read(
        ("response.created", {"response": {"status": "in_progress"}}),
        item("added", 0, type="reasoning", summary=[]),
        delta("reasoning_summary_text", 0, "hm"),
        item("done", 0, type="reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
        item("added", 1, type="message", content=[]),
        delta("output_text", 1, "Hel"),
        delta("output_text", 1, "lo"),
        ("response.output_text.done", {"output_index": 1, "text": "Hello"}),
        item("done", 1, **TEXT_ITEM),
        item("added", 2, **(call | {"arguments": ""})),
        delta("function_call_arguments", 2, '{"city":"Oslo"}'),
        item("done", 2, **call),
        ("response.completed", {"response": {"usage": usage}}),
    ) == [
        Reasoning("hm"),
        Text("Hel"),
        Text("lo"),
        ToolOpened("2", "get_weather"),
        ToolArguments("2", "get_weather", '{"city":"Oslo"}'),
        Counted(Usage(input=12, cache_read=8, output=9, reasoning=2)),
        Ended("response.completed"),
    ]


def test_what_comes_only_whole_is_shown_then() -> None:
    refusal = {"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}
    assert read(
        item("done", 0, **TEXT_ITEM),
        item("done", 1, type="custom_tool_call", name="exec", input="ls"),
        item("done", 2, **refusal),
        item("done", 3, type="reasoning", content=[{"type": "reasoning_text", "text": "hm"}]),
        item("added", 4, type="web_search_call"),
    ) == [
        Text("Hello"),
        ToolOpened("1", "exec"),
        ToolArguments("1", "exec", "ls"),
        Refusal("no"),
        Reasoning("hm"),
        ToolOpened("4", "web_search_call"),
    ]


def test_terminal_events_other_than_completed_say_why() -> None:
    assert read(
        ("response.incomplete", {"response": {"incomplete_details": {"reason": "max_output_tokens"}}})
    ) == [
        Stopped("max_output_tokens"),
        Ended("response.incomplete"),
    ]
    assert read(
        ("response.failed", {"response": {"error": {"code": "server_error", "message": "gone"}}})
    ) == [
        Failed("server_error", "gone"),
        Ended("response.failed"),
    ]


def test_error_events_flat_and_nested() -> None:
    assert read(("error", {"code": "slow_down", "message": "wait"})) == [Failed("slow_down", "wait")]
    assert read(("error", {"error": {"type": "server_error", "message": "gone"}})) == [
        Failed("server_error", "gone")
    ]


def test_a_done_line_of_another_protocol_ends_nothing() -> None:
    assert read_wire(b"data: [DONE]\n\n") == []
    assert read_wire(b"data: oops\n\n") == [Unreadable("oops")]
