"""Tools of Responses requests, wherever they stand."""

from typing import Any

import pytest
from tests.unit.protocols.asking import RESPONSES_TO_CHAT

from tidegate.core.conversation import ChoiceMode, Tool, ToolKind
from tidegate.protocols.client_members import Members
from tidegate.protocols.losses import Losses
from tidegate.protocols.responses.read_tools import joined, read_choice, read_tools

GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "x"}


def read(*tools: Any) -> tuple[Tool, ...]:
    refusals = Losses()
    found = tuple(read_tools(list(tools), "tools", refusals))
    assert refusals.failure is None, refusals.failure
    return found


def test_functions() -> None:
    schema = {"type": "object"}
    [tool] = read({"type": "function", "name": "f", "parameters": schema, "strict": None, "description": "d"})
    assert tool == Tool(
        kind=ToolKind.FUNCTION, path="tools[0]", name="f", description="d", schema=schema, strict=None
    )


@pytest.mark.parametrize(("form", "grammar"), [(None, None), ({"type": "text"}, None), (GRAMMAR, GRAMMAR)])
def test_custom_tools(form: Any, grammar: Any) -> None:
    [tool] = read({"type": "custom", "name": "c", "format": form})
    assert (tool.kind, tool.name, tool.grammar) == (ToolKind.CUSTOM, "c", grammar)


def test_namespaces_are_taken_apart() -> None:
    inner = [{"type": "function", "name": "f"}, {"type": "custom", "name": "c"}]
    found = read({"type": "function", "name": "f"}, {"type": "namespace", "name": "n", "tools": inner})
    assert [(tool.name, tool.namespace, tool.path) for tool in found] == [
        ("f", None, "tools[0]"),
        ("f", "n", "tools[1].tools[0]"),
        ("c", "n", "tools[1].tools[1]"),
    ]


def test_hosted_tools_are_kept_whole() -> None:
    declared = {"type": "web_search", "external_web_access": True}
    [tool] = read(declared)
    assert (tool.kind, tool.type, tool.body) == (ToolKind.HOSTED, "web_search", declared)


def test_no_tools() -> None:
    assert tuple(read_tools(None, "tools", Losses())) == ()


def test_of_tools_that_are_declared_again_the_later_ones_hold() -> None:
    old, other, new = read(
        {"type": "function", "name": "f"},
        {"type": "web_search"},
        {"type": "function", "name": "f", "description": "new"},
    )
    assert joined((old, other), [new]) == (new, other)
    assert joined((old, old), []) == (old, old)


def test_a_hosted_choice() -> None:
    choice = read_choice(Members({"tool_choice": {"type": "file_search"}}, Losses()), Losses())
    assert choice is not None
    assert (choice.mode, choice.hosted) == (ChoiceMode.NAMED, "file_search")


@pytest.mark.parametrize(
    ("tools", "kind", "path"),
    [
        ([7], "invalid_request", "tools[0]"),
        ([{}], "invalid_request", "tools[0].type"),
        ([{"type": "mystery"}], "unsupported_value", "tools[0].type"),
        ([{"type": "custom"}], "invalid_request", "tools[0].name"),
        ([{"type": "namespace", "tools": []}], "invalid_request", "tools[0].name"),
        ([{"type": "namespace", "name": "n", "tools": {}}], "invalid_request", "tools[0].tools"),
        ([{"type": "namespace", "name": "n", "tools": [{}]}], "invalid_request", "tools[0].tools[0].type"),
    ],
)
def test_what_is_wrong_is_named(tools: Any, kind: str, path: str) -> None:
    assert RESPONSES_TO_CHAT.refused({"tools": tools}) == (kind, path)
