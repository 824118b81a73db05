"""Tells a whole answer of Messages as a stream."""

from collections.abc import Iterator

from msgspec import Raw

from tidegate.protocols.base import Asked
from tidegate.protocols.event_text import named_event
from tidegate.protocols.raw_json import (
    EMPTY_TEXT,
    NULL,
    array_of,
    is_told,
    members_of,
    object_of,
    objects_of,
    picked,
    says_something,
    string_of,
    without,
)

Members = dict[str, Raw]
Payload = dict[str, object]

_TOLD_AT_THE_END = ("stop_reason", "stop_sequence", "stop_details", "container")
_COUNTED_AT_THE_END = ("output_tokens", "output_tokens_details", "server_tool_use")
_CALLS = frozenset({"tool_use", "server_tool_use"})


def replay(asked: Asked, body: bytes) -> bytes:
    """The events from `message_start` to `message_stop`.

    The SDKs need both usage objects. Where the answer tells no output count, a zero stands in `message_start`
    as in any stream, and `message_delta` tells nothing that the answer does not.
    """
    del asked
    answer = members_of(body)
    usage = object_of(answer.get("usage"))
    events = [_start(answer, usage)]
    for index, block in enumerate(objects_of(answer.get("content"))):
        events.extend(_block(index, block))
    ending = {name: raw for name, raw in picked(answer, *_TOLD_AT_THE_END).items() if is_told(raw)}
    delta: Payload = {"stop_reason": NULL, "stop_sequence": NULL, **ending}
    events.append({"type": "message_delta", "delta": delta, "usage": usage})
    events.append({"type": "message_stop"})
    return b"".join(map(named_event, events))


def _start(answer: Members, usage: Members) -> Payload:
    first: Payload = {"input_tokens": 0, **without(usage, *_COUNTED_AT_THE_END), "output_tokens": 0}
    message: Payload = {
        **picked(answer, "id"),
        "type": "message",
        "role": answer.get("role", "assistant"),
        **picked(answer, "model"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        **without(answer, "id", "type", "role", "model", "content", "usage", *_TOLD_AT_THE_END),
        "usage": first,
    }
    return {"type": "message_start", "message": message}


def _block(index: int, block: Members) -> Iterator[Payload]:
    """One block's events. A block of a kind that has no deltas is whole in its start."""
    kind = string_of(block.get("type"))
    if kind == "text":
        opened, deltas = _text(block)
    elif kind == "thinking":
        opened, deltas = _thinking(block)
    elif kind in _CALLS:
        opened, deltas = _call(block)
    else:
        opened, deltas = {**block}, []
    yield {"type": "content_block_start", "index": index, "content_block": opened}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _text(block: Members) -> tuple[Payload, list[Payload]]:
    opened: Payload = {**block, "text": EMPTY_TEXT}
    deltas: list[Payload] = []
    if says_something(block.get("text")):
        deltas.append({"type": "text_delta", "text": block["text"]})
    citations = array_of(block.get("citations"))
    if citations:
        opened["citations"] = []
    deltas.extend({"type": "citations_delta", "citation": citation} for citation in citations)
    return opened, deltas


def _thinking(block: Members) -> tuple[Payload, list[Payload]]:
    opened: Payload = {**block, "thinking": EMPTY_TEXT, "signature": EMPTY_TEXT}
    deltas: list[Payload] = [
        {"type": f"{name}_delta", name: block[name]}
        for name in ("thinking", "signature")
        if says_something(block.get(name))
    ]
    return opened, deltas


def _call(block: Members) -> tuple[Payload, list[Payload]]:
    """The input's own JSON text is the one fragment; no input is no fragment."""
    given = block.get("input")
    opened: Payload = {**block, "input": {}}
    if given is None or not is_told(given) or bytes(given) == b"{}":
        return opened, []
    return opened, [{"type": "input_json_delta", "partial_json": bytes(given).decode()}]
