"""Reads a Messages request."""

from tidegate.core.protocol import Protocol
from tidegate.simulator.ask import (
    Ask,
    Auto,
    Choice,
    Forced,
    Json,
    Never,
    Thinking,
    Tool,
    digest_of,
    first_unanswered,
    invalid,
    object_at,
    objects,
    text_of,
    texts,
    tokens_in,
    whole_number,
)
from tidegate.simulator.trouble import Trouble

_BUILT_IN: dict[str, Json] = {
    "bash_": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    "text_editor_": {
        "type": "object",
        "properties": {"command": {"const": "view"}, "path": {"type": "string"}},
        "required": ["command", "path"],
    },
    "memory_": {
        "type": "object",
        "properties": {"command": {"const": "view"}, "path": {"const": "/memories"}},
        "required": ["command", "path"],
    },
}
"""Client tools whose schema the provider knows, by the beginning of their type."""


def read(body: Json, raw: bytes, salt: str = "") -> Ask | Trouble:
    """The request, or the 400 it deserves. `salt` makes ids differ between equal requests."""
    limit = whole_number(body.get("max_tokens"))
    if limit is None or limit < 0:
        return invalid("max_tokens: a whole number is required", "max_tokens")
    return _read(body, raw, salt, limit)


def read_for_count(body: Json, raw: bytes) -> Ask | Trouble:
    """The same for `count_tokens`, which has no limit."""
    return _read(body, raw, "", None)


def _read(body: Json, raw: bytes, salt: str, limit: int | None) -> Ask | Trouble:
    messages = objects(body.get("messages"))
    if fault := _fault(messages):
        return fault
    wish = object_at(body, "tool_choice")
    wanted = object_at(object_at(body, "output_config"), "format") or object_at(body, "output_format")
    return Ask(
        protocol=Protocol.MESSAGES,
        model=str(body["model"]),
        digest=digest_of(raw, salt),
        prompt_tokens=tokens_in(messages, body.get("system"), body.get("tools")),
        stream=body.get("stream") is True,
        tools=tuple(tool for entry in objects(body.get("tools")) if (tool := _tool(entry))),
        choice=_choice(wish),
        parallel=wish.get("disable_parallel_tool_use") is not True,
        schema=object_at(wanted, "schema") if wanted.get("type") == "json_schema" else None,
        thinking=_thinking(object_at(body, "thinking")),
        limit=limit,
        stops=texts(body.get("stop_sequences")),
        tool_result=_result(messages),
        carriers=_signatures(messages),
        members=frozenset(body),
    )


def _fault(messages: list[Json]) -> Trouble | None:
    if not messages:
        return invalid("messages: at least one message is required", "messages")
    for nth, message in enumerate(messages):
        content = objects(message.get("content"))
        calls = [str(block.get("id")) for block in content if block.get("type") == "tool_use"]
        following = objects(messages[nth + 1].get("content")) if nth + 1 < len(messages) else []
        results = {str(b.get("tool_use_id")) for b in following if b.get("type") == "tool_result"}
        if missing := first_unanswered(calls, results):
            return invalid(
                f"messages.{nth}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{missing}",
                "messages",
            )
    return None


def _tool(entry: Json) -> Tool | None:
    name, kind = entry.get("name"), entry.get("type")
    if not isinstance(name, str):
        return None
    if kind in (None, "custom"):
        return Tool(name, schema=object_at(entry, "input_schema"))
    known = next((schema for start, schema in _BUILT_IN.items() if str(kind).startswith(start)), None)
    return Tool(name, schema=known) if known else None


def _choice(wish: Json) -> Choice:
    match wish:
        case {"type": "none"}:
            return Never()
        case {"type": "any"}:
            return Forced()
        case {"type": "tool", "name": str(name)}:
            return Forced(name)
        case _:  # auto, absent, or of a newer kind
            return Auto()


def _thinking(wish: Json) -> Thinking:
    if wish.get("type") not in ("enabled", "adaptive"):
        return Thinking.OFF
    return Thinking.HIDDEN if wish.get("display") == "omitted" else Thinking.SHOWN


def _result(messages: list[Json]) -> str | None:
    """The first tool result of the last turn; a system message after it does not change the turn."""
    turns = [message for message in messages if message.get("role") != "system"]
    blocks = objects(turns[-1].get("content")) if turns else []
    results = [block for block in blocks if block.get("type") == "tool_result"]
    return text_of(results[0].get("content")) if results else None


def _signatures(messages: list[Json]) -> tuple[str, ...]:
    blocks = [block for message in messages for block in objects(message.get("content"))]
    return tuple(str(block.get("signature")) for block in blocks if block.get("type") == "thinking")
