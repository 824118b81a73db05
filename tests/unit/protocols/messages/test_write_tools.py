"""Tools for a messages channel: schemas, names, custom and hosted tools, choices."""

from hashlib import sha256
from typing import Any

import pytest
from tests.unit.protocols.messages.conversing import (
    CALLED,
    FUNCTION,
    C,
    R,
    assistant,
    chat,
    converted,
    refused,
    responses,
    tool,
    user,
    write,
)

from tidegate.core.capability import UnsupportedTools
from tidegate.core.events import CallKind
from tidegate.protocols.conversion import ToolName, Written

F = {"type": "function", "name": "f", "parameters": {"type": "object"}}
SEARCH = {"type": "web_search"}
INPUT = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
LONG = "n" * 140


def function(**members: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", **members}}


def declared(*tools: Any, **abilities: Any) -> tuple[list[Any], list[str]]:
    body, lost = converted(R, responses(tools=list(tools)), **abilities)
    return body["tools"], lost


def chosen(choice: Any, *tools: Any, **members: Any) -> Any:
    body, _ = converted(C, chat(tools=list(tools) or [FUNCTION], tool_choice=choice, **members))
    return body.get("tool_choice")


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"description": "d", "strict": True}, {"description": "d", "strict": True}),
        ({"strict": False}, {}),
        ({}, {}),
        ({"description": ""}, {}),
    ],
)
def test_a_function_is_a_tool(given: dict[str, Any], sent: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "null"}}}
    body, lost = converted(C, chat(tools=[function(parameters=schema, **given)]))
    assert body["tools"] == [{"name": "f", "input_schema": schema, **sent}]
    assert not lost


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        (None, {"type": "object", "properties": {}}),
        ({"properties": {}}, {"type": "object", "properties": {}}),
        ({}, {"type": "object"}),
        ({"type": "object", "anyOf": []}, {"type": "object", "anyOf": []}),
    ],
)
def test_a_schema_that_only_lacks_its_type_gets_it(given: Any, sent: Any) -> None:
    body, lost = converted(C, chat(tools=[function(parameters=given)]))
    assert body["tools"][0]["input_schema"] == sent
    assert not lost


@pytest.mark.parametrize(
    "given", [{"type": "array"}, {"anyOf": []}, {"$ref": "#/x"}, {"type": ["object"]}, [], 7]
)
def test_any_other_root_of_a_schema_is_refused(given: Any) -> None:
    assert refused(C, chat(tools=[function(parameters=given)])) == "tools[0].function.parameters"
    assert refused(R, responses(tools=[{**F, "parameters": given}])) == "tools[0].parameters"
    legacy = chat(functions=[{"name": "f", "parameters": given}])
    assert refused(C, legacy) == "functions[0].parameters"


def test_a_long_name_is_cut_and_told_apart_everywhere() -> None:
    short = "n" * 119 + "_" + sha256(LONG.encode()).hexdigest()[:8]
    call = {"id": "a", "type": "function", "function": {"name": LONG, "arguments": "{}"}}
    request = chat(
        user(),
        assistant(tool_calls=[call]),
        tool("a"),
        tools=[{"type": "function", "function": {"name": LONG}}],
        tool_choice={"type": "function", "function": {"name": LONG}},
    )
    written = write(C, request)
    assert isinstance(written, Written)
    body, _ = converted(C, request)
    assert body["tools"][0]["name"] == short
    assert body["tool_choice"]["name"] == short
    assert body["messages"][1]["content"][0]["name"] == short
    assert written.names == {short: ToolName(LONG)}


def test_two_tools_with_one_name_are_refused() -> None:
    tools = [{"type": "namespace", "name": "a", "tools": [{**F, "name": "b"}]}, {**F, "name": "a__b"}]
    assert refused(R, responses(tools=tools)) == "tools[1]"


def test_members_that_only_one_protocol_knows_are_dropped() -> None:
    tools, lost = declared({**F, "output_schema": {"type": "object"}, "defer_loading": True})
    assert tools == [{"name": "f", "input_schema": {"type": "object"}}]
    assert lost == ["dropped:tools[0].output_schema"]


def test_functions_of_a_namespace_carry_its_name() -> None:
    space = {"type": "namespace", "name": "ns", "tools": [F, {**F, "name": "g"}]}
    request = responses(tools=[space])
    tools, lost = declared(space)
    written = write(R, request)
    assert isinstance(written, Written)
    assert [each["name"] for each in tools] == ["ns__f", "ns__g"]
    assert lost == ["approximated:tools[0]"]
    assert written.names["ns__f"] == ToolName("f", CallKind.FUNCTION, "ns")


