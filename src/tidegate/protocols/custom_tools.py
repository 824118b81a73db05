"""Dresses a custom tool as a function with one string, for upstreams that know only functions."""

from typing import Any

import msgspec

from tidegate.core.conversation import Tool

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}


def wrapped_input(text: str) -> str:
    """The arguments of the function that say what the free text of a custom call says."""
    return msgspec.json.encode({"input": text}).decode()


def wrapped_description(tool: Tool) -> str | None:
    """The description, with the grammar (which a schema cannot say) as text after it."""
    if tool.grammar is None:
        return tool.description
    grammar = tool.grammar if isinstance(tool.grammar, dict) else {}
    syntax, definition = grammar.get("syntax"), grammar.get("definition")
    kind = f"{syntax} grammar" if isinstance(syntax, str) else "grammar"
    text = definition if isinstance(definition, str) else msgspec.json.encode(tool.grammar).decode()
    said = f"The `input` must be text that matches this {kind}:\n{text}"
    return said if not tool.description else f"{tool.description}\n\n{said}"
