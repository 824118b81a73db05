"""Reads a Messages request as far as the gateway must, and writes it for a messages channel."""

import re
from collections.abc import Callable, Iterator

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
    Shapes,
    invalid,
    lacks_messages,
    read_body,
    read_model,
    value_at,
)

SHAPES: Shapes = {
    "model": STRING,
    "messages": ARRAY,
    "max_tokens": NUMBER,
    "system": STRING + ARRAY,
    "stream": BOOL,
    "temperature": NUMBER,
    "top_p": NUMBER,
    "top_k": NUMBER,
    "stop_sequences": ARRAY,
    "tools": ARRAY,
    "tool_choice": OBJECT,
    "thinking": OBJECT,
    "output_config": OBJECT,
    "output_format": OBJECT,
    "metadata": OBJECT,
    "service_tier": STRING,
    "cache_control": OBJECT,
    "context_management": OBJECT,
    "mcp_servers": ARRAY,
}

_PROMPT = ("system", "messages", "tools", "output_config", "output_format")
_REFUSED_THINKING = re.compile(
    r"thinking.*(?:signature|cannot be modified|must remain)"
    r"|signature.*thinking"
    r"|invalid data in redacted_thinking"
    r"|expected (?:redacted_)?thinking",
    re.DOTALL,
)


def read_request(body: bytes) -> Asked | Failure:
    """Check a caller's body and read what the gateway needs; ranges of values are the upstream's to judge."""
    asked = read_count_request(body)
    if isinstance(asked, Failure):
        return asked
    limit = asked.members.get("max_tokens")
    if limit is None or json_text.kind_of(asked.body, limit) != "number":
        said = "is missing" if limit is None else "must be a number"
        return invalid(f"`max_tokens` {said}.", "max_tokens")
    return asked


def read_count_request(body: bytes) -> Asked | Failure:
    """As `read_request`, for `count_tokens`, where `max_tokens` may be left out."""
    read = read_body(body, SHAPES)
    if isinstance(read, Failure):
        return read
    model = read_model(read)
    if isinstance(model, Failure):
        return model
    missing = lacks_messages(read)
    if missing is not None:
        return missing
    return Asked(
        protocol=Protocol.MESSAGES,
        body=read.text,
        members=read.members,
        model=model,
        stream=read.is_true("stream"),
        wants_usage=True,
    )


def write_request(asked: Asked, upstream_model: str) -> bytes:
    """The body for a messages channel: its model name, and no carriers of reasoning."""
    return passthrough.edited(
        asked, passthrough.model_edits(asked, upstream_model) + _without_carriers(asked)
    )


def repair(asked: Asked, refusal: Failure) -> Repair | None:
    """THINKING where the refusal is about thinking blocks that the history has."""
    words = passthrough.refusal_words(refusal)
    if words is None or not _REFUSED_THINKING.search(words) or not _without_thinking(asked):
        return None
    without = write_repaired(asked, asked.model, Repair.THINKING)
    return None if without == write_request(asked, asked.model) else Repair.THINKING


def write_repaired(asked: Asked, upstream_model: str, repair: Repair) -> bytes:
    """The body without thinking blocks, and with manual thinking off where it would demand them."""
    match repair:
        case Repair.THINKING:
            edits = passthrough.model_edits(asked, upstream_model) + _without_thinking(asked)
            if _is_manual(asked) and _continues_tool_calls(asked):
                edits += _thinking_off(asked)
            return passthrough.edited(asked, edits)
        case Repair.STREAM_OPTIONS | Repair.REASONING:
            return write_request(asked, upstream_model)


def prompt_texts(asked: Asked) -> Iterator[str]:
    """The texts of system, messages, tools and the output schema."""
    return prompt_text.texts(asked, _PROMPT)


def _is_thinking(block: dict[str, object]) -> bool:
    return block.get("type") in ("thinking", "redacted_thinking")


def _is_carrier(block: dict[str, object]) -> bool:
    return _is_thinking(block) and (
        passthrough.is_carrier(block.get("signature")) or passthrough.is_carrier(block.get("data"))
    )


def _without_thinking(asked: Asked) -> list[Edit]:
    return _without_blocks(asked, b"thinking", _is_thinking)


def _without_carriers(asked: Asked) -> list[Edit]:
    if not passthrough.may_hold_carriers(asked):
        return []
    return _without_blocks(asked, passthrough.CARRIER_MARK, _is_carrier)


def _without_blocks(asked: Asked, mark: bytes, doomed: Callable[[dict[str, object]], bool]) -> list[Edit]:
    """Edits that take blocks out of assistant messages; a message that they leave empty goes whole.

    Only messages that hold the bytes `mark` are taken apart.
    """
    text = asked.body

    def without(message: Span) -> list[Edit] | None:
        if mark not in text[slice(*message)]:
            return []
        members = passthrough.members_at(text, message)
        content = members.get("content")
        role = members.get("role")
        if content is None or role is None or value_at(text, role) != "assistant":
            return []
        blocks = passthrough.elements_at(text, content)
        numbers = {number for number, block in enumerate(blocks) if doomed(passthrough.dict_at(text, block))}
        if numbers and len(numbers) == len(blocks):
            return None
        return passthrough.removals(text, content[0], blocks, numbers)

    return passthrough.without_parts(text, asked.members["messages"], without)


def _is_manual(asked: Asked) -> bool:
    span = asked.members.get("thinking")
    return span is not None and passthrough.dict_at(asked.body, span).get("type") == "enabled"


def _continues_tool_calls(asked: Asked) -> bool:
    """Whether the last user turn holds tool results: then the API wants the thinking before the calls."""
    for span in reversed(passthrough.elements_at(asked.body, asked.members["messages"])):
        message = passthrough.dict_at(asked.body, span)
        if message.get("role") == "system":
            continue
        content = message.get("content")
        blocks = content if isinstance(content, list) and message.get("role") == "user" else []
        return any(isinstance(block, dict) and block.get("type") == "tool_result" for block in blocks)
    return False


def _thinking_off(asked: Asked) -> list[Edit]:
    """Switch thinking off, and drop the context edits that the API only takes while it is on."""
    start, end = asked.members["thinking"]
    off: Edit = (start, end, b'{"type":"disabled"}')
    management = asked.members.get("context_management")
    if management is None:
        return [off]
    edits = passthrough.members_at(asked.body, management).get("edits")

    def clears_thinking(edit: Span) -> bool:
        kind = passthrough.dict_at(asked.body, edit).get("type")
        return isinstance(kind, str) and kind.startswith("clear_thinking_")

    return [off, *passthrough.without_elements(asked.body, edits, clears_thinking)]
