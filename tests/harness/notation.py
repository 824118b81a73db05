"""The short notation for upstream events: each function gives the bytes of one event."""

import json
from collections.abc import Iterable
from typing import Any

DONE = b"data: [DONE]\n\n"
Json = dict[str, Any]


def dumps(value: object) -> str:
    """Compact JSON text with unescaped characters."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def data(value: object) -> bytes:
    """A Chat event."""
    return f"data: {dumps(value)}\n\n".encode()


def named(name: str, value: object) -> bytes:
    """A Messages or Responses event."""
    return f"event: {name}\ndata: {dumps(value)}\n\n".encode()


# Chat


def chunk(choices: object, model: str = "up", **extra: object) -> Json:
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": model,
        "choices": choices,
        **extra,
    }


def k(delta: Json, finish: str | None = None, *, index: int = 0, model: str = "up") -> bytes:
    """One chunk with one choice."""
    return data(chunk([{"index": index, "delta": delta, "finish_reason": finish}], model))


def t(index: int, id: str | None, name: str | None, args: str | None) -> Json:
    """A tool call delta; None leaves the key out."""
    function = {key: value for key, value in (("name", name), ("arguments", args)) if value is not None}
    call: Json = {"index": index}
    if id is not None:
        call |= {"id": id, "type": "function"}
    return {"tool_calls": [{**call, "function": function}]}


def u(usage: Json, model: str = "up") -> bytes:
    """The usage chunk."""
    return data(chunk([], model, usage=usage))


# Messages


def ms(usage: Json | None = None, *, model: str = "up", id: str = "msg_1") -> bytes:
    """message_start."""
    message: Json = {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage or {"input_tokens": 10, "output_tokens": 1},
    }
    return named("message_start", {"type": "message_start", "message": message})


def bs(index: int, block: Json | str) -> bytes:
    """content_block_start; a string stands for an empty block of that type."""
    if isinstance(block, str):
        block = {
            "text": {"type": "text", "text": ""},
            "thinking": {"type": "thinking", "thinking": "", "signature": ""},
        }[block]
    return named(
        "content_block_start", {"type": "content_block_start", "index": index, "content_block": block}
    )


def bd(index: int, delta: Json) -> bytes:
    """content_block_delta."""
    return named("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta})


def text(value: str) -> Json:
    return {"type": "text_delta", "text": value}


def think(value: str) -> Json:
    return {"type": "thinking_delta", "thinking": value}


def sig(value: str) -> Json:
    return {"type": "signature_delta", "signature": value}


def args(value: str) -> Json:
    return {"type": "input_json_delta", "partial_json": value}


def be(index: int) -> bytes:
    """content_block_stop."""
    return named("content_block_stop", {"type": "content_block_stop", "index": index})


def md(stop_reason: str, usage: Json | None = None, **delta: object) -> bytes:
    """message_delta."""
    value = {
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason, "stop_sequence": None, **delta},
        "usage": usage or {"output_tokens": 7},
    }
    return named("message_delta", value)


me = named("message_stop", {"type": "message_stop"})
ping = named("ping", {"type": "ping"})


def aerr(type: str, message: str) -> bytes:
    """An Anthropic error event."""
    return named("error", {"type": "error", "error": {"type": type, "message": message}})


# Responses


def r(*events: tuple[str, Json], start: int = 0) -> list[bytes]:
    """Events numbered from `start`."""
    return [
        named(type, {"type": type, "sequence_number": start + number, **fields})
        for number, (type, fields) in enumerate(events)
    ]


def response(status: str, *, model: str = "up", id: str = "resp_1", **fields: object) -> Json:
    """The `response` member of a lifecycle event."""
    return {
        "response": {
            "id": id,
            "object": "response",
            "created_at": 1,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "model": model,
            "output": [],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": None,
            **fields,
        }
    }


def created(model: str = "up", id: str = "resp_1") -> tuple[str, Json]:
    return "response.created", response("in_progress", model=model, id=id)


def in_progress(model: str = "up", id: str = "resp_1") -> tuple[str, Json]:
    return "response.in_progress", response("in_progress", model=model, id=id)


def added(item: Json, index: int = 0) -> tuple[str, Json]:
    return "response.output_item.added", {"output_index": index, "item": item}


def item_done(item: Json, index: int = 0) -> tuple[str, Json]:
    return "response.output_item.done", {"output_index": index, "item": item}


def message_item(content: str | None = None, status: str = "in_progress", id: str = "msg_1") -> Json:
    part = [] if content is None else [output_text(content)]
    return {"id": id, "type": "message", "status": status, "role": "assistant", "content": part}


def output_text(value: str) -> Json:
    return {"type": "output_text", "text": value, "annotations": [], "logprobs": []}


def part_added(value: str = "", id: str = "msg_1", index: int = 0) -> tuple[str, Json]:
    place = {"item_id": id, "output_index": index, "content_index": 0}
    return "response.content_part.added", {**place, "part": output_text(value)}


def text_delta(value: str, id: str = "msg_1", index: int = 0) -> tuple[str, Json]:
    place = {"item_id": id, "output_index": index, "content_index": 0}
    return "response.output_text.delta", {**place, "delta": value, "logprobs": []}


def text_done(value: str, id: str = "msg_1", index: int = 0) -> list[tuple[str, Json]]:
    """text.done, part.done and item.done of a message item."""
    place = {"item_id": id, "output_index": index, "content_index": 0}
    return [
        ("response.output_text.done", {**place, "text": value, "logprobs": []}),
        ("response.content_part.done", {**place, "part": output_text(value)}),
        item_done(message_item(value, "completed", id), index),
    ]


def joined(events: Iterable[bytes]) -> bytes:
    return b"".join(events)
