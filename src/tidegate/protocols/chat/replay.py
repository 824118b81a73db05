"""Tells a whole answer of Chat Completions as a stream."""

from collections.abc import Iterator

from msgspec import Raw

from tidegate.protocols.base import Asked
from tidegate.protocols.event_text import DONE, data_event
from tidegate.protocols.loose import encoded
from tidegate.protocols.raw_json import (
    EMPTY_TEXT,
    NULL,
    array_of,
    as_text,
    is_text,
    is_told,
    members_of,
    object_of,
    objects_of,
    picked,
    says_something,
    value_of,
    without,
)

Members = dict[str, Raw]

_IN_EVERY_CHUNK = ("created", "model", "service_tier", "system_fingerprint")
_REASONING = ("reasoning_content", "reasoning")
_TOLD_APART = ("role", "content", "refusal", "tool_calls", "reasoning_details", *_REASONING)


def replay(asked: Asked, body: bytes) -> bytes:
    """The chunks, with a usage chunk if the answer tells its usage, and `[DONE]`.

    One delta per kind of content, so that the SDKs' accumulators, which add up strings and choke on lists
    that come twice, end with the same answer. Members that nobody here knows go along once, as they are.
    """
    del asked
    answer = members_of(body)
    head: dict[str, object] = {**picked(answer, "id"), "object": "chat.completion.chunk"}
    head |= picked(answer, *_IN_EVERY_CHUNK)
    extras: dict[str, object] = {**without(answer, "id", "object", "choices", "usage", *_IN_EVERY_CHUNK)}
    events = []
    for position, choice in enumerate(objects_of(answer.get("choices"))):
        for entry in _entries(position, choice):
            events.append(data_event({**head, "choices": [entry], **extras}))
            extras = {}
    if is_told(answer.get("usage")):
        events.append(data_event({**head, "choices": [], **extras, "usage": answer["usage"]}))
    return b"".join(events) + DONE


def _entries(position: int, choice: Members) -> Iterator[dict[str, object]]:
    """The `choices` entries of one choice: its deltas, then its finish."""
    index = value_of(choice.get("index"))
    index = index if isinstance(index, int) else position
    message = object_of(choice.get("message"))
    logprobs = choice.get("logprobs", NULL)
    bearer = next((name for name in ("content", "refusal") if says_something(message.get(name))), None)
    for delta in _deltas(message):
        told = {"logprobs": logprobs} if bearer in delta and "role" not in delta else {}
        yield {"index": index, "delta": delta, **told, "finish_reason": None}
    rest = without(choice, "index", "message", "delta", "logprobs", "finish_reason")
    late = {"logprobs": logprobs} if bearer is None and is_told(logprobs) else {}
    yield {"index": index, "delta": {}, **late, **rest, "finish_reason": choice.get("finish_reason", NULL)}


def _deltas(message: Members) -> Iterator[dict[str, object]]:
    yield {"role": message.get("role", "assistant"), **_opening(message.get("content", NULL))}
    yield from _reasoning(message)
    for name in ("content", "refusal"):
        if is_told(raw := message.get(name)) and raw != EMPTY_TEXT:
            yield {name: raw}
    for index, call in enumerate(objects_of(message.get("tool_calls"))):
        for part in _call_parts(index, call):
            yield {"tool_calls": [part]}
    for name, raw in without(message, *_TOLD_APART).items():
        if is_told(raw) and bytes(raw) != b"[]":
            yield {name: raw}


def _opening(content: Raw) -> dict[str, object]:
    """What the first delta has beside the role: accumulators add a string to a string only."""
    if not is_told(content):
        return {"content": NULL}
    return {"content": EMPTY_TEXT} if is_text(content) else {}


def _reasoning(message: Members) -> Iterator[dict[str, object]]:
    told = {name: raw for name, raw in picked(message, *_REASONING).items() if is_told(raw)}
    if told:
        yield {**told}
    if array_of(message.get("reasoning_details")):
        yield {"reasoning_details": _with_index(objects_of(message["reasoning_details"]))}


def _call_parts(index: int, call: Members) -> Iterator[dict[str, object]]:
    """A tool call is opened with its id and name; what it is called with follows."""
    kind, member = ("custom", "input") if "custom" in call else ("function", "arguments")
    called = object_of(call.get(kind))
    argument = as_text(called.get(member))
    start: dict[str, object] = {"index": index, **picked(call, "id"), "type": call.get("type", kind)}
    named: dict[str, object] = {**without(called, member), member: EMPTY_TEXT}
    yield start | {kind: named} | without(call, "index", "id", "type", kind)
    if argument != EMPTY_TEXT:
        yield {"index": index, kind: {member: argument}}


def _with_index(entries: list[Members]) -> list[Members]:
    """Accumulators tell the entries of a list apart by a whole number."""
    numbered = [value_of(entry.get("index")) for entry in entries]
    if all(isinstance(number, int) for number in numbered) and len(set(numbered)) == len(numbered):
        return entries
    return [entry | {"index": Raw(encoded(index))} for index, entry in enumerate(entries)]
