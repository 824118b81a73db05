"""Reads a Responses request."""

from collections.abc import Iterator

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
    ToolForm,
    digest_of,
    first_unanswered,
    invalid,
    object_at,
    objects,
    text_of,
    tokens_in,
    whole_number,
)
from tidegate.simulator.trouble import Trouble

_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_CALLS = ("function_call", "custom_tool_call")
_LEAST_LIMIT = 16
_ECHOED: Json = {
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "reasoning": {"effort": None, "summary": None},
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "truncation": "disabled",
}


def read(body: Json, raw: bytes, salt: str = "") -> Ask | Trouble:
    """The request, or the 400 it deserves. `salt` makes ids differ between equal requests."""
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else objects(given)
    if fault := _fault(body, items):
        return fault
    tools = tuple(tool for entry in _declared(body, items) for tool in _tools(entry, None))
    choice, tools = _choice(body.get("tool_choice"), tools)
    return Ask(
        protocol=Protocol.RESPONSES,
        model=str(body["model"]),
        digest=digest_of(raw, salt),
        prompt_tokens=tokens_in(given, body.get("instructions"), body.get("tools")),
        stream=body.get("stream") is True,
        tools=tools,
        choice=choice,
        parallel=body.get("parallel_tool_calls") is not False,
        schema=_schema(object_at(object_at(body, "text"), "format")),
        thinking=_thinking(object_at(body, "reasoning")),
        limit=whole_number(body.get("max_output_tokens")),
        tool_result=_result(items),
        carriers=tuple(str(c) for item in items if (c := item.get("encrypted_content")) is not None),
        members=frozenset(body),
        echo={key: default if body.get(key) is None else body[key] for key, default in _ECHOED.items()},
    )


def _fault(body: Json, items: list[Json]) -> Trouble | None:
    if not items and body.get("previous_response_id") is None:
        return invalid("input: at least one item is required", "input")
    limit = whole_number(body.get("max_output_tokens"))
    if limit is not None and limit < _LEAST_LIMIT:
        return invalid(f"max_output_tokens must be at least {_LEAST_LIMIT}.", "max_output_tokens")
    calls = [str(item.get("call_id")) for item in items if item.get("type") in _CALLS]
    results = {str(item.get("call_id")) for item in items if item.get("type") in _OUTPUTS}
    if missing := first_unanswered(calls, results):
        return invalid(f"No tool output found for function call {missing}.", "input")
    return None


def _declared(body: Json, items: list[Json]) -> Iterator[Json]:
    """The tools of the request, and those that an `additional_tools` item adds."""
    yield from objects(body.get("tools"))
    for item in items:
        if item.get("type") == "additional_tools":
            yield from objects(item.get("tools"))


def _tools(entry: Json, namespace: str | None) -> Iterator[Tool]:
    match entry:
        case {"type": "function", "name": str(name)}:
            yield Tool(name, ToolForm.FUNCTION, object_at(entry, "parameters"), namespace)
        case {"type": "custom", "name": str(name)}:
            yield Tool(name, ToolForm.CUSTOM, None, namespace)
        case {"type": "namespace", "name": str(name), "tools": list(inner)}:
            for tool in objects(inner):
                yield from _tools(tool, name)
        case _:  # a hosted tool: the client does not run it
            return


def _choice(wish: object, tools: tuple[Tool, ...]) -> tuple[Choice, tuple[Tool, ...]]:
    match wish:
        case "none":
            return Never(), tools
        case "required":
            return Forced(), tools
        case {"type": "function" | "custom", "name": str(name)}:
            return Forced(name), tools
        case {"type": "allowed_tools", "tools": list(allowed), "mode": mode}:
            names = {entry.get("name") for entry in objects(allowed)}
            kept = tuple(tool for tool in tools if tool.name in names)
            return (Forced() if mode == "required" else Auto()), kept
        case _:  # "auto", absent, a hosted tool, or of a newer kind
            return Auto(), tools


def _schema(wish: Json) -> Json | None:
    match wish.get("type"):
        case "json_schema":
            return object_at(wish, "schema")
        case "json_object":
            return {}
        case _:  # text
            return None


def _thinking(wish: Json) -> Thinking:
    effort, summary = wish.get("effort"), wish.get("summary") or wish.get("generate_summary")
    if effort == "none" or (effort is None and summary is None):
        return Thinking.OFF
    return Thinking.HIDDEN if summary is None else Thinking.SHOWN


def _result(items: list[Json]) -> str | None:
    last = items[-1] if items else {}
    return text_of(last.get("output")) if last.get("type") in _OUTPUTS else None
