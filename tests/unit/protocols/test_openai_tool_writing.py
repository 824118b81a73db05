"""Tools on OpenAI upstreams: names, namespaces, custom tools, schemas."""

import json
from typing import Any

import pytest
from tests.unit.protocols.asking import (
    CHAT_TO_RESPONSES,
    MESSAGES_TO_CHAT,
    MESSAGES_TO_RESPONSES,
    RESPONSES_TO_CHAT,
    Crossing,
)

from tidegate.core.events import CallKind
from tidegate.protocols.conversion import ToolName

GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: X"}
PATCH = {"type": "custom", "name": "apply_patch", "description": "Edits.", "format": GRAMMAR}
SHELL = {
    "type": "namespace",
    "name": "functions",
    "description": "Things to run.",
    "tools": [{"type": "custom", "name": "exec"}, {"type": "function", "name": "wait", "parameters": {}}],
}
SEARCH = {"type": "web_search_20250305", "name": "web_search"}
FUNCTION = {"name": "f", "input_schema": {"type": "object", "properties": {}}}


def test_a_custom_tool_goes_to_chat_as_a_function_with_its_grammar_in_words() -> None:
    written = RESPONSES_TO_CHAT.written({"tools": [PATCH]})
    [tool] = json.loads(written.body)["tools"]
    assert tool["function"]["parameters"]["required"] == ["input"]
    assert "start: X" in tool["function"]["description"]
    assert written.names == {"apply_patch": ToolName("apply_patch", CallKind.CUSTOM)}
    assert RESPONSES_TO_CHAT.lost({"tools": [PATCH]}) == ["approximated:tools[0]"]


def test_a_custom_tool_stays_custom_where_the_channel_knows_such() -> None:
    [tool] = RESPONSES_TO_CHAT.sent({"tools": [PATCH]}, custom_tools=True)["tools"]
    grammar = {"syntax": "lark", "definition": "start: X"}
    assert tool == {
        "type": "custom",
        "custom": {
            "name": "apply_patch",
            "description": "Edits.",
            "format": {"type": "grammar", "grammar": grammar},
        },
    }
    assert RESPONSES_TO_CHAT.lost({"tools": [PATCH]}, custom_tools=True) == []
    assert CHAT_TO_RESPONSES.sent({"tools": [tool]})["tools"] == [PATCH]


def test_a_forced_custom_tool_is_forced_in_its_new_form() -> None:
    body = {"tools": [PATCH], "tool_choice": {"type": "custom", "name": "apply_patch"}}
    assert RESPONSES_TO_CHAT.sent(body)["tool_choice"] == {
        "type": "function",
        "function": {"name": "apply_patch"},
    }
    native = RESPONSES_TO_CHAT.sent(body, custom_tools=True)["tool_choice"]
    assert native == {"type": "custom", "custom": {"name": "apply_patch"}}


def test_tools_of_a_namespace_carry_its_name_and_come_back_with_it() -> None:
    written = RESPONSES_TO_CHAT.written({"tools": [SHELL]})
    names = [tool["function"]["name"] for tool in json.loads(written.body)["tools"]]
    assert names == ["functions__exec", "functions__wait"]
    assert written.names["functions__exec"] == ToolName("exec", CallKind.CUSTOM, "functions")
    assert written.names["functions__wait"] == ToolName("wait", CallKind.FUNCTION, "functions")
    assert RESPONSES_TO_CHAT.lost({"tools": [SHELL]}) == ["approximated:tools[0]"]


@pytest.mark.parametrize("crossing", [MESSAGES_TO_CHAT, MESSAGES_TO_RESPONSES])
def test_names_that_do_not_fit_are_changed_everywhere(crossing: Crossing) -> None:
    long, dotted = "n" * 130, "a.b"
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": long, "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]},
    ]
    tools = [{**FUNCTION, "name": long}, {**FUNCTION, "name": dotted}]
    written = crossing.written(
        {"messages": messages, "tools": tools, "tool_choice": {"type": "tool", "name": dotted}}
    )
    back = {tool.name: name for name, tool in written.names.items()}
    assert set(back) == {long, dotted}
    assert long not in written.body.decode()
    assert f'"{dotted}"' not in written.body.decode()
    assert written.body.decode().count(f'"{back[long]}"') == 2
    assert written.body.decode().count(f'"{back[dotted]}"') == 2
    assert written.losses == ()


def test_two_tools_that_would_have_one_name_are_refused() -> None:
    clash = {"type": "function", "name": "functions__wait"}
    assert RESPONSES_TO_CHAT.refused({"tools": [clash, SHELL]}) == ("unsupported_value", "tools[1].tools[1]")


@pytest.mark.parametrize("schema", [{"type": "object"}, {"type": "object", "properties": {}}])
def test_a_schema_of_messages_lists_its_properties(schema: dict[str, Any]) -> None:
    tools = [{"name": "f", "input_schema": schema}]
    [chat] = MESSAGES_TO_CHAT.sent({"tools": tools})["tools"]
    assert chat == {
        "type": "function",
        "function": {"name": "f", "parameters": {"type": "object", "properties": {}}},
    }
    [responses] = MESSAGES_TO_RESPONSES.sent({"tools": tools})["tools"]
    assert responses["parameters"] == {"type": "object", "properties": {}}


def test_a_strange_schema_goes_up_as_it_is() -> None:
    schema = {"oneOf": [{"type": "null"}], "x-vendor": 1}
    [tool] = CHAT_TO_RESPONSES.sent(
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}]}
    )["tools"]
    assert tool["parameters"] == schema


@pytest.mark.parametrize("crossing", [MESSAGES_TO_CHAT, MESSAGES_TO_RESPONSES])
def test_a_search_that_keeps_pages_out_is_refused(crossing: Crossing) -> None:
    body = {"tools": [{**SEARCH, "blocked_domains": ["b.test"]}, FUNCTION]}
    assert crossing.refused(body, web_search=True) == ("unsupported_parameter", "tools[0].blocked_domains")


@pytest.mark.parametrize("crossing", [MESSAGES_TO_CHAT, MESSAGES_TO_RESPONSES])
def test_a_number_of_searches_is_dropped(crossing: Crossing) -> None:
    assert crossing.lost({"tools": [{**SEARCH, "max_uses": 3}, FUNCTION]}, web_search=True) == [
        "dropped:tools[0].max_uses"
    ]
