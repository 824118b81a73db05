"""Reads the tools of a Chat request and which of them are to be called, legacy functions included."""

from typing import Any

from tidegate.core.conversation import Given, Tool, ToolChoice, ToolKind
from tidegate.core.events import CallKind
from tidegate.protocols.client_members import Members, objects, text_at, text_if_any
from tidegate.protocols.hosted_tools import is_known
from tidegate.protocols.losses import Losses, malformed
from tidegate.protocols.openai_tools import named, read_allowed, read_function, read_mode, read_name


def read_tools(members: Members, refusals: Losses) -> tuple[Tool, ...]:
    """The elements of `tools`."""
    tools = objects(members.elements("tools"), "tools", refusals)
    return tuple(read for path, tool in tools if (read := _read_tool(tool, path, refusals)) is not None)


def read_functions(members: Members, refusals: Losses) -> tuple[Tool, ...]:
    """The elements of the deprecated `functions`."""
    functions = objects(members.elements("functions"), "functions", refusals)
    return tuple(read_function(function, path, path, refusals) for path, function in functions)


def read_choice(members: Members, refusals: Losses) -> ToolChoice | None:
    """`tool_choice`."""
    path = "tool_choice"
    match members.take(path):
        case None:
            return None
        case str() as word:
            return read_mode(word, path, refusals)
        case {"type": "allowed_tools", "allowed_tools": dict() as allowed}:
            return read_allowed(allowed, path, f"{path}.allowed_tools", refusals)
        case {"type": "function", "function": dict() as function}:
            return named(text_at(function, "name", f"{path}.function", refusals), path, CallKind.FUNCTION)
        case {"type": "custom", "custom": dict() as custom}:
            return named(text_at(custom, "name", f"{path}.custom", refusals), path, CallKind.CUSTOM)
        case {"type": str()}:
            refusals.refuse_value(f"{path}.type")
            return None
        case _:  # a client may send anything
            refusals.refuse(malformed(path, "a mode or an object that names a tool"))
            return None


def read_function_call(members: Members, refusals: Losses) -> ToolChoice | None:
    """The deprecated `function_call`."""
    path = "function_call"
    match members.take(path):
        case None:
            return None
        case str() as word:
            return read_mode(word, path, refusals)
        case {"name": str() as name}:
            return named(name, path, CallKind.FUNCTION)
        case _:  # a client may send anything
            refusals.refuse(malformed(path, "a mode or an object that names a function"))
            return None


def read_web_search(members: Members) -> Given[Any] | None:
    """`web_search_options`; an empty object switches the search on, too."""
    options = members.take("web_search_options")
    return None if options is None else Given(options, "web_search_options")


def _read_tool(tool: dict[str, Any], path: str, refusals: Losses) -> Tool | None:
    type_ = tool.get("type", "function")
    inner = tool.get(type_) if type_ in ("function", "custom") else None
    if type_ == "function" and isinstance(inner, dict):
        return read_function(inner, path, f"{path}.function", refusals)
    if type_ == "custom" and isinstance(inner, dict):
        return _read_custom(inner, path, refusals)
    if type_ in ("function", "custom"):
        refusals.refuse(malformed(f"{path}.{type_}", "an object"))
    elif isinstance(type_, str) and not is_known(type_):
        refusals.refuse_value(f"{path}.type", f"`{path}` is a tool of an unknown type.")
    elif isinstance(type_, str):
        return Tool(kind=ToolKind.HOSTED, path=path, type=type_, body=tool)
    else:
        refusals.refuse(malformed(f"{path}.type", "a string"))
    return None


def _read_custom(custom: dict[str, Any], path: str, refusals: Losses) -> Tool:
    inner = f"{path}.custom"
    return Tool(
        kind=ToolKind.CUSTOM,
        path=path,
        type="custom",
        name=read_name(custom, inner, refusals),
        description=text_if_any(custom, "description", inner, refusals),
        grammar=_flat_grammar(custom.get("format")),
    )


def _flat_grammar(form: object) -> Any:
    """The format as Responses has it, where syntax and definition are not one level down."""
    match form:
        case {"type": "grammar", "grammar": dict() as grammar}:
            return {"type": "grammar", **grammar}
        case {"type": "grammar"}:
            return form
        case _:  # free text, and what says nothing that a grammar could
            return None
