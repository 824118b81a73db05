"""Tools for chat upstreams."""

from typing import Any

import pytest
from tests.unit.protocols.asking import MESSAGES_TO_CHAT, RESPONSES_TO_CHAT

FUNCTION = {"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}}


@pytest.mark.parametrize(
    ("tool", "function"),
    [
        ({"type": "function", "name": "f", "parameters": None, "strict": None}, {"name": "f"}),
        (
            {**FUNCTION, "strict": True},
            {"name": "f", "description": "d", "parameters": {"type": "object"}, "strict": True},
        ),
        (
            {**FUNCTION, "strict": False},
            {"name": "f", "description": "d", "parameters": {"type": "object"}, "strict": False},
        ),
    ],
)
def test_functions(tool: dict[str, Any], function: dict[str, Any]) -> None:
    assert RESPONSES_TO_CHAT.sent({"tools": [tool]}) == {
        "tools": [{"type": "function", "function": function}]
    }


def test_web_search_becomes_an_option_where_the_channel_has_it() -> None:
    search = {
        "type": "web_search",
        "filters": {"allowed_domains": ["a.test"]},
        "user_location": {"type": "approximate", "city": "Rome"},
        "search_context_size": "low",
    }
    body = {"tools": [search, FUNCTION], "tool_choice": "auto"}
    sent = RESPONSES_TO_CHAT.sent(body, web_search=True)
    assert sent["web_search_options"] == {
        "search_context_size": "low",
        "user_location": {"type": "approximate", "approximate": {"city": "Rome"}},
    }
    assert len(sent["tools"]) == 1
    assert RESPONSES_TO_CHAT.lost(body, web_search=True) == ["dropped:tools[0].filters.allowed_domains"]
    alone = RESPONSES_TO_CHAT.sent(
        {"tools": [{"type": "web_search"}], "tool_choice": "auto"}, web_search=True
    )
    assert alone == {"web_search_options": {}}


def test_domains_of_a_messages_search_are_named_where_they_stood() -> None:
    search = {"type": "web_search_20250305", "name": "web_search", "allowed_domains": ["a.test"]}
    assert MESSAGES_TO_CHAT.lost({"tools": [search]}, web_search=True) == ["dropped:tools[0].allowed_domains"]


def test_a_native_custom_tool_of_free_text() -> None:
    tools = RESPONSES_TO_CHAT.sent({"tools": [{"type": "custom", "name": "c"}]}, custom_tools=True)["tools"]
    assert tools == [{"type": "custom", "custom": {"name": "c"}}]


def test_a_search_cannot_be_forced() -> None:
    body = {"tools": [{"type": "web_search"}, FUNCTION], "tool_choice": {"type": "web_search"}}
    assert RESPONSES_TO_CHAT.refused(body, web_search=True) == ("unsupported_value", "tool_choice")


@pytest.mark.parametrize(
    ("choice", "sent", "parallel"),
    [
        ({"type": "auto"}, "auto", None),
        ({"type": "any", "disable_parallel_tool_use": True}, "required", False),
        ({"type": "auto", "disable_parallel_tool_use": True}, "auto", False),
        ({"type": "none"}, "none", None),
        ({"type": "tool", "name": "f"}, {"type": "function", "function": {"name": "f"}}, None),
    ],
)
def test_choices_of_messages(choice: dict[str, Any], sent: Any, parallel: bool | None) -> None:
    tools = [{"name": "f", "input_schema": {"type": "object"}}]
    found = MESSAGES_TO_CHAT.sent({"tools": tools, "tool_choice": choice})
    assert found["tool_choice"] == sent
    assert found.get("parallel_tool_calls") is parallel
