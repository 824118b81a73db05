"""Reads what the tools of the two OpenAI protocols have in common."""

from typing import Any

from tidegate.core.conversation import ChoiceMode, Given, Tool, ToolChoice, ToolKind
from tidegate.core.events import CallKind
from tidegate.protocols.client_members import objects, text_at, text_if_any
from tidegate.protocols.losses import Losses, malformed

EXTRAS = ("input_examples", "eager_input_streaming", "allowed_callers", "output_schema")
"""Members of a function that no other protocol knows."""

_MODES = {"auto": ChoiceMode.AUTO, "none": ChoiceMode.NONE, "required": ChoiceMode.REQUIRED}


def read_function(function: dict[str, Any], path: str, inner: str, refusals: Losses) -> Tool:
    """A function. `path` is the tool's, `inner` where its name and schema stand."""
    strict = function.get("strict")
    return Tool(
        kind=ToolKind.FUNCTION,
        path=path,
        name=read_name(function, inner, refusals),
        description=text_if_any(function, "description", inner, refusals),
        schema=function.get("parameters"),
        strict=strict if isinstance(strict, bool) else None,
        extras=tuple(
            inner[len(path) + 1 :] + ("." if inner != path else "") + name
            for name in EXTRAS
            if function.get(name)
        ),
        defer_loading=function.get("defer_loading") is True,
    )


def read_name(members: dict[str, Any], path: str, refusals: Losses) -> str:
    """A tool's name, which is never empty."""
    name = text_at(members, "name", path, refusals)
    if not name:
        refusals.refuse(malformed(f"{path}.name", "a string that is not empty"))
    return name


def read_mode(word: str, path: str, refusals: Losses) -> ToolChoice | None:
    """A choice in one word."""
    mode = _MODES.get(word)
    if mode is None:
        refusals.refuse_value(path)
        return None
    return ToolChoice(mode=mode, path=path)


def read_allowed(allowed: dict[str, Any], path: str, inner: str, refusals: Losses) -> ToolChoice | None:
    """A choice among some of the tools. Hosted ones that it lists have no names, so they do not count; where
    it lists nothing else, nothing may be called."""
    mode = read_mode(text_at(allowed, "mode", inner, refusals), path, refusals)
    listed = allowed.get("tools")
    if not isinstance(listed, list):
        refusals.refuse(malformed(f"{inner}.tools", "an array"))
        return None
    names = [_name_in(tool) for _, tool in objects(listed, f"{inner}.tools", refusals)]
    found = tuple(name for name in names if name)
    if mode is None or found:
        return mode and ToolChoice(mode=mode.mode, path=path, names=found)
    if mode.mode is ChoiceMode.REQUIRED:
        refusals.refuse_value(f"{inner}.tools")
    return ToolChoice(mode=ChoiceMode.NONE, path=path)


def named(name: str, path: str, kind: CallKind) -> ToolChoice:
    """A choice of one tool."""
    return ToolChoice(mode=ChoiceMode.NAMED, path=path, names=(name,), kind=kind)


def read_parallel(given: Given[bool] | None) -> Given[bool] | None:
    """Only "not in parallel" says something."""
    return None if given is None or given.value else given


def _name_in(tool: dict[str, Any]) -> str | None:
    inner = tool.get(str(tool.get("type")))
    name = (inner if isinstance(inner, dict) else tool).get("name")
    return name if isinstance(name, str) else None
