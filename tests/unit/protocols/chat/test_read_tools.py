"""Tools of Chat requests."""

from typing import Any

import pytest
from tests.unit.protocols.asking import CHAT_TO_RESPONSES

from tidegate.core.conversation import ChoiceMode, ToolKind
from tidegate.core.events import CallKind
from tidegate.protocols.chat.read_tools import read_choice, read_function_call, read_tools, read_web_search
from tidegate.protocols.client_members import Members
from tidegate.protocols.losses import Losses

FUNCTION = {"type": "function", "function": {"name": "f", "description": "d", "strict": True}}
CUSTOM = {"type": "custom", "custom": {"name": "c", "description": "d"}}


def test_functions_and_custom_tools() -> None:
    function, custom = read_tools(Members({"tools": [FUNCTION, CUSTOM]}, Losses()), Losses())
    assert (function.kind, function.name, function.strict) == (ToolKind.FUNCTION, "f", True)
    assert (function.schema, function.path) == (None, "tools[0]")
    assert (custom.kind, custom.name, custom.grammar) == (ToolKind.CUSTOM, "c", None)


@pytest.mark.parametrize(
    "form",
    [
        {"type": "grammar", "grammar": {"syntax": "regex", "definition": "x"}},
        {"type": "grammar", "syntax": "regex", "definition": "x"},
    ],
)
def test_a_grammar_is_read_flat(form: dict[str, Any]) -> None:
    body = {"tools": [{"type": "custom", "custom": {"name": "c", "format": form}}]}
    [tool] = read_tools(Members(body, Losses()), Losses())
    assert tool.grammar == {"type": "grammar", "syntax": "regex", "definition": "x"}


@pytest.mark.parametrize(
    ("tool", "kind", "path"),
    [
        (7, "invalid_request", "tools[0]"),
        ({"type": "function"}, "invalid_request", "tools[0].function"),
        ({"type": "custom"}, "invalid_request", "tools[0].custom"),
        ({"type": 7}, "invalid_request", "tools[0].type"),
        ({"type": "mystery"}, "unsupported_value", "tools[0].type"),
        (
            {"type": "function", "function": {"name": "f", "description": 7}},
            "invalid_request",
            "tools[0].function.description",
        ),
    ],
)
def test_what_is_wrong_is_named(tool: object, kind: str, path: str) -> None:
    assert CHAT_TO_RESPONSES.refused({"tools": [tool]}) == (kind, path)


def test_a_custom_choice() -> None:
    choice = read_choice(
        Members({"tool_choice": {"type": "custom", "custom": {"name": "c"}}}, Losses()), Losses()
    )
    assert choice is not None
    assert (choice.mode, choice.names, choice.kind) == (ChoiceMode.NAMED, ("c",), CallKind.CUSTOM)


@pytest.mark.parametrize(
    ("choice", "kind", "path"),
    [
        ({"type": "web_search"}, "unsupported_value", "tool_choice.type"),
        ({"type": "function", "function": {}}, "invalid_request", "tool_choice.function.name"),
        ({}, "invalid_request", "tool_choice"),
    ],
)
def test_wrong_choices_are_named(choice: object, kind: str, path: str) -> None:
    assert CHAT_TO_RESPONSES.refused({"tools": [FUNCTION], "tool_choice": choice}) == (kind, path)


@pytest.mark.parametrize(
    ("call", "mode", "names"),
    [("auto", ChoiceMode.AUTO, ()), ("none", ChoiceMode.NONE, ()), ({"name": "f"}, ChoiceMode.NAMED, ("f",))],
)
def test_the_deprecated_choice(call: object, mode: ChoiceMode, names: tuple[str, ...]) -> None:
    choice = read_function_call(Members({"function_call": call}, Losses()), Losses())
    assert choice is not None
    assert (choice.mode, choice.names, choice.path) == (mode, names, "function_call")


def test_a_wrong_deprecated_choice_is_named() -> None:
    refusals = Losses()
    assert read_function_call(Members({"function_call": {"name": 7}}, refusals), refusals) is None
    assert refusals.failure is not None
    assert refusals.failure.param == "function_call"


@pytest.mark.parametrize("options", [{}, {"search_context_size": "low"}])
def test_web_search_is_on_when_its_options_are_there(options: dict[str, Any]) -> None:
    found = read_web_search(Members({"web_search_options": options}, Losses()))
    assert found is not None
    assert found.value == options
    assert read_web_search(Members({}, Losses())) is None
