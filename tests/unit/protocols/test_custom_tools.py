"""Custom tools dressed as functions."""

import json

from tidegate.core.conversation import Tool, ToolKind
from tidegate.protocols.custom_tools import wrapped_description, wrapped_input


def tool(description: str | None, grammar: object) -> Tool:
    return Tool(kind=ToolKind.CUSTOM, path="tools[0]", name="patch", description=description, grammar=grammar)


def test_free_text_becomes_one_string() -> None:
    assert json.loads(wrapped_input('*** "Begin"\n')) == {"input": '*** "Begin"\n'}


def test_without_a_grammar_the_description_stays() -> None:
    assert wrapped_description(tool("Edits.", None)) == "Edits."
    assert wrapped_description(tool(None, None)) is None


def test_a_grammar_is_told_in_words() -> None:
    grammar = {"type": "grammar", "syntax": "lark", "definition": "start: X"}
    described = wrapped_description(tool("Edits.", grammar))
    assert described is not None
    assert described.startswith("Edits.\n\n")
    assert "lark grammar" in described
    assert described.endswith("start: X")
    assert "start: X" in (wrapped_description(tool(None, grammar)) or "")


def test_a_grammar_of_another_form_is_told_as_it_stands() -> None:
    assert '{"type":"grammar"}' in (wrapped_description(tool("", {"type": "grammar"})) or "")
    assert "7" in (wrapped_description(tool("", 7)) or "")
