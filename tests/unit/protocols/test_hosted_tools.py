"""Hosted tools that a channel lacks: dropped, refused, or converted."""

import pytest
from tests.unit.protocols.asking import CHAT_TO_RESPONSES, MESSAGES_TO_CHAT, RESPONSES_TO_CHAT, Crossing

from tidegate.core.capability import UnsupportedTools
from tidegate.protocols.hosted_tools import is_known

FUNCTION = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}
SEARCH = {"type": "web_search", "external_web_access": True}


@pytest.mark.parametrize(
    "type_",
    [
        *(
            "web_search",
            "web_search_20250305",
            "file_search",
            "code_interpreter",
            "computer_use_preview",
            "mcp",
        ),
        *(
            "shell",
            "local_shell",
            "apply_patch",
            "tool_search",
            "tool_search_tool_bm25_20251119",
            "bash_20250124",
        ),
        *("text_editor_20250728", "memory_20250818", "computer_toolset_20260801", "shiny_thing_20270101"),
    ],
)
def test_tools_of_the_providers_are_known(type_: str) -> None:
    assert is_known(type_)


@pytest.mark.parametrize("type_", ["", "functions", "my_tool", "websearch"])
def test_other_types_are_not(type_: str) -> None:
    assert not is_known(type_)


def test_a_hosted_tool_beside_others_is_dropped_with_a_warning() -> None:
    body = {"tools": [SEARCH, FUNCTION]}
    assert RESPONSES_TO_CHAT.lost(body) == ["dropped:tools[0]"]
    assert [tool["function"]["name"] for tool in RESPONSES_TO_CHAT.sent(body)["tools"]] == ["f"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"tools": [SEARCH]}, "tools[0].type"),
        ({"tools": [FUNCTION, SEARCH], "tool_choice": {"type": "web_search"}}, "tools[1].type"),
        ({"tools": [FUNCTION, {"type": "mystery"}]}, "tools[1].type"),
        ({"tools": [FUNCTION], "tool_choice": {"type": "file_search"}}, "tool_choice"),
    ],
)
def test_a_tool_that_is_forced_or_alone_or_unknown_is_refused(body: dict[str, object], path: str) -> None:
    assert RESPONSES_TO_CHAT.refused(body) == ("unsupported_value", path)


def test_key_or_channel_may_want_refusal() -> None:
    body = {"tools": [SEARCH, FUNCTION]}
    found = RESPONSES_TO_CHAT.refused(body, unsupported_tools=UnsupportedTools.REJECT)
    assert found == ("unsupported_value", "tools[0].type")


def test_tools_that_wait_for_a_search_are_loaded_at_once() -> None:
    body = {"tools": [{"type": "tool_search"}, {**FUNCTION, "defer_loading": True}]}
    assert RESPONSES_TO_CHAT.lost(body) == ["dropped:tools[0]", "approximated:tools[1].defer_loading"]


@pytest.mark.parametrize("crossing", [CHAT_TO_RESPONSES, MESSAGES_TO_CHAT])
def test_any_client_may_list_any_hosted_tool(crossing: Crossing) -> None:
    named = {"name": "f", "input_schema": {"type": "object"}}
    function = named if crossing is MESSAGES_TO_CHAT else {"type": "function", "function": {"name": "f"}}
    search = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}
    assert crossing.lost({"tools": [search, function]}) == ["dropped:tools[0]"]
