"""Tools and choices of a Messages request in the common form."""

from typing import Any

import pytest
from tests.unit.protocols.messages.conversing import M, messages, read

from tidegate.core.conversation import ChoiceMode, Conversation, Given, Tool, ToolChoice, ToolKind
from tidegate.core.failure import Failure, Kind

F = {"name": "f", "input_schema": {"type": "object"}}
AUTO = ToolChoice(mode=ChoiceMode.AUTO, path="tool_choice")


def conversation(**members: Any) -> Conversation:
    found = read(M, messages(**members))
    assert isinstance(found, Conversation), found
    return found


def failure(**members: Any) -> Failure:
    found = read(M, messages(**members))
    assert isinstance(found, Failure), found
    return found


@pytest.mark.parametrize("kind", [{}, {"type": "custom"}, {"type": None}])
def test_a_function(kind: dict[str, Any]) -> None:
    tool = {**F, **kind, "description": "d", "strict": True, "cache_control": {"type": "ephemeral"}}
    assert conversation(tools=[tool]).tools == (
        Tool(
            kind=ToolKind.FUNCTION,
            path="tools[0]",
            name="f",
            description="d",
            schema={"type": "object"},
            strict=True,
        ),
    )


def test_members_that_no_other_protocol_knows_are_named_unless_they_say_nothing() -> None:
    more = {
        "input_examples": [{}],
        "eager_input_streaming": True,
        "allowed_callers": ["code_execution_20250825"],
    }
    plain = {
        "input_examples": [],
        "eager_input_streaming": False,
        "allowed_callers": ["direct"],
        "strict": None,
    }
    found = conversation(tools=[{**F, **more}, {**F, **plain, "name": "g"}]).tools
    assert found[0].extras == ("input_examples", "eager_input_streaming", "allowed_callers")
    assert found[1].extras == ()


@pytest.mark.parametrize(
    "kind",
    [
        "web_search_20250305",
        "web_fetch_20260318",
        "code_execution_20250825",
        "tool_search_tool_bm25_20251119",
        "bash_20250124",
        "text_editor_20250728",
        "memory_20250818",
        "computer_toolset_20260801",
        "browser_toolset_20260801",
        "mcp_toolset",
        "advisor_20270101",
    ],
)
def test_a_tool_of_the_provider(kind: str) -> None:
    tool = {"type": kind, "name": "n", "max_uses": 5}
    assert conversation(tools=[tool]).tools == (
        Tool(kind=ToolKind.HOSTED, path="tools[0]", name="n", type=kind, body=tool),
    )


def test_a_tool_of_an_unknown_kind_is_refused() -> None:
    found = failure(tools=[F, {"type": "hologram", "name": "h"}])
    assert (found.kind, found.param) == (Kind.UNSUPPORTED_VALUE, "tools[1].type")


@pytest.mark.parametrize(
    ("tool", "param"),
    [
        (7, "tools[0]"),
        ({}, "tools[0].name"),
        ({"name": ""}, "tools[0].name"),
        ({"name": "f", "input_schema": "x"}, "tools[0].input_schema"),
        ({"name": "f", "description": 7}, "tools[0].description"),
        ({"name": "f", "type": 7}, "tools[0].type"),
    ],
)
def test_a_malformed_tool_is_named(tool: Any, param: str) -> None:
    found = failure(tools=[tool])
    assert (found.kind, found.param) == (Kind.INVALID_REQUEST, param)


@pytest.mark.parametrize(
    ("choice", "mode"),
    [("auto", ChoiceMode.AUTO), ("any", ChoiceMode.REQUIRED), ("none", ChoiceMode.NONE)],
)
def test_a_choice_in_one_word(choice: str, mode: ChoiceMode) -> None:
    found = conversation(tools=[F], tool_choice={"type": choice})
    assert found.choice == ToolChoice(mode=mode, path="tool_choice")
    assert found.parallel is None


def test_a_choice_of_one_tool() -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    ours = conversation(tools=[F, search], tool_choice={"type": "tool", "name": "f"}).choice
    theirs = conversation(tools=[F, search], tool_choice={"type": "tool", "name": "web_search"}).choice
    assert ours == ToolChoice(mode=ChoiceMode.NAMED, path="tool_choice", names=("f",))
    assert theirs is not None
    assert theirs.hosted == "web_search_20250305"


@pytest.mark.parametrize(
    ("choice", "parallel"),
    [
        ({"type": "auto", "disable_parallel_tool_use": True}, False),
        ({"type": "any", "disable_parallel_tool_use": True}, False),
        ({"type": "auto", "disable_parallel_tool_use": False}, None),
        ({"type": "none", "disable_parallel_tool_use": True}, None),
    ],
)
def test_calls_one_by_one(choice: Any, parallel: bool | None) -> None:
    path = "tool_choice.disable_parallel_tool_use"
    wanted = None if parallel is None else Given(parallel, path)
    assert conversation(tools=[F], tool_choice=choice).parallel == wanted


@pytest.mark.parametrize(
    ("choice", "param"),
    [
        ({"type": "perhaps"}, "tool_choice.type"),
        ({}, "tool_choice.type"),
        ({"type": "tool"}, "tool_choice.name"),
        ({"type": "auto", "disable_parallel_tool_use": 1}, "tool_choice.disable_parallel_tool_use"),
    ],
)
def test_a_choice_that_cannot_be_meant_is_refused(choice: Any, param: str) -> None:
    assert failure(tools=[F], tool_choice=choice).param == param
