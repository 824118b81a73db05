"""Reads the tools of a Responses request, wherever they stand, and which of them are to be called."""

from collections.abc import Iterator
from typing import Any

from msgspec import structs

from tidegate.core.conversation import ChoiceMode, Tool, ToolChoice, ToolKind
from tidegate.core.events import CallKind
from tidegate.protocols.client_members import Members, objects, text_at, text_if_any
from tidegate.protocols.hosted_tools import is_known
from tidegate.protocols.losses import Losses, malformed
from tidegate.protocols.openai_tools import named, read_allowed, read_function, read_mode, read_name


def read_tools(listed: object, path: str, refusals: Losses) -> Iterator[Tool]:
    """The tools of an array (`tools`, or those of an `additional_tools` item), namespaces taken apart."""
    if listed is None:
        return
    if not isinstance(listed, list):
        refusals.refuse(malformed(path, "an array"))
        return
    for where, tool in objects(listed, path, refusals):
        if tool.get("type") == "namespace":
            yield from _read_namespace(tool, where, refusals)
        elif (read := _read_tool(tool, where, refusals)) is not None:
            yield read


def joined(tools: tuple[Tool, ...], added: list[Tool]) -> tuple[Tool, ...]:
    """The request's tools and those that items of its input add; what is declared again is one tool.

    Of a name that is declared twice the later declaration holds, as a client repeats its items every turn.
    """
    if not added:
        return tools
    found = {_identity(tool): tool for tool in (*tools, *added)}
    return tuple(found.values())


def read_choice(members: Members, refusals: Losses) -> ToolChoice | None:
    """`tool_choice`."""
    path = "tool_choice"
    match members.take(path):
        case None:
            return None
        case str() as word:
            return read_mode(word, path, refusals)
        case {"type": "allowed_tools"} as allowed:
            return read_allowed(allowed, path, path, refusals)
        case {"type": "function"} as function:
            return named(text_at(function, "name", path, refusals), path, CallKind.FUNCTION)
        case {"type": "custom"} as custom:
            return named(text_at(custom, "name", path, refusals), path, CallKind.CUSTOM)
        case {"type": str() as hosted}:
            return ToolChoice(mode=ChoiceMode.NAMED, path=path, hosted=hosted)
        case _:  # a client may send anything
            refusals.refuse(malformed(path, "a mode or an object that names a tool"))
            return None


def _read_tool(tool: dict[str, Any], path: str, refusals: Losses) -> Tool | None:
    match tool.get("type"):
        case "function":
            return read_function(tool, path, path, refusals)
        case "custom":
            return Tool(
                kind=ToolKind.CUSTOM,
                path=path,
                type="custom",
                name=read_name(tool, path, refusals),
                description=text_if_any(tool, "description", path, refusals),
                grammar=_grammar(tool.get("format")),
                defer_loading=tool.get("defer_loading") is True,
            )
        case str() as hosted if is_known(hosted):
            return Tool(kind=ToolKind.HOSTED, path=path, type=hosted, body=tool)
        case str():
            refusals.refuse_value(f"{path}.type", f"`{path}` is a tool of an unknown type.")
            return None
        case _:  # a client may send anything
            refusals.refuse(malformed(f"{path}.type", "a string"))
            return None


def _read_namespace(namespace: dict[str, Any], path: str, refusals: Losses) -> Iterator[Tool]:
    name = read_name(namespace, path, refusals)
    for tool in read_tools(namespace.get("tools"), f"{path}.tools", refusals):
        yield structs.replace(tool, namespace=name)


def _grammar(form: object) -> Any:
    return form if isinstance(form, dict) and form.get("type") == "grammar" else None


def _identity(tool: Tool) -> tuple[object, ...]:
    if tool.kind is ToolKind.HOSTED:
        return (tool.type,)
    return (tool.namespace, tool.name, tool.kind)
