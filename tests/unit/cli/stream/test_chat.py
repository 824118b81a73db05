"""How Chat Completions chunks are read for showing."""

import json

from tidegate.cli.stream.chat import ChatReader
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


def read(*events: object) -> list[Piece]:
    wire = "".join(f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n" for event in events)
    reader = ChatReader()
    return [piece for frame in Framer(1 << 20).feed(wire.encode()) for piece in reader.read(frame)]


def delta(**members: object) -> object:
    return {"choices": [{"index": 0, "delta": members, "finish_reason": None}]}


def call(index: int | None, identifier: str | None, name: str | None, arguments: object) -> object:
    told = {"function": {"name": name, "arguments": arguments}}
    return delta(tool_calls=[{"index": index, "id": identifier} | told])


def test_text_reasoning_and_refusal_are_told_apart_in_their_order() -> None:
    assert read(
        delta(role="assistant", content=""),
        delta(reasoning_content="hm", reasoning="hm"),
        delta(content="Hi"),
        delta(refusal="no"),
    ) == [Reasoning("hm"), Text("Hi"), Refusal("no")]


def test_finish_usage_and_end_mark() -> None:
    usage = {
        "prompt_tokens": 20,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 2},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    assert read(
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": None},
        {"choices": [], "usage": usage},
        "[DONE]",
    ) == [
        Stopped("stop"),
        Counted(Usage(input=13, cache_read=5, cache_write=2, output=7, reasoning=3)),
        Ended("[DONE]"),
    ]


def test_parallel_calls_keep_their_arguments_apart() -> None:
    pieces = read(
        call(0, "call_a", "get_weather", ""),
        call(1, "call_b", "get_time", ""),
        call(0, None, None, '{"city":'),
        call(1, None, None, "{}"),
        call(0, None, None, '"Oslo"}'),
    )
    assert pieces == [
        ToolOpened("0/0", "get_weather"),
        ToolOpened("0/1", "get_time"),
        ToolArguments("0/0", "get_weather", '{"city":'),
        ToolArguments("0/1", "get_time", "{}"),
        ToolArguments("0/0", "get_weather", '"Oslo"}'),
    ]


def test_calls_without_an_index_go_by_their_id() -> None:
    pieces = read(
        call(None, "call_a", "one", "{"),
        call(None, "call_a", "one", ""),
        call(None, None, None, "}"),
        call(None, "call_b", "two", "{}"),
    )
    assert [piece for piece in pieces if isinstance(piece, ToolOpened)] == [
        ToolOpened("0/id call_a", "one"),
        ToolOpened("0/id call_b", "two"),
    ]
    assert [piece.text for piece in pieces if isinstance(piece, ToolArguments)] == ["{", "}", "{}"]


def test_arguments_sent_as_an_object_are_shown_as_json() -> None:
    assert read(call(0, "call_a", "f", {"a": 1}))[1] == ToolArguments("0/0", "f", '{"a": 1}')


def test_error_chunks_of_every_form() -> None:
    assert read({"error": {"message": "gone", "type": "api_error", "code": "stream_interrupted"}}) == [
        Failed("stream_interrupted", "gone")
    ]
    assert read({"error": {"message": "gone", "type": "api_error", "code": None}}) == [
        Failed("api_error", "gone")
    ]
    assert read({"error": "gone"}) == [Failed("error", "gone")]
    assert read({"error": None, "choices": []}) == []


def test_what_is_no_json_object_is_told() -> None:
    assert read('{"choices": [') == [Unreadable('{"choices": [')]
    assert read("[1]") == [Unreadable("[1]")]
    assert read("[" * 100_000) == [Unreadable("[" * 100_000)]


def test_odd_types_show_nothing() -> None:
    assert read({"choices": None}, {"choices": [1]}, {"choices": [{"delta": 3}]}, delta(content=[])) == []
    assert read({"usage": {"prompt_tokens": "many"}}) == []
