"""The edits that an event may get on its way to a caller of the same protocol, every other byte kept."""

import re
from collections.abc import Iterable

import msgspec

from tidegate.core import json_text
from tidegate.core.json_text import Edit, JsonError, Span
from tidegate.core.sse import Form, Frame, reframed
from tidegate.protocols.base import Clean

_DATA_LINE = re.compile(rb"(?:\A|[\r\n])data: ?")
_TELLING = ("error", "message", "detail")
"""The members of an error event that hold what went wrong, in words."""
_DEEPEST = 16
_MODEL = re.compile(rb'"model"\s*:\s*("(?:[^"\\]|\\.)*")')
_ESCAPED = b"\\u006"
"""How an escape of any letter of `model` begins."""


def event_name(kind: str | None) -> bytes | None:
    """The `event:` value for an event of this type; None where it has none that fits on a line."""
    return None if kind is None or "\n" in kind or "\r" in kind else kind.encode()


def with_model(data: bytes, model: str, inside: str | None = None) -> bytes:
    """`data` with its `model` set, at the top or in the member `inside`; unchanged where it has none."""
    try:
        start, end = (0, len(data)) if inside is None else json_text.members(data)[inside]
        at, to = json_text.members(data[start:end])["model"]
    except (JsonError, KeyError):
        return data
    return json_text.replaced(data, [(start + at, start + to, msgspec.json.encode(model))])


def with_known_model(data: bytes, model: str, inside: str | None = None) -> bytes:
    """As `with_model`, quicker, for an object that is known to have a `model` at that place."""
    only = _MODEL.search(data) if data.count(b'"model"') == 1 and _ESCAPED not in data else None
    if only is None:
        return with_model(data, model, inside)
    return data[: only.start(1)] + msgspec.json.encode(model) + data[only.end(1) :]


def with_data(frame: Frame, data: bytes, event: bytes | None) -> bytes:
    """The event with other data: in its own bytes where it is plain and on one line, else re-framed."""
    line = _DATA_LINE.search(frame.raw)
    kept = frame.form is Form.PLAIN and frame.event == event and b"\n" not in frame.data
    if kept and line is not None:
        return frame.raw[: line.end()] + data + frame.raw[line.end() + len(frame.data) :]
    return reframed(Frame(b"", data, event, frame.id, frame.form), event)


def cleaned(data: bytes, clean: Clean) -> bytes | None:
    """An error event's JSON with all that it says of the error cleaned; the same bytes if that is nothing.

    None where it cannot be edited in place: a member that occurs twice, or nesting beyond reason.
    """
    try:
        return json_text.replaced(data, _edits_of_event(data, clean))
    except JsonError:
        return None


def _edits_of_event(data: bytes, clean: Clean) -> list[Edit]:
    top = json_text.members(data)
    spans = [top[name] for name in _TELLING if name in top]
    response = top.get("response")
    if response is not None and json_text.kind_of(data, response) == "object":
        error = json_text.members(data, response).get("error")
        spans += [] if error is None else [error]
    return _edits_of_all(data, spans, clean, _DEEPEST)


def _edits_of_all(data: bytes, spans: Iterable[Span], clean: Clean, depth: int) -> list[Edit]:
    return [edit for span in spans for edit in _edits_of_words(data, span, clean, depth)]


def _edits_of_words(data: bytes, span: Span, clean: Clean, depth: int) -> list[Edit]:
    """An upstream may wrap the words of its own upstream, so every string inside an error is cleaned."""
    if not depth:
        raise JsonError("The error is nested too deeply.")
    match json_text.kind_of(data, span):
        case "string":
            return _edits_of_text(data, span, clean)
        case "object":
            return _edits_of_all(data, json_text.members(data, span).values(), clean, depth - 1)
        case "array":
            return _edits_of_all(data, json_text.elements(data, span), clean, depth - 1)
        case "number" | "bool" | "null":
            return []


def _edits_of_text(data: bytes, span: Span, clean: Clean) -> list[Edit]:
    said = str(json_text.load(data, span))
    told = clean(said) if said else said
    return [] if told == said else [(*span, msgspec.json.encode(told))]
