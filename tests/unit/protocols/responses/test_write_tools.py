"""Tools for responses upstreams."""

from typing import Any

import pytest
from tests.unit.protocols.asking import CHAT_TO_RESPONSES, MESSAGES_TO_RESPONSES

FUNCTION = {"name": "f", "input_schema": {"type": "object", "properties": {}}}
SEARCH = {
    "type": "web_search_20250305",
    "name": "web_search",
    "allowed_domains": ["a.test"],
    "user_location": {"type": "approximate", "city": "Rome"},
}


@pytest.mark.parametrize(
    ("strict", "sent"), [({}, False), ({"strict": False}, False), ({"strict": True}, True)]
)
def test_strictness_is_always_told(strict: dict[str, Any], sent: bool) -> None:
    tool = {"type": "function", "function": {"name": "f", **strict}}
    assert CHAT_TO_RESPONSES.sent({"tools": [tool]})["tools"] == [
        {"type": "function", "name": "f", "parameters": None, "strict": sent}
    ]


def test_a_custom_tool_stays_one() -> None:
    tool = {"type": "custom", "custom": {"name": "c", "description": "d"}}
    assert CHAT_TO_RESPONSES.sent({"tools": [tool]})["tools"] == [
        {"type": "custom", "name": "c", "description": "d"}
    ]


def test_web_search_goes_to_channels_that_have_it() -> None:
    found = MESSAGES_TO_RESPONSES.sent({"tools": [SEARCH, FUNCTION]}, web_search=True)["tools"][0]
    assert found == {
        "type": "web_search",
        "filters": {"allowed_domains": ["a.test"]},
        "user_location": {"type": "approximate", "city": "Rome"},
    }


def test_a_forced_web_search_stays_forced() -> None:
    body = {"tools": [SEARCH, FUNCTION], "tool_choice": {"type": "tool", "name": "web_search"}}
    assert MESSAGES_TO_RESPONSES.sent(body, web_search=True)["tool_choice"] == {"type": "web_search"}
    assert MESSAGES_TO_RESPONSES.refused(body) == ("unsupported_value", "tools[0].type")


def test_web_search_options_become_a_tool() -> None:
    place = {"type": "approximate", "approximate": {"country": "IT"}}
    body = {"web_search_options": {"search_context_size": "high", "user_location": place}}
    assert CHAT_TO_RESPONSES.sent(body)["tools"] == [
        {
            "type": "web_search",
            "user_location": {"type": "approximate", "country": "IT"},
            "search_context_size": "high",
        }
    ]
    assert CHAT_TO_RESPONSES.lost(body) == ["approximated:web_search_options"]


def test_a_custom_tool_that_is_forced() -> None:
    tool = {"type": "custom", "custom": {"name": "c"}}
    body = {"tools": [tool], "tool_choice": tool}
    assert CHAT_TO_RESPONSES.sent(body)["tool_choice"] == {"type": "custom", "name": "c"}
    dressed = CHAT_TO_RESPONSES.sent(body, custom_tools=False)
    assert dressed["tool_choice"] == {"type": "function", "name": "c"}


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ({"type": "any"}, "required"),
        ({"type": "auto"}, "auto"),
        ({"type": "none"}, "none"),
        ({"type": "tool", "name": "f"}, {"type": "function", "name": "f"}),
    ],
)
def test_choices_of_messages(choice: dict[str, Any], sent: Any) -> None:
    assert MESSAGES_TO_RESPONSES.sent({"tools": [FUNCTION], "tool_choice": choice})["tool_choice"] == sent
