"""Reads a Responses request as far as the gateway must, and writes it for a responses channel."""

import re
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from tidegate.core import json_text
from tidegate.core.failure import Failure
from tidegate.core.json_text import Edit, Span
from tidegate.core.protocol import Protocol
from tidegate.protocols import passthrough, prompt_text
from tidegate.protocols.base import Asked, Repair
from tidegate.protocols.request_body import (
    ARRAY,
    BOOL,
    NUMBER,
    OBJECT,
    STRING,
    RequestBody,
    Shapes,
    invalid,
    read_body,
    read_model,
    unsupported,
)

SHAPES: Shapes = {
    "model": STRING,
    "input": STRING + ARRAY,
    "instructions": STRING + ARRAY,
    "stream": BOOL,
    "stream_options": OBJECT,
    "max_output_tokens": NUMBER,
    "temperature": NUMBER,
    "top_p": NUMBER,
    "top_logprobs": NUMBER,
    "tools": ARRAY,
    "tool_choice": STRING + OBJECT,
    "parallel_tool_calls": BOOL,
    "max_tool_calls": NUMBER,
    "text": OBJECT,
    "reasoning": OBJECT,
    "include": ARRAY,
    "store": BOOL,
    "previous_response_id": STRING,
    "conversation": STRING + OBJECT,
    "background": BOOL,
    "prompt": OBJECT,
    "truncation": STRING,
    "service_tier": STRING,
    "metadata": OBJECT,
    "user": STRING,
    "safety_identifier": STRING,
    "prompt_cache_key": STRING,
}

_PROMPT = ("instructions", "input", "tools", "text", "prompt")
_REASONING_ID = "rs_"
_LOST_REASONING = re.compile(
    r"invalid_encrypted_content"
    r"|encrypted[ _]content.*(?:could not|cannot|can not|failed|invalid|unable|not be)"
    r"|reasoning.*(?:without its required|not found|missing|does not exist)"
    r"|(?:without its required|not found|missing).*reasoning"
    r"|\brs_\w+.*(?:not found|does not exist)",
    re.DOTALL,
)


class _Item(Struct):
    """What tells a reference to a stored item from an item that is whole."""

    type: object = None
    id: object = None
    role: object = None


_ITEMS = msgspec.json.Decoder(list[_Item])


def read_request(body: bytes) -> Asked | Failure:
    """Check a caller's body and read what the gateway needs; ranges of values are the upstream's to judge."""
    read = read_body(body, SHAPES)
    if isinstance(read, Failure):
        return read
    model = read_model(read)
    if isinstance(model, Failure):
        return model
    refused = _wants_server_state(read)
    if refused is not None:
        return refused
    references = _read_references(read)
    if isinstance(references, Failure):
        return references
    previous = read.string("previous_response_id")
    return Asked(
        protocol=Protocol.RESPONSES,
        body=read.text,
        members=read.members,
        model=model,
        stream=read.is_true("stream"),
        wants_usage=True,
        stores=read.is_true("store") or not read.has("store"),
        response_ids=() if previous is None else (previous,),
        item_ids=references,
    )


def write_request(asked: Asked, upstream_model: str) -> bytes:
    """The body for a responses channel: its model name, and no carriers of reasoning."""
    edits = passthrough.model_edits(asked, upstream_model)
    if passthrough.may_hold_carriers(asked):
        edits += _without_items(asked, carriers_only=True)
    return passthrough.edited(asked, edits)


def repair(asked: Asked, refusal: Failure) -> Repair | None:
    """REASONING where the refusal is about reasoning items that the input has; STREAM_OPTIONS likewise."""
    words = passthrough.refusal_words(refusal)
    if words is None:
        return None
    if "stream_options" in words and "stream_options" in asked.members:
        return Repair.STREAM_OPTIONS
    if not _LOST_REASONING.search(words):
        return None
    without = write_repaired(asked, asked.model, Repair.REASONING)
    return None if without == write_request(asked, asked.model) else Repair.REASONING


def write_repaired(asked: Asked, upstream_model: str, repair: Repair) -> bytes:
    """The body without any reasoning item (references to them included), or without `stream_options`."""
    edits = passthrough.model_edits(asked, upstream_model)
    match repair:
        case Repair.REASONING:
            edits += _without_items(asked, carriers_only=False)
        case Repair.STREAM_OPTIONS:
            edits += passthrough.without_member(asked, "stream_options")
            edits += _without_items(asked, carriers_only=True) if passthrough.may_hold_carriers(asked) else []
        case Repair.THINKING:
            return write_request(asked, upstream_model)
    return passthrough.edited(asked, edits)


def prompt_texts(asked: Asked) -> Iterator[str]:
    """The texts of instructions, input, tools, the output schema and a template's variables."""
    return prompt_text.texts(asked, _PROMPT)


def _wants_server_state(body: RequestBody) -> Failure | None:
    """Refuse what would live on at the upstream, beyond the account of one caller (CONTRACT.md)."""
    if body.has("conversation"):
        return unsupported("`conversation` is not supported by this gateway.", "conversation")
    if body.is_true("background"):
        return unsupported("`background: true` is not supported by this gateway.", "background")
    return None


def _read_references(body: RequestBody) -> tuple[str, ...] | Failure:
    """Ids of stored items in the input: `item_reference`, also where its optional type is left out.

    Without any `id` member (spelled plainly or with escapes) nothing can be one: the usual quick answer.
    """
    span = body.members.get("input")
    if span is None or json_text.kind_of(body.text, span) != "array":
        return ()
    part = body.text[slice(*span)]
    if b'"id"' not in part and b"\\u" not in part:
        return ()
    try:
        items = _ITEMS.decode(part)
    except msgspec.ValidationError as error:
        return _wrong_item(error)
    except (msgspec.DecodeError, RecursionError):
        return _references_in(body.value("input"))
    return tuple(item.id for item in items if isinstance(item.id, str) and _refers(item.type, item.role))


def _references_in(items: object) -> tuple[str, ...] | Failure:
    """The slow way, for texts that the quick decoder does not take."""
    if not isinstance(items, list):
        return invalid("`input` cannot be read.", "input")
    found = []
    for number, item in enumerate(items):
        if not isinstance(item, dict):
            return invalid(f"`input[{number}]` must be an object.", f"input[{number}]")
        identifier = item.get("id")
        if isinstance(identifier, str) and _refers(item.get("type"), item.get("role")):
            found.append(identifier)
    return tuple(found)


def _refers(type_: object, role: object) -> bool:
    """An item without a type is a message if it has a role, else a reference."""
    return type_ == "item_reference" or (type_ is None and role is None)


def _wrong_item(error: msgspec.ValidationError) -> Failure:
    number = re.search(r"\$\[(\d+)\]", str(error))
    where = "input" if number is None else f"input[{number.group(1)}]"
    return invalid(f"`{where}` must be an object.", where)


def _without_items(asked: Asked, *, carriers_only: bool) -> list[Edit]:
    def doomed(item: Span) -> bool:
        if carriers_only and passthrough.CARRIER_MARK not in asked.body[slice(*item)]:
            return False
        value = passthrough.dict_at(asked.body, item)
        if value.get("type") == "reasoning":
            return not carriers_only or passthrough.is_carrier(value.get("encrypted_content"))
        return not carriers_only and _refers_to_reasoning(value)

    return passthrough.without_elements(asked.body, asked.members.get("input"), doomed)


def _refers_to_reasoning(item: dict[str, object]) -> bool:
    identifier = item.get("id")
    refers = _refers(item.get("type"), item.get("role"))
    return refers and isinstance(identifier, str) and identifier.startswith(_REASONING_ID)
