"""Choices among tools, and what a function may carry."""

from typing import Any

import pytest
from tests.unit.protocols.asking import CHAT_TO_RESPONSES, RESPONSES_TO_CHAT

from tidegate.core.conversation import ChoiceMode
from tidegate.protocols.losses import Losses
from tidegate.protocols.openai_tools import read_allowed


def in_chat(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, **more}}


def in_responses(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "function", "name": name, **more}


CHAT = {"tools": [in_chat("f"), in_chat("g")]}
RESPONSES = {"tools": [in_responses("f"), in_responses("g")]}


@pytest.mark.parametrize(
    ("chat", "responses"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ({"type": "function", "function": {"name": "f"}}, {"type": "function", "name": "f"}),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [in_chat("g")]}},
            {"type": "allowed_tools", "mode": "required", "tools": [in_responses("g")]},
        ),
    ],
)
def test_choices(chat: Any, responses: Any) -> None:
    assert CHAT_TO_RESPONSES.sent({**CHAT, "tool_choice": chat})["tool_choice"] == responses
    assert RESPONSES_TO_CHAT.sent({**RESPONSES, "tool_choice": responses})["tool_choice"] == chat


@pytest.mark.parametrize(
    "body", [{"tool_choice": "auto"}, {"parallel_tool_calls": False}, {"tool_choice": "none"}]
)
def test_without_tools_nothing_is_chosen(body: dict[str, Any]) -> None:
    assert CHAT_TO_RESPONSES.sent(body) == {}
    assert RESPONSES_TO_CHAT.sent(body) == {}


def test_not_in_parallel() -> None:
    body = {"parallel_tool_calls": False}
    assert CHAT_TO_RESPONSES.sent({**CHAT, **body})["parallel_tool_calls"] is False
    assert RESPONSES_TO_CHAT.sent({**RESPONSES, **body})["parallel_tool_calls"] is False
    assert "parallel_tool_calls" not in CHAT_TO_RESPONSES.sent({**CHAT, "parallel_tool_calls": True})


@pytest.mark.parametrize(
    ("choice", "path"),
    [
        ("sometimes", "tool_choice"),
        ({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "web_search"}]}, None),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [{"type": "web_search"}]},
            "tool_choice.tools",
        ),
    ],
)
def test_choices_that_cannot_be(choice: Any, path: str | None) -> None:
    body = {**RESPONSES, "tool_choice": choice}
    if path is not None:
        assert RESPONSES_TO_CHAT.refused(body) == ("unsupported_value", path)
    else:
        assert RESPONSES_TO_CHAT.sent(body)["tool_choice"] == "none"


def test_where_only_hosted_tools_are_allowed_nothing_may_be_called() -> None:
    choice = read_allowed({"mode": "auto", "tools": [{"type": "web_search"}]}, "p", "p", Losses())
    assert choice is not None
    assert (choice.mode, choice.names) == (ChoiceMode.NONE, ())


@pytest.mark.parametrize(
    ("choice", "path"),
    [
        (7, "tool_choice"),
        ({"type": "function"}, "tool_choice.name"),
        ({"type": "allowed_tools", "mode": "auto"}, "tool_choice.tools"),
        ({"type": "allowed_tools", "tools": []}, "tool_choice.mode"),
        ({"type": "allowed_tools", "mode": "auto", "tools": [7]}, "tool_choice.tools[0]"),
    ],
)
def test_malformed_choices_are_named(choice: Any, path: str) -> None:
    if choice == 7:
        choice = {"name": "f"}
    assert RESPONSES_TO_CHAT.refused({**RESPONSES, "tool_choice": choice}) == ("invalid_request", path)


def test_members_of_one_protocol_only_are_dropped_with_a_warning() -> None:
    body = {"tools": [in_responses("f", output_schema={"type": "object"}, allowed_callers=["direct"])]}
    assert RESPONSES_TO_CHAT.lost(body) == [
        "dropped:tools[0].allowed_callers",
        "dropped:tools[0].output_schema",
    ]
    body = {"tools": [in_chat("f", input_examples=[{}])]}
    assert CHAT_TO_RESPONSES.lost(body) == ["dropped:tools[0].function.input_examples"]


def test_deferred_loading_is_passed_over() -> None:
    assert RESPONSES_TO_CHAT.lost({"tools": [in_responses("f", defer_loading=True)]}) == []


@pytest.mark.parametrize("name", ["", None, 7])
def test_no_tool_goes_up_without_a_name(name: object) -> None:
    assert RESPONSES_TO_CHAT.refused({"tools": [{"type": "function", "name": name}]}) == (
        "invalid_request",
        "tools[0].name",
    )
