"""Decides what becomes of tools that the provider runs where a channel of another protocol lacks them."""

import re
from collections.abc import Callable

from tidegate.core.capability import UnsupportedTools
from tidegate.core.conversation import ChoiceMode, Conversation, Tool, ToolChoice, ToolKind
from tidegate.protocols.conversion import Abilities
from tidegate.protocols.losses import Losses

_SEARCHES_TOOLS = "tool_search"
_KNOWN = re.compile(
    r"(?:web_search|file_search|tool_search|web_fetch|code_interpreter|code_execution|image_generation|mcp"
    r"|computer|browser|local_shell|shell|bash|text_editor|apply_patch|memory|programmatic_tool_calling)(?:_\w+)?"
    r"|\w+_\d{8}|\w+_\d{4}_\d\d_\d\d"
)
"""The hosted tools of both provider families; what ends in a date is one of them, newer than this list."""


def is_known(type_: str) -> bool:
    """Whether a tool type is known to be a provider's own, so that it may be dropped; others are refused."""
    return _KNOWN.fullmatch(type_) is not None


def usable_tools(
    conversation: Conversation, abilities: Abilities, losses: Losses, converts: Callable[[Tool], bool]
) -> tuple[Tool, ...]:
    """The tools that go up. `converts`: whether the target has a hosted tool like this one.

    The others are dropped with a warning; refused where key or channel want that, where `tool_choice` forces
    one, and where no other tool is left (conversion.md §5).
    """
    tools = conversation.tools
    lacking: list[Tool] = []
    kept: list[Tool] = []
    for tool in tools:
        (lacking if tool.kind is ToolKind.HOSTED and not converts(tool) else kept).append(tool)
    rejects = abilities.unsupported_tools is UnsupportedTools.REJECT or not kept
    for tool in lacking:
        if rejects or _forces(conversation.choice, tool):
            losses.refuse_value(
                f"{tool.path}.type", f"The channels of this model have no tool of type `{tool.type}`."
            )
        else:
            losses.dropped(tool.path)
    if any(tool.type.startswith(_SEARCHES_TOOLS) for tool in lacking):
        for tool in kept:
            if tool.defer_loading:
                losses.approximated(f"{tool.path}.defer_loading")
    return tuple(kept)


def _forces(choice: ToolChoice | None, tool: Tool) -> bool:
    if choice is None or choice.mode is not ChoiceMode.NAMED:
        return False
    return choice.hosted == tool.type or (tool.name != "" and tool.name in choice.names)
