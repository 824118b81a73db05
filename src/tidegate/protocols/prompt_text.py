"""Collects the texts of a request that count as prompt, for an estimate of its tokens."""

from collections.abc import Iterable, Iterator

import msgspec

from tidegate.core import json_text
from tidegate.core.json_text import JsonError
from tidegate.protocols.base import Asked

_SILENT_STRINGS = frozenset(
    {
        "type",
        "role",
        "id",
        "call_id",
        "tool_call_id",
        "tool_use_id",
        "status",
        "phase",
        "ttl",
        "signature",
        "encrypted_content",
        "encrypted_index",
        "data",
        "url",
        "image_url",
        "file_url",
        "file_id",
        "file_data",
        "media_type",
        "detail",
        "effort",
        "verbosity",
        "result",
        "display",
        "syntax",
    }
)
"""Members whose strings are ids, settings, base64 or addresses, which models do not read as text."""

_SILENT_MEMBERS = frozenset({"citations", "annotations", "logprobs"})
"""Members that repeat what stands elsewhere; providers do not count them."""

_AS_JSON = frozenset(
    {"parameters", "input_schema", "output_schema", "schema", "input", "arguments", "tools", "functions"}
)
"""Members whose arrays and objects reach the model as JSON text, names and brackets included."""

_IMAGE_TYPES = frozenset({"image", "image_url", "input_image", "computer_screenshot"})
_IMAGE_MARKS = (b'image"', b'image_url"', b'screenshot"', b"\\u")
_DATA_URL = "data:"


def texts(asked: Asked, names: Iterable[str]) -> Iterator[str]:
    """The texts in the top-level members `names`, in order; base64 and addresses left out.

    Takes any shape and depth: what cannot be decoded is given as it stands.
    """
    for name in names:
        span = asked.members.get(name)
        if span is None:
            continue
        try:
            value = json_text.load(asked.body, span)
        except JsonError:
            yield asked.body[slice(*span)].decode("utf-8", "replace")
            continue
        yield from _texts_of(name if name != "input" else "", value)


def image_count(asked: Asked) -> int:
    """How many images the messages or the input show, whatever their form; documents are not counted."""
    if not any(mark in asked.body for mark in _IMAGE_MARKS):
        return 0
    count = 0
    for name in ("messages", "input"):
        span = asked.members.get(name)
        if span is not None:
            count += _images_in(asked.body, span)
    return count


def _images_in(text: bytes, span: json_text.Span) -> int:
    try:
        pending = [json_text.load(text, span)]
    except JsonError:
        return 0
    count = 0
    while pending:
        match pending.pop():
            case dict() as value:
                kind = value.get("type")
                count += isinstance(kind, str) and kind in _IMAGE_TYPES
                pending.extend(value.values())
            case list() as value:
                pending.extend(value)
            case _:  # scalars show nothing
                pass
    return count


def _texts_of(name: str, value: object, as_json: frozenset[str] = _AS_JSON) -> Iterator[str]:
    """Depth first with a stack of its own, so that hostile nesting costs no recursion."""
    pending = [(name, value)]
    while pending:
        name, value = pending.pop()
        match value:
            case str():
                if name not in _SILENT_STRINGS and not value.startswith(_DATA_URL):
                    yield value
            case dict() | list() if name in as_json:
                yield from _json(value)
            case dict():
                pending.extend(reversed(_spoken_members(value)))
            case list():
                pending.extend((name, element) for element in reversed(value))
            case _:  # numbers, booleans and null weigh next to nothing
                pass


def _spoken_members(value: dict[str, object]) -> list[tuple[str, object]]:
    """The members to look into; `data` of a plain text source is text under another name."""
    is_text = value.get("type") == "text"
    return [
        ("text" if is_text and name == "data" else name, member)
        for name, member in value.items()
        if name not in _SILENT_MEMBERS
    ]


def _json(value: dict[str, object] | list[object]) -> Iterator[str]:
    """The value as JSON text; what is nested beyond encoding string by string instead."""
    try:
        yield msgspec.json.encode(value).decode()
    except RecursionError:
        yield from _texts_of("", value, frozenset())
