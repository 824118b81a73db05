"""Decides for an OpenAI upstream which tools go up, under which names and in which form."""

from typing import Any

from msgspec import Struct

from tidegate.core.conversation import Call, ChoiceMode, Conversation, Tool, ToolChoice, ToolKind
from tidegate.core.events import CallKind
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.conversion import Abilities
from tidegate.protocols.custom_tools import SCHEMA, wrapped_description
from tidegate.protocols.hosted_tools import usable_tools
from tidegate.protocols.losses import Losses
from tidegate.protocols.tool_names import ToolNames, name_tools
from tidegate.protocols.web_search import WebSearch, is_web_search, of_tool


class UpstreamTools(Struct, frozen=True):
    """The tools that go up, in order: their names upstream, and which of them stay custom."""

    kept: tuple[Tool, ...]
    names: ToolNames
    declared: frozenset[str]
    custom: frozenset[str]
    takes_custom: bool

    def name(self, tool: Tool) -> str:
        """The upstream's name of a declared tool."""
        return self.names.upstream[(tool.namespace, tool.name)]

    def kind(self, call: Call, name: str) -> CallKind:
        """The form of a call in the history: the declared tool's, else as it came if the channel can."""
        stays = name in self.custom or (
            name not in self.declared and self.takes_custom and call.kind is CallKind.CUSTOM
        )
        return CallKind.CUSTOM if stays else CallKind.FUNCTION


def settle_tools(conversation: Conversation, abilities: Abilities, losses: Losses) -> UpstreamTools:
    """Hosted tools taken out or refused, names given, and what a tool loses on the way noted."""

    def converts(tool: Tool) -> bool:
        return abilities.web_search and is_web_search(tool.type)

    kept = usable_tools(conversation, abilities, losses, converts)
    names = name_tools(kept, abilities.tool_name_max, custom_as_function=not abilities.custom_tools)
    if isinstance(names, Failure):
        losses.refuse(names)
        names = ToolNames(abilities.tool_name_max, {}, {}, {})
        kept = ()
    for tool in kept:
        _note_losses(tool, abilities, losses)
    custom = {
        names.upstream[(tool.namespace, tool.name)]
        for tool in kept
        if tool.kind is ToolKind.CUSTOM and abilities.custom_tools
    }
    return UpstreamTools(
        kept,
        names,
        declared=frozenset(names.upstream.values()),
        custom=frozenset(custom),
        takes_custom=abilities.custom_tools,
    )


def function_members(tool: Tool, name: str, client: Protocol) -> dict[str, Any]:
    """Name, description and parameters of a function; a custom tool is dressed as one with one string."""
    if tool.kind is ToolKind.CUSTOM:
        description, schema = wrapped_description(tool), SCHEMA
    else:
        description, schema = tool.description, tool.schema
    members: dict[str, Any] = {"name": name}
    if description is not None:
        members["description"] = description
    if schema is not None:
        members["parameters"] = _with_properties(schema) if client is Protocol.MESSAGES else schema
    return members


def read_search(tool: Tool, losses: Losses) -> WebSearch:
    """A web search; refused where it keeps pages out, as neither OpenAI protocol can."""
    search = of_tool(tool.body)
    if search.blocked_domains:
        losses.refuse_parameter(f"{tool.path}.blocked_domains")
    if search.max_uses is not None:
        losses.dropped(f"{tool.path}.max_uses")
    return search


def settled_choice(conversation: Conversation, tools: UpstreamTools, losses: Losses) -> ToolChoice | None:
    """The choice that goes up; None without tools, or where there is none (conversion.md §5).

    A forced web search of a channel that has one stays `hosted`; every other hosted tool is refused.
    """
    choice = conversation.choice
    if choice is None or not tools.kept:
        return None
    if choice.hosted is not None and not any(tool.type == choice.hosted for tool in tools.kept):
        losses.refuse_value(choice.path)
        return None
    return choice


def choice_kind(name: str, tools: UpstreamTools) -> CallKind:
    """Of what kind the tool is upstream that a choice names."""
    return CallKind.CUSTOM if tools.names.of(name) in tools.custom else CallKind.FUNCTION


def mode_word(mode: ChoiceMode) -> str:
    """A mode in the word of both OpenAI protocols; a tool that is named is required."""
    match mode:
        case ChoiceMode.AUTO:
            return "auto"
        case ChoiceMode.NONE:
            return "none"
        case ChoiceMode.REQUIRED | ChoiceMode.NAMED:
            return "required"


def _note_losses(tool: Tool, abilities: Abilities, losses: Losses) -> None:
    if tool.namespace is not None:
        losses.approximated(tool.path.rpartition(".tools[")[0])
    if tool.grammar is not None and not abilities.custom_tools:
        losses.approximated(tool.path)
    for extra in tool.extras:
        losses.dropped(f"{tool.path}.{extra}")


def _with_properties(schema: Any) -> Any:
    """Some OpenAI servers refuse an object whose schema does not list its properties."""
    if isinstance(schema, dict) and schema.get("type") == "object" and "properties" not in schema:
        return {**schema, "properties": {}}
    return schema
