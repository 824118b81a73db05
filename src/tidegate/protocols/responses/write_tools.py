"""Writes tools and the choice among them for a responses upstream."""

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
from tidegate.protocols.web_search import WebSearch, approximate_location, is_web_search, of_options


def write_tools(conversation: Conversation, tools: UpstreamTools, losses: Losses) -> dict[str, Any]:
    """`tools`, `tool_choice` and `parallel_tool_calls`; nothing where there are no tools."""
    written = [_write_tool(tool, tools, conversation, losses) for tool in tools.kept]
    if conversation.web_search is not None:
        losses.approximated(conversation.web_search.path)
        written.append(_write_search(of_options(conversation.web_search.value)))
    if not written:
        return {}
    body: dict[str, Any] = {"tools": written}
    choice = _write_choice(conversation, tools, losses)
    if choice is not None:
        body["tool_choice"] = choice
    if conversation.parallel is not None:
        body["parallel_tool_calls"] = conversation.parallel.value
    return body


def _write_tool(
    tool: Tool, tools: UpstreamTools, conversation: Conversation, losses: Losses
) -> dict[str, Any]:
    if tool.kind is ToolKind.HOSTED:
        return _write_search(read_search(tool, losses))
    name = tools.name(tool)
    if name in tools.custom:
        custom: dict[str, Any] = {"type": "custom", "name": name}
        if tool.description is not None:
            custom["description"] = tool.description
        if tool.grammar is not None:
            custom["format"] = tool.grammar
        return custom
    # A strictness that is not told would be tried as true, so it is always told.
    return {
        "type": "function",
        "parameters": None,
        **function_members(tool, name, conversation.protocol),
        "strict": tool.strict is True,
    }


def _write_search(search: WebSearch) -> dict[str, Any]:
    written: dict[str, Any] = {"type": "web_search"}
    if search.allowed_domains:
        written["filters"] = {"allowed_domains": search.allowed_domains}
    location = approximate_location(search)
    if location is not None:
        written["user_location"] = location
    if search.context_size is not None:
        written["search_context_size"] = search.context_size
    return written


def _write_choice(conversation: Conversation, tools: UpstreamTools, losses: Losses) -> Any:
    choice = settled_choice(conversation, tools, losses)
    if choice is None:
        return None
    if choice.hosted is not None and is_web_search(choice.hosted):
        return {"type": "web_search"}
    listed = [_named(name, choice_kind(name, tools), tools) for name in choice.names]
    if choice.mode is ChoiceMode.NAMED:
        return listed[0]
    if listed:
        return {"type": "allowed_tools", "mode": mode_word(choice.mode), "tools": listed}
    return mode_word(choice.mode)


def _named(name: str, kind: CallKind, tools: UpstreamTools) -> dict[str, str]:
    return {"type": kind.value, "name": tools.names.of(name)}
