from typing import Any

import pytest

from tidegate.core.protocol import Protocol
from tidegate.simulator.ask import Ask, Auto, Choice, Forced, Never, Thinking, Tool, ToolForm
from tidegate.simulator.chat_request import read
from tidegate.simulator.trouble import Trouble

from .reading import FUNCTION, request, tools

CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def asked(**members: Any) -> Ask:
    found = read(request(Protocol.CHAT, **members), b"raw")
    assert isinstance(found, Ask), found
    return found


def refused(**members: Any) -> Trouble:
    found = read(request(Protocol.CHAT, **members), b"raw")
    assert isinstance(found, Trouble)
    return found


def test_functions_and_custom_tools_are_usable_and_hosted_ones_are_not() -> None:
    custom = {"type": "custom", "custom": {"name": "free"}}
    found = asked(tools=[{"type": "web_search"}, custom, *tools(Protocol.CHAT, "f")]).tools
    assert found == (Tool("free", ToolForm.CUSTOM), Tool("f", ToolForm.FUNCTION, FUNCTION))


@pytest.mark.parametrize(
    ("wish", "choice", "names"),
    [
        ("auto", Auto(), ["f", "g"]),
        ("none", Never(), ["f", "g"]),
        ("required", Forced(), ["f", "g"]),
        ({"type": "function", "function": {"name": "g"}}, Forced("g"), ["f", "g"]),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "required", "tools": tools(Protocol.CHAT, "g")},
            },
            Forced(),
            ["g"],
        ),
    ],
)
def test_each_form_of_tool_choice(wish: object, choice: Choice, names: list[str]) -> None:
    found = asked(tools=tools(Protocol.CHAT, "f", "g"), tool_choice=wish)
    assert (found.choice, [tool.name for tool in found.tools]) == (choice, names)


def test_limits_stops_and_usage() -> None:
    found = asked(
        max_completion_tokens=5, max_tokens=9, stop="END", n=2, stream_options={"include_usage": True}
    )
    assert (found.limit, found.stops, found.choices, found.wants_usage) == (5, ("END",), 2, True)
    assert (asked(max_tokens=9).limit, asked().wants_usage) == (9, False)


@pytest.mark.parametrize(
    "wish",
    [
        {"reasoning_effort": "low"},
        {"reasoning": {"effort": "high"}},
        {"thinking": {"type": "enabled"}},
        {"enable_thinking": True},
    ],
)
def test_reasoning_on_request(wish: dict[str, Any]) -> None:
    assert asked(**wish).thinking is Thinking.SHOWN


def test_no_reasoning_otherwise() -> None:
    assert asked().thinking is asked(reasoning_effort="none").thinking is Thinking.OFF


def test_the_schema_of_the_answer() -> None:
    wish = {"type": "json_schema", "json_schema": {"name": "n", "schema": FUNCTION}}
    assert asked(response_format=wish).schema == FUNCTION
    assert asked(response_format={"type": "json_object"}).schema == {}
    assert asked(response_format={"type": "text"}).schema is None


def test_a_last_turn_that_is_a_tool_result() -> None:
    turns = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "sunny"}]},
    ]
    assert asked(messages=turns).tool_result == "sunny"
    assert asked().tool_result is None


def test_what_the_real_provider_refuses() -> None:
    calling = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    assert refused(messages=[]).param == "messages"
    assert refused(stream=False, stream_options={"include_usage": True}).param == "stream_options"
    assert refused(n=1000).param == "n"
    unanswered = [{"role": "user", "content": "x"}, calling, {"role": "user", "content": "y"}]
    assert "call_1" in refused(messages=unanswered).message
