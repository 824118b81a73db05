"""Reads a Chat Completions request."""

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
    texts,
    tokens_in,
    whole_number,
)
from tidegate.simulator.trouble import Trouble

_MAX_CHOICES = 128


def read(body: Json, raw: bytes, salt: str = "") -> Ask | Trouble:
    """The request, or the 400 it deserves. `salt` makes ids differ between equal requests."""
    messages = objects(body.get("messages"))
    if fault := _fault(body, messages):
        return fault
    tools = tuple(tool for entry in objects(body.get("tools")) if (tool := _tool(entry)))
    choice, tools = _choice(body.get("tool_choice"), tools)
    limit = whole_number(body.get("max_completion_tokens"))
    return Ask(
        protocol=Protocol.CHAT,
        model=str(body["model"]),
        digest=digest_of(raw, salt),
        prompt_tokens=tokens_in(messages, body.get("tools")),
        stream=body.get("stream") is True,
        wants_usage=object_at(body, "stream_options").get("include_usage") is True,
        tools=tools,
        choice=choice,
        parallel=body.get("parallel_tool_calls") is not False,
        schema=_schema(object_at(body, "response_format")),
        thinking=_thinking(body),
        limit=whole_number(body.get("max_tokens")) if limit is None else limit,
        stops=texts(body.get("stop")),
        choices=whole_number(body.get("n")) or 1,
        tool_result=text_of(messages[-1].get("content")) if messages[-1].get("role") == "tool" else None,
        members=frozenset(body),
    )


def _fault(body: Json, messages: list[Json]) -> Trouble | None:
    if not messages:
        return invalid("messages: at least one message is required", "messages")
    if body.get("stream_options") is not None and body.get("stream") is not True:
        return invalid("stream_options is only allowed when stream is true.", "stream_options")
    if not 1 <= (whole_number(body.get("n")) or 1) <= _MAX_CHOICES:
        return invalid(f"n must be from 1 to {_MAX_CHOICES}.", "n")
    for nth, message in enumerate(messages):
        calls = [str(call.get("id")) for call in objects(message.get("tool_calls"))]
        results: set[str] = set()
        for follower in messages[nth + 1 :]:
            if follower.get("role") != "tool":
                break
            results.add(str(follower.get("tool_call_id")))
        if missing := first_unanswered(calls, results):
            return invalid(f"No tool message answers the tool call {missing}.", f"messages[{nth}].tool_calls")
    return None


def _tool(entry: Json) -> Tool | None:
    match entry:
        case {"type": "function", "function": {"name": str(name)} as function}:
            return Tool(name, ToolForm.FUNCTION, object_at(function, "parameters"))
        case {"type": "custom", "custom": {"name": str(name)}}:
            return Tool(name, ToolForm.CUSTOM)
        case _:  # a hosted tool: the client does not run it
            return None


def _choice(wish: object, tools: tuple[Tool, ...]) -> tuple[Choice, tuple[Tool, ...]]:
    match wish:
        case "none":
            return Never(), tools
        case "required":
            return Forced(), tools
        case {"function": {"name": str(name)}} | {"custom": {"name": str(name)}}:
            return Forced(name), tools
        case {"allowed_tools": {"tools": list(allowed)} as rule}:
            names = {tool.name for entry in objects(allowed) if (tool := _tool(entry))}
            kept = tuple(tool for tool in tools if tool.name in names)
            return (Forced() if rule.get("mode") == "required" else Auto()), kept
        case _:  # "auto", absent, or of a newer kind
            return Auto(), tools


def _schema(wish: Json) -> Json | None:
    match wish.get("type"):
        case "json_schema":
            return object_at(object_at(wish, "json_schema"), "schema")
        case "json_object":
            return {}
        case _:  # text
            return None


def _thinking(body: Json) -> Thinking:
    efforts = (body.get("reasoning_effort"), object_at(body, "reasoning").get("effort"))
    asked = any(isinstance(effort, str) and effort != "none" for effort in efforts)
    switched_on = object_at(body, "thinking").get("type") in ("enabled", "adaptive")
    return Thinking.SHOWN if asked or switched_on or body.get("enable_thinking") is True else Thinking.OFF
