"""Tells a whole answer of Responses as a stream."""

from collections.abc import Iterator

from msgspec import Raw

from tidegate.protocols.base import Asked
from tidegate.protocols.event_text import named_event
from tidegate.protocols.raw_json import (
    EMPTY_TEXT,
    array_of,
    members_of,
    object_of,
    objects_of,
    says_something,
    string_of,
    without,
)

Members = dict[str, Raw]
Payload = dict[str, object]

_NOT_YET = ("output", "usage", "error", "incomplete_details", "completed_at", "tool_usage")
_TERMINALS = {
    "incomplete": "response.incomplete",
    "failed": "response.failed",
    "cancelled": "response.failed",
}
_PARTS = {
    "output_text": ("response.output_text", "text"),
    "refusal": ("response.refusal", "refusal"),
    "reasoning_text": ("response.reasoning_text", "text"),
}
_CALLS = {
    "function_call": ("response.function_call_arguments", "arguments"),
    "custom_tool_call": ("response.custom_tool_call_input", "input"),
}


def replay(asked: Asked, body: bytes) -> bytes:
    """The events from `response.created` to the terminal event, which holds the response as it is.

    Items of kinds that have no deltas here are added and done.
    """
    del asked
    response = members_of(body)
    opening: Payload = {**without(response, *_NOT_YET), "status": "in_progress", "output": [], "usage": None}
    events: list[Payload] = [
        {"type": "response.created", "response": opening},
        {"type": "response.in_progress", "response": opening},
    ]
    for index, item in enumerate(objects_of(response.get("output"))):
        events.extend(_item(index, item))
    terminal = _TERMINALS.get(string_of(response.get("status")), "response.completed")
    events.append({"type": terminal, "response": response})
    return b"".join(
        named_event({"type": event.pop("type"), "sequence_number": number, **event})
        for number, event in enumerate(events)
    )


def _item(index: int, item: Members) -> Iterator[Payload]:
    kind = string_of(item.get("type"))
    opened: Payload = {**item}
    if "status" in item:
        opened["status"] = "in_progress"
    place: Payload = {"item_id": item.get("id", ""), "output_index": index}
    inner: Iterator[Payload] = iter(())
    if kind == "message":
        opened["content"] = []
        inner = _parts(place, item)
    elif kind == "reasoning":
        later = ("content", "encrypted_content")
        opened = {name: value for name, value in opened.items() if name not in later} | {"summary": []}
        inner = _reasoning(place, item)
    elif kind in _CALLS:
        name, member = _CALLS[kind]
        opened[member] = EMPTY_TEXT
        inner = _argument(place, name, member, item)
    yield {"type": "response.output_item.added", "output_index": index, "item": opened}
    yield from inner
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _argument(place: Payload, name: str, member: str, item: Members) -> Iterator[Payload]:
    argument = item.get(member, EMPTY_TEXT)
    if says_something(argument):
        yield {"type": f"{name}.delta", **place, "delta": argument}
    yield {"type": f"{name}.done", **place, member: argument}


def _reasoning(place: Payload, item: Members) -> Iterator[Payload]:
    """The reasoning itself before its summary: who can show only one of them takes what comes first."""
    yield from _parts(place, item)
    for index, raw in enumerate(array_of(item.get("summary"))):
        at = {**place, "summary_index": index}
        part = object_of(raw)
        told = part.get("text", EMPTY_TEXT)
        yield {"type": "response.reasoning_summary_part.added", **at, "part": {**part, "text": EMPTY_TEXT}}
        if says_something(told):
            yield {"type": "response.reasoning_summary_text.delta", **at, "delta": told}
        yield {"type": "response.reasoning_summary_text.done", **at, "text": told}
        yield {"type": "response.reasoning_summary_part.done", **at, "part": part}


def _parts(place: Payload, item: Members) -> Iterator[Payload]:
    for index, part in enumerate(objects_of(item.get("content"))):
        yield from _part({**place, "content_index": index}, part)


def _part(at: Payload, part: Members) -> Iterator[Payload]:
    kind = string_of(part.get("type"))
    if kind not in _PARTS:
        yield {"type": "response.content_part.added", **at, "part": part}
        yield {"type": "response.content_part.done", **at, "part": part}
        return
    name, member = _PARTS[kind]
    told = part.get(member, EMPTY_TEXT)
    opened: Payload = {**part, member: EMPTY_TEXT}
    logged: Payload = {}
    if kind == "output_text":
        opened |= {"annotations": [], "logprobs": []}
        logged = {"logprobs": array_of(part.get("logprobs"))}
    yield {"type": "response.content_part.added", **at, "part": opened}
    if says_something(told):
        yield {"type": f"{name}.delta", **at, "delta": told, **logged}
    for index, annotation in enumerate(array_of(part.get("annotations"))):
        note: Payload = {"annotation_index": index, "annotation": annotation}
        yield {"type": "response.output_text.annotation.added", **at, **note}
    yield {"type": f"{name}.done", **at, member: told, **logged}
    yield {"type": "response.content_part.done", **at, "part": part}
