"""Reads the tools of a Messages request and how they may be called."""

import re
from typing import Any

from msgspec import Struct

from tidegate.core.conversation import ChoiceMode, Given, Tool, ToolChoice, ToolKind
from tidegate.core.json_text import shown
from tidegate.protocols.client_members import Members, objects, text_at, text_if_any
from tidegate.protocols.losses import Losses, malformed


class Choice(Struct, frozen=True):
    """What `tool_choice` says."""

    choice: ToolChoice | None = None
    parallel: Given[bool] | None = None


_SERVER_TOOL = re.compile(
    r"(?:web_search|web_fetch|code_execution|tool_search|bash|text_editor|memory|computer|browser|mcp_toolset)"
    r"(?:_.*)?|[a-z_]+_\d{8}",
    re.DOTALL,
)
"""The provider's own tools; what ends in a date is one of them too, newer than this list."""

_KNOWN = frozenset(
    ("type", "name", "description", "input_schema", "strict", "defer_loading", "cache_control")
)
_PLAIN: tuple[Any, ...] = (None, False, [], ["direct"])
"""Values of the other members that are the default (`allowed_callers: ["direct"]`)."""

_CHOICE = "tool_choice"
_MODES = {
    "auto": ChoiceMode.AUTO,
    "any": ChoiceMode.REQUIRED,
    "none": ChoiceMode.NONE,
    "tool": ChoiceMode.NAMED,
}


def read_tools(tools: list[Any], refusals: Losses) -> tuple[Tool, ...]:
    """Every tool, in order."""
    return tuple(_read_tool(tool, path, refusals) for path, tool in objects(tools, "tools", refusals))


def read_choice(members: Members | None, tools: tuple[Tool, ...], refusals: Losses) -> Choice:
    """`tool_choice`; with `none`, parallel calls are of no interest."""
    if members is None:
        return Choice()
    kind = members.text("type")
    mode = None if kind is None else _MODES.get(kind.value)
    if mode is None:
        refusals.refuse_value(members.path("type"))
        return Choice()
    alone = members.flag("disable_parallel_tool_use")
    parallel = None
    if alone is not None and alone.value and mode is not ChoiceMode.NONE:
        parallel = Given(value=False, path=alone.path)
    if mode is not ChoiceMode.NAMED:
        return Choice(ToolChoice(mode=mode, path=_CHOICE), parallel)
    name = members.text("name")
    if name is None:
        refusals.refuse(malformed(members.path("name"), "a string"))
        return Choice()
    hosted = [tool.type for tool in tools if tool.kind is ToolKind.HOSTED and tool.name == name.value]
    return Choice(
        ToolChoice(mode=mode, path=_CHOICE, names=(name.value,), hosted=hosted[0] if hosted else None),
        parallel,
    )


def _read_tool(tool: dict[str, Any], path: str, refusals: Losses) -> Tool:
    kind = text_if_any(tool, "type", path, refusals) or "custom"
    if kind != "custom":
        return _read_server_tool(tool, kind, path, refusals)
    name = text_at(tool, "name", path, refusals)
    if not name:
        refusals.refuse(malformed(f"{path}.name", "a string that is not empty"))
    schema = tool.get("input_schema")
    if not isinstance(schema, dict | None):
        refusals.refuse(malformed(f"{path}.input_schema", "an object"))
    return Tool(
        kind=ToolKind.FUNCTION,
        path=path,
        name=name,
        description=text_if_any(tool, "description", path, refusals),
        schema=schema,
        strict=tool.get("strict") is True or None,
        extras=tuple(
            shown(name) for name, value in tool.items() if name not in _KNOWN and value not in _PLAIN
        ),
        defer_loading=tool.get("defer_loading") is True,
    )


def _read_server_tool(tool: dict[str, Any], kind: str, path: str, refusals: Losses) -> Tool:
    if not _SERVER_TOOL.fullmatch(kind):
        refusals.refuse_value(f"{path}.type", f"`{path}` is of an unknown type.")
    name = text_if_any(tool, "name", path, refusals) or ""
    return Tool(kind=ToolKind.HOSTED, path=path, name=name, type=kind, body=tool)
