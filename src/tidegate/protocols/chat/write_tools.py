"""Writes tools and the choice among them for a chat upstream."""

from typing import Any

from tidegate.core.conversation import ChoiceMode, Conversation, Tool, ToolKind
from tidegate.core.events import CallKind
from tidegate.protocols.losses import Losses
from tidegate.protocols.openai_tool_writing import (
    UpstreamTools,
    choice_kind,
    function_members,
    mode_word,
    read_search,
    settled_choice,
)
from tidegate.protocols.web_search import WebSearch


def write_tools(conversation: Conversation, tools: UpstreamTools, losses: Losses) -> dict[str, Any]:
    """`tools`, `tool_choice`, `parallel_tool_calls` and `web_search_options`, as far as there are any."""
    body: dict[str, Any] = {}
    written = []
    for tool in tools.kept:
        if tool.kind is ToolKind.HOSTED:
            body["web_search_options"] = _write_search(tool, read_search(tool, losses), losses)
        else:
            written.append(_write_tool(tool, tools, conversation))
    choice = _write_choice(conversation, tools, losses)
    if not written:
        return body
    body["tools"] = written
    if choice is not None:
        body["tool_choice"] = choice
    if conversation.parallel is not None:
        body["parallel_tool_calls"] = conversation.parallel.value
    return body


def _write_tool(tool: Tool, tools: UpstreamTools, conversation: Conversation) -> dict[str, Any]:
    name = tools.name(tool)
    if name in tools.custom:
        custom: dict[str, Any] = {"name": name}
        if tool.description is not None:
            custom["description"] = tool.description
        if tool.grammar is not None:
            custom["format"] = {"type": "grammar", "grammar": _inner_grammar(tool.grammar)}
        return {"type": "custom", "custom": custom}
    function = function_members(tool, name, conversation.protocol)
    if tool.strict is not None:
        function["strict"] = tool.strict
    return {"type": "function", "function": function}


def _inner_grammar(grammar: Any) -> dict[str, Any]:
    return {name: value for name, value in grammar.items() if name != "type"}


def _write_search(tool: Tool, search: WebSearch, losses: Losses) -> dict[str, Any]:
    if search.allowed_domains:
        in_filters = isinstance(tool.body, dict) and "filters" in tool.body
        losses.dropped(
            f"{tool.path}.filters.allowed_domains" if in_filters else f"{tool.path}.allowed_domains"
        )
    options: dict[str, Any] = {}
    if search.context_size is not None:
        options["search_context_size"] = search.context_size
    if search.location is not None:
        options["user_location"] = {"type": "approximate", "approximate": search.location}
    return options


def _write_choice(conversation: Conversation, tools: UpstreamTools, losses: Losses) -> Any:
    choice = settled_choice(conversation, tools, losses)
    if choice is None:
        return None
    if choice.hosted is not None:
        losses.refuse_value(choice.path, "The channels of this model search when they like.")
        return None
    listed = [_named(name, choice_kind(name, tools), tools) for name in choice.names]
    if choice.mode is ChoiceMode.NAMED:
        return listed[0]
    if listed:
        allowed = {"mode": mode_word(choice.mode), "tools": listed}
        return {"type": "allowed_tools", "allowed_tools": allowed}
    return mode_word(choice.mode)


def _named(name: str, kind: CallKind, tools: UpstreamTools) -> dict[str, Any]:
    return {"type": kind.value, kind.value: {"name": tools.names.of(name)}}
