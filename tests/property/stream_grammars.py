"""What a stream of each protocol must look like from its first event to its last, checked event by event."""

from collections.abc import Callable
from typing import Any

import pydantic
from anthropic.lib.streaming._messages import accumulate_event
from anthropic.types import RawMessageStreamEvent
from openai import omit
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent
from tests.harness import invariants, sse

from tidegate.core.protocol import Protocol

_MESSAGES_EVENT: Any = pydantic.TypeAdapter(RawMessageStreamEvent)
_RESPONSES_EVENT: Any = pydantic.TypeAdapter(ResponseStreamEvent)
_TERMINALS = {"response.completed", "response.incomplete"}


def check(protocol: Protocol, stream: bytes) -> None:
    """The grammar of a stream that ended well. Raises AssertionError."""
    read = sse.read(stream)
    match protocol:
        case Protocol.CHAT:
            invariants.check_chat(read)
            _check_chunks(read.json())
        case Protocol.RESPONSES:
            invariants.check_responses(read)
            _check_items(read.json())
        case Protocol.MESSAGES:
            invariants.check_messages(read)
            assert [
                value["index"] for value in read.json() if value["type"] == "content_block_start"
            ] == list(range(sum(value["type"] == "content_block_start" for value in read.json())))


def check_failed(protocol: Protocol, stream: bytes) -> None:
    """One error, last, and no end mark."""
    read = sse.read(stream)
    values = read.json()
    assert "[DONE]" not in [event.data for event in read.events]
    match protocol:
        case Protocol.CHAT:
            assert ["error" in value for value in values] == [False] * (len(values) - 1) + [True]
        case Protocol.RESPONSES:
            assert [value["sequence_number"] for value in values] == list(range(len(values)))
            assert values[0]["type"] == "response.created"
            kinds = [value["type"] for value in values]
            assert kinds.index("response.failed") == len(kinds) - 1
            added = [value["item"]["id"] for value in values if value["type"] == "response.output_item.added"]
            assert [item["id"] for item in values[-1]["response"]["output"]] == added
        case Protocol.MESSAGES:
            kinds = [value["type"] for value in values]
            assert kinds.index("error") == len(kinds) - 1
            assert "message_stop" not in kinds


def accumulated(protocol: Protocol, stream: bytes) -> Any:
    """The final object that the official SDK makes of it, after its types have taken every event."""
    values = sse.read(stream).json()
    match protocol:
        case Protocol.CHAT:
            chat: Any = ChatCompletionStreamState()
            for value in values:
                chat.handle_chunk(ChatCompletionChunk.model_validate(value))
            return chat.current_completion_snapshot.to_dict()
        case Protocol.RESPONSES:
            responses: Any = ResponseStreamState(input_tools=omit, text_format=omit)
            for value in values:
                responses.handle_event(_RESPONSES_EVENT.validate_python(value))
            return values[-1]["response"]
        case Protocol.MESSAGES:
            message: Any = None
            buffers: dict[int, bytes] = {}
            for value in values:
                event = _MESSAGES_EVENT.validate_python(value)
                message = accumulate_event(event=event, current_snapshot=message, json_bufs=buffers)
            return message.to_dict()


def _check_chunks(values: list[Any]) -> None:
    assert len({(value["id"], value["created"], value["model"]) for value in values}) == 1
    calls = details = 0
    annotated = 0
    for value in values:
        assert value["object"] == "chat.completion.chunk"
        for choice in value["choices"]:
            delta = choice["delta"]
            assert (choice["finish_reason"] is None) or delta == {}
            for call in delta.get("tool_calls", ()):
                if "id" in call:
                    assert call["index"] == calls
                    assert call[call["type"]]["name"]
                    calls += 1
                else:
                    assert call["index"] == calls - 1, "one call at a time"
            for entry in delta.get("reasoning_details", ()):
                assert entry["index"] == details
                details += 1
            annotated += "annotations" in delta
    assert annotated <= 1


def _check_items(values: list[Any]) -> None:
    """Items and parts open and close in order, and every done text is the sum of its deltas."""
    items: dict[int, Any] = {}
    parts: dict[tuple[Any, ...], str] = {}
    for value in values:
        kind = value["type"]
        index = value.get("output_index")
        if kind == "response.output_item.added":
            assert index == len(items)
            assert not parts
            items[index] = value["item"]
        elif kind == "response.output_item.done":
            assert index == len(items) - 1
            _same_item(items[index], value["item"])
            assert not {key for key in parts if len(key) > 1}, "parts close before their item"
            parts.clear()
        elif index is not None:
            assert value["item_id"] == items[index]["id"]
            _step(kind, value, parts)


def _same_item(added: Any, done: Any) -> None:
    for name in ("id", "type", "call_id", "name", "namespace"):
        assert added.get(name) == done.get(name)
    assert done["status"] in ("completed", "incomplete")


def _step(kind: str, value: Any, parts: dict[tuple[Any, ...], str]) -> None:
    key = tuple(value[name] for name in ("summary_index", "content_index") if name in value)
    if kind.endswith("part.added"):
        assert key not in parts
        parts[key] = ""
    elif kind.endswith("part.done"):
        told = value["part"]
        assert parts.pop(key) == told.get("text", told.get("refusal"))
    elif kind.endswith(".delta"):
        assert value["delta"]
        assert key in parts or key == ()
        parts[key] = parts.get(key, "") + value["delta"]
    elif kind.endswith(".done"):
        final = next(value[name] for name in ("text", "refusal", "arguments", "input") if name in value)
        assert parts.get(key, "") == final
    elif kind == "response.output_text.annotation.added":
        assert key in parts


Check = Callable[[Protocol, bytes], None]