def test_a_custom_tool_is_a_function_with_one_string() -> None:
    plain = {"type": "custom", "name": "p", "description": "d"}
    grammar = {"type": "grammar", "syntax": "lark", "definition": "start: WORD"}
    tools, lost = declared(plain, {"type": "custom", "name": "q", "format": grammar})
    assert tools[0] == {"name": "p", "description": "d", "input_schema": INPUT}
    assert tools[1]["input_schema"] == INPUT
    assert "start: WORD" in tools[1]["description"]
    assert lost == ["approximated:tools[1]"]


def test_a_custom_call_of_the_history_is_wrapped_the_same_way() -> None:
    items = (
        user(),
        {"type": "custom_tool_call", "call_id": "a", "name": "p", "input": 'say "x"'},
        {"type": "custom_tool_call_output", "call_id": "a", "output": "ok"},
    )
    body, _ = converted(R, responses(*items, tools=[{"type": "custom", "name": "p"}]))
    assert body["messages"][1]["content"][0]["input"] == {"input": 'say "x"'}


def test_hosted_tools_are_dropped_with_a_warning() -> None:
    tools, lost = declared(SEARCH, F, {"type": "tool_search"})
    assert [each["name"] for each in tools] == ["f"]
    assert lost == ["dropped:tools[0]", "dropped:tools[2]"]


def test_hosted_tools_are_refused_where_key_or_channel_want_that() -> None:
    request = responses(tools=[F, SEARCH])
    assert refused(R, request, unsupported_tools=UnsupportedTools.REJECT) == "tools[1].type"


def test_the_only_tool_is_not_dropped_and_neither_is_a_forced_one() -> None:
    assert refused(R, responses(tools=[SEARCH])) == "tools[0].type"
    assert refused(R, responses(tools=[F, SEARCH], tool_choice=SEARCH)) == "tools[1].type"


def test_web_search_converts_where_the_channel_has_it() -> None:
    place = {"type": "approximate", "city": "Oslo", "country": "NO"}
    search = {
        "type": "web_search",
        "filters": {"allowed_domains": ["a.example"]},
        "user_location": place,
        "search_context_size": "high",
    }
    body, lost = converted(R, responses(tools=[search], tool_choice=SEARCH), web_search=True)
    assert body["tools"] == [
        {
            "type": "web_search_20250305",
            "name": "web_search",
            "allowed_domains": ["a.example"],
            "user_location": place,
        }
    ]
    assert body["tool_choice"] == {"type": "tool", "name": "web_search"}
    assert lost == ["dropped:tools[0].search_context_size"]


def test_the_search_option_of_chat_is_a_tool_or_refused() -> None:
    request = chat(
        web_search_options={"user_location": {"type": "approximate", "approximate": {"city": "Oslo"}}}
    )
    body, lost = converted(C, request, web_search=True)
    assert body["tools"][0]["user_location"] == {"type": "approximate", "city": "Oslo"}
    assert lost == ["approximated:web_search_options"]
    assert refused(C, request) == "web_search_options"


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ({"type": "function", "function": {"name": "f"}}, {"type": "tool", "name": "f"}),
        ({"type": "custom", "custom": {"name": "f"}}, {"type": "tool", "name": "f"}),
    ],
)
def test_every_choice_has_its_counterpart(choice: Any, sent: Any) -> None:
    assert chosen(choice) == sent
    alone = sent if sent["type"] == "none" else {**sent, "disable_parallel_tool_use": True}
    assert chosen(choice, parallel_tool_calls=False) == alone


def test_calls_one_by_one_without_a_choice_leave_the_choice_to_the_model() -> None:
    assert chosen(None, parallel_tool_calls=False) == {"type": "auto", "disable_parallel_tool_use": True}
    assert chosen(None, parallel_tool_calls=True) is None


def test_without_tools_there_is_no_choice() -> None:
    body, lost = converted(
        C, chat(user(), assistant(tool_calls=CALLED), tool("a"), parallel_tool_calls=False)
    )
    assert "tool_choice" not in body
    assert "tools" not in body
    assert not lost


def test_allowed_tools_are_the_only_ones_that_are_offered() -> None:
    g = {"type": "function", "function": {"name": "g"}}
    allowed = {"mode": "required", "tools": [{"type": "function", "function": {"name": "g"}}]}
    choice = {"type": "allowed_tools", "allowed_tools": allowed}
    body, lost = converted(C, chat(tools=[FUNCTION, g], tool_choice=choice))
    assert [each["name"] for each in body["tools"]] == ["g"]
    assert body["tool_choice"] == {"type": "any"}
    assert lost == ["approximated:tool_choice"]


def test_a_list_of_allowed_tools_that_allows_none_is_refused() -> None:
    choice = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "z"}]}
    assert refused(R, responses(tools=[F], tool_choice=choice)) == "tool_choice"
