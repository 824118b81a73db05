"""Events as upstreams of the three protocols write them: short ways to tell a stream."""

from typing import Any

from tests.unit.protocols.frames import data, named

DONE = data("[DONE]")


def chunk(delta: Any, reason: str | None = None, **members: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return data({"id": "c1", "object": "chat.completion.chunk", "choices": [choice], **members})


def call(index: int | None, id_: str | None, name: str | None, arguments: Any) -> dict[str, Any]:
    """One entry of `tool_calls`; what is None is left out."""
    function = {"name": name, "arguments": arguments}
    entry = {"index": index, "id": id_, "function": {k: v for k, v in function.items() if v is not None}}
    return {name: member for name, member in entry.items() if member is not None}


def calls(*entries: dict[str, Any]) -> bytes:
    return chunk({"tool_calls": list(entries)})


def message(usage: Any = None) -> bytes:
    """The beginning of a Messages stream."""
    return named({"type": "message_start", "message": {"id": "m1", "content": [], "usage": usage}})


def begin(index: int | None, block: dict[str, Any]) -> bytes:
    return named({"type": "content_block_start", "index": index, "content_block": block})


def grow(index: int | None, **delta: Any) -> bytes:
    """A delta; its type follows from its member."""
    [(name, value)] = delta.items()
    kinds = {"partial_json": "input_json_delta", "citation": "citations_delta"}
    told = {"type": kinds.get(name, f"{name}_delta"), name: value}
    return named({"type": "content_block_delta", "index": index, "delta": told})


def stop(index: int | None) -> bytes:
    return named({"type": "content_block_stop", "index": index})


def ending(reason: str | None, usage: Any = None, **members: Any) -> bytes:
    return named({"type": "message_delta", "delta": {"stop_reason": reason, **members}, "usage": usage})


MESSAGE_STOP = named({"type": "message_stop"})


def created(**members: Any) -> bytes:
    """The beginning of a Responses stream."""
    return named({"type": "response.created", "response": {"id": "r1", "status": "in_progress", **members}})


def event(kind: str, index: int | None = 0, **members: Any) -> bytes:
    """An event of the item at `index`; `kind` without `response.`."""
    return named({"type": f"response.{kind}", "output_index": index, **members})


def added(index: int | None, item: dict[str, Any]) -> bytes:
    return event("output_item.added", index, item=item)


def done(index: int | None, item: dict[str, Any]) -> bytes:
    return event("output_item.done", index, item=item)


def completed(*output: dict[str, Any], status: str = "completed", **members: Any) -> bytes:
    response = {"id": "r1", "status": status, "output": list(output), **members}
    return named({"type": f"response.{status}", "response": response})


def spoken(text: str, **members: Any) -> dict[str, Any]:
    """A message item with one text."""
    return {"type": "message", "content": [{"type": "output_text", "text": text}], **members}
