"""Writes tools and the choice among them for a messages channel (conversion.md §5)."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from tidegate.core.conversation import ChoiceMode, Conversation, Tool, ToolChoice, ToolKind
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols import custom_tools, web_search
from tidegate.protocols.conversion import Abilities
from tidegate.protocols.hosted_tools import usable_tools
from tidegate.protocols.losses import Losses
from tidegate.protocols.tool_names import ToolNames, name_tools
from tidegate.protocols.web_search import WebSearch


class Tools(Struct, frozen=True):
    """What goes up. `choice` is the value of `tool_choice`, None where none is sent."""

    declared: list[dict[str, Any]]
    choice: dict[str, Any] | None
    names: ToolNames

    @property
    def forced(self) -> bool:
        """Whether the model must call a tool."""
        return self.choice is not None and self.choice["type"] in ("any", "tool")


_WEB_SEARCH = "web_search_20250305"
_WEB_SEARCH_NAME = "web_search"
_NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}
_COMBINED = frozenset(("anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref", "if"))
"""A root that has one of these is no plain object, also where it has no type."""
_MODES = {ChoiceMode.AUTO: "auto", ChoiceMode.NONE: "none", ChoiceMode.REQUIRED: "any"}
_OF_NAMESPACE = re.compile(r"\.tools\[\d+\]\Z")


def write_tools(conversation: Conversation, abilities: Abilities, losses: Losses) -> Tools:
    """Tools, choice and names. Without tools there is no choice."""
    kept = usable_tools(conversation, abilities, losses, lambda tool: _converts(tool, abilities))
    names = name_tools(kept, abilities.tool_name_max, custom_as_function=True)
    if isinstance(names, Failure):
        losses.refuse(names)
        names = ToolNames(abilities.tool_name_max, {}, {}, {})
    offered = _allowed(kept, conversation.choice, losses)
    declared = [_declared(tool, names, conversation.protocol, losses) for tool in offered]
    declared += _search_option(conversation, abilities, losses)
    choice = _choice(conversation, kept, names, losses) if declared else None
    return Tools(declared, choice, names)


def _converts(tool: Tool, abilities: Abilities) -> bool:
    return abilities.web_search and web_search.is_web_search(tool.type)


def _allowed(kept: tuple[Tool, ...], choice: ToolChoice | None, losses: Losses) -> tuple[Tool, ...]:
    """Messages has no list of allowed tools, so only those are offered."""
    if choice is None or not choice.names or choice.mode is ChoiceMode.NAMED:
        return kept
    losses.approximated(choice.path)
    allowed = tuple(tool for tool in kept if tool.name in choice.names)
    if not allowed:
        losses.refuse_value(choice.path, f"`{choice.path}` allows none of the tools.")
    return allowed


def _declared(tool: Tool, names: ToolNames, client: Protocol, losses: Losses) -> dict[str, Any]:
    if tool.kind is ToolKind.HOSTED:
        return _search(web_search.of_tool(tool.body), tool, losses)
    for extra in tool.extras:
        losses.dropped(f"{tool.path}.{extra}")
    if tool.namespace is not None:
        losses.approximated(_OF_NAMESPACE.sub("", tool.path))
    declared: dict[str, Any] = {"name": names.of(tool.name, tool.namespace)}
    schema: Mapping[str, Any]
    if tool.kind is ToolKind.CUSTOM:
        if tool.grammar is not None:
            losses.approximated(tool.path)
        description, schema = custom_tools.wrapped_description(tool), custom_tools.SCHEMA
    else:
        description, schema = tool.description, _schema(tool, client, losses)
    if description:
        declared["description"] = description
    declared["input_schema"] = schema
    if tool.strict and tool.kind is ToolKind.FUNCTION:
        declared["strict"] = True
    return declared


def _schema(tool: Tool, client: Protocol, losses: Losses) -> Mapping[str, Any]:
    """The schema unchanged; a root that only lacks its type gets it, any other than an object is refused."""
    schema = tool.schema
    if schema is None:
        return _NO_PARAMETERS
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            return schema
        if "type" not in schema and not _COMBINED & schema.keys():
            return {"type": "object", **schema}
    legacy = tool.path.startswith("functions")
    inner = ".function.parameters" if client is Protocol.CHAT and not legacy else ".parameters"
    losses.refuse_value(tool.path + inner, f"The parameters of the tool `{tool.name}` must be an object.")
    return _NO_PARAMETERS


def _search(search: WebSearch, tool: Tool, losses: Losses) -> dict[str, Any]:
    if search.context_size not in (None, "medium"):
        losses.dropped(f"{tool.path}.search_context_size")
    return _search_tool(search)


def _search_tool(search: WebSearch) -> dict[str, Any]:
    declared: dict[str, Any] = {"type": _WEB_SEARCH, "name": _WEB_SEARCH_NAME}
    if search.allowed_domains:
        declared["allowed_domains"] = search.allowed_domains
    location = web_search.approximate_location(search)
    if location is not None:
        declared["user_location"] = location
    return declared


def _search_option(conversation: Conversation, abilities: Abilities, losses: Losses) -> list[dict[str, Any]]:
    """`web_search_options` of Chat is a tool here."""
    given = conversation.web_search
    if given is None:
        return []
    if not abilities.web_search:
        losses.refuse_parameter(given.path)
        return []
    losses.approximated(given.path)
    return [_search_tool(web_search.of_options(given.value))]


def _choice(
    conversation: Conversation, kept: tuple[Tool, ...], names: ToolNames, losses: Losses
) -> dict[str, Any] | None:
    choice = conversation.choice
    alone = conversation.parallel is not None and not conversation.parallel.value
    if choice is None:
        return {"type": "auto", "disable_parallel_tool_use": True} if alone else None
    written = _mode(choice, kept, names, losses)
    if alone and choice.mode is not ChoiceMode.NONE:
        written["disable_parallel_tool_use"] = True
    return written


def _mode(choice: ToolChoice, kept: tuple[Tool, ...], names: ToolNames, losses: Losses) -> dict[str, Any]:
    if choice.mode is not ChoiceMode.NAMED:
        return {"type": _MODES[choice.mode]}
    if choice.hosted is not None:
        if not any(tool.kind is ToolKind.HOSTED for tool in kept):
            losses.refuse_value(choice.path)
        return {"type": "tool", "name": _WEB_SEARCH_NAME}
    return {"type": "tool", "name": names.of(choice.names[0]) if choice.names else ""}
