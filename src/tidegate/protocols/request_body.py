"""Checks a caller's body as far as every dialect does it the same way: JSON, types of members, the model."""

import re
from collections.abc import Mapping
from typing import TypeAlias

import msgspec
from msgspec import Struct

from tidegate.core import json_text
from tidegate.core.failure import Failure, Kind
from tidegate.core.json_text import JsonError, JsonKind, Span

Shapes: TypeAlias = Mapping[str, tuple[JsonKind, ...]]
"""Which kinds of value the well-known top-level members may have; null is always one more."""

STRING: tuple[JsonKind, ...] = ("string",)
NUMBER: tuple[JsonKind, ...] = ("number",)
BOOL: tuple[JsonKind, ...] = ("bool",)
OBJECT: tuple[JsonKind, ...] = ("object",)
ARRAY: tuple[JsonKind, ...] = ("array",)

MODEL_LIMIT = 512
"""Longest model name in characters."""

_EMPTY_ARRAY = re.compile(rb"\[[ \t\n\r]*\]")


class RequestBody(Struct, frozen=True):
    """A checked JSON object: its text without a byte order mark, and the spans of its top-level values."""

    text: bytes
    members: Mapping[str, Span]

    def has(self, name: str) -> bool:
        """Whether the member is there and not null."""
        span = self.members.get(name)
        return span is not None and json_text.kind_of(self.text, span) != "null"

    def is_true(self, name: str) -> bool:
        """Whether the member is there and true."""
        span = self.members.get(name)
        return span is not None and self.text.startswith(b"true", span[0])

    def value(self, name: str) -> object:
        """The decoded value; None where it is absent, null, or cannot be decoded."""
        span = self.members.get(name)
        return None if span is None else value_at(self.text, span)

    def string(self, name: str) -> str | None:
        """The value where it is a string."""
        value = self.value(name)
        return value if isinstance(value, str) else None


class _Glimpse(Struct, frozen=True):
    """What the row of a refused request can still tell."""

    model: object = None
    stream: object = None


_GLIMPSE = msgspec.json.Decoder(_Glimpse)


def read_body(body: bytes, shapes: Shapes) -> RequestBody | Failure:
    """Check a body and the types of its well-known members; everything else is the upstream's to judge."""
    text = json_text.without_bom(body)
    try:
        members = json_text.members(text)
    except JsonError as error:
        return invalid(error.message, None if error.member is None else json_text.shown(error.member))
    for name, span in members.items():
        kinds = shapes.get(name)
        kind = json_text.kind_of(text, span)
        if kinds is not None and kind != "null" and kind not in kinds:
            return invalid(f"`{name}` must be {_in_words(kinds)}, not {_in_words((kind,))}.", name)
    return RequestBody(text, members)


def glimpse(body: bytes) -> tuple[str | None, bool]:
    """The model that a refused body asks for, and whether as a stream, as far as it can be read."""
    try:
        seen = _GLIMPSE.decode(json_text.without_bom(body))
    except (msgspec.DecodeError, RecursionError):
        return None, False
    return seen.model if isinstance(seen.model, str) else None, seen.stream is True


def read_model(body: RequestBody) -> str | Failure:
    """The model that the caller asks for: a string that is neither empty nor beyond MODEL_LIMIT."""
    model = body.string("model")
    if model is None:
        said = "must be a string" if "model" in body.members else "is missing"
        return invalid(f"`model` {said}.", "model")
    if not model:
        return invalid("`model` is empty.", "model")
    if len(model) > MODEL_LIMIT:
        return invalid(f"`model` is longer than {MODEL_LIMIT} characters.", "model")
    return model


def lacks_messages(body: RequestBody) -> Failure | None:
    """Why the conversation is no array with at least one message, if so."""
    if not body.has("messages"):
        said = "must be an array" if "messages" in body.members else "is missing"
        return invalid(f"`messages` {said}.", "messages")
    if _EMPTY_ARRAY.match(body.text, body.members["messages"][0]):
        return invalid("`messages` is empty: at least one message is needed.", "messages")
    return None


def invalid(message: str, param: str | None) -> Failure:
    """The request itself is wrong; `param` names the member at fault."""
    return Failure(kind=Kind.INVALID_REQUEST, message=message, param=param)


def unsupported(message: str, param: str) -> Failure:
    """The request asks for what this gateway does not offer."""
    return Failure(kind=Kind.UNSUPPORTED_PARAMETER, message=message, param=param)


def value_at(text: bytes, span: Span) -> object:
    """The decoded value at `span`; None also where it is beyond decoding, which the upstream may judge."""
    try:
        return json_text.load(text, span)
    except JsonError:
        return None


def _in_words(kinds: tuple[JsonKind, ...]) -> str:
    return " or ".join(_word(kind) for kind in kinds)


def _word(kind: JsonKind) -> str:
    match kind:
        case "string" | "number":
            return f"a {kind}"
        case "object" | "array":
            return f"an {kind}"
        case "bool":
            return "true or false"
        case "null":
            return "null"
