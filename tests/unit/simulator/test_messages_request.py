from typing import Any

import pytest

from tidegate.core.protocol import Protocol
from tidegate.simulator.ask import Ask, Auto, Choice, Forced, Never, Thinking
from tidegate.simulator.messages_request import read, read_for_count
from tidegate.simulator.trouble import Trouble

from .reading import FUNCTION, request, tools

USE = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "sunny", "is_error": False}


def asked(**members: Any) -> Ask:
    found = read(request(Protocol.MESSAGES, **members), b"raw")
    assert isinstance(found, Ask), found
    return found


def refused(**members: Any) -> Trouble:
    found = read(request(Protocol.MESSAGES, **members), b"raw")
    assert isinstance(found, Trouble)
    return found


def test_client_tools_with_a_schema_of_their_own_are_usable_and_server_tools_are_not() -> None:
    given = [
        {"type": "web_search_20260318", "name": "web_search"},
        {"type": "bash_20250124", "name": "bash"},
        {"type": "custom", "name": "c", "input_schema": FUNCTION},
        *tools(Protocol.MESSAGES, "f"),
    ]
    found = asked(tools=given).tools
    assert [tool.name for tool in found] == ["bash", "c", "f"]
    assert found[0].schema is not None
    assert found[0].schema["required"] == ["command"]


@pytest.mark.parametrize(
    ("wish", "choice"),
    [
        ({"type": "auto"}, Auto()),
        ({"type": "none"}, Never()),
        ({"type": "any"}, Forced()),
        ({"type": "tool", "name": "f"}, Forced("f")),
        (None, Auto()),
    ],
)
def test_each_form_of_tool_choice(wish: object, choice: Choice) -> None:
    assert asked(tool_choice=wish).choice == choice


def test_one_call_at_a_time_on_request() -> None:
    assert not asked(tool_choice={"type": "auto", "disable_parallel_tool_use": True}).parallel


@pytest.mark.parametrize(
    ("wish", "thinking"),
    [
        ({"type": "adaptive"}, Thinking.SHOWN),
        ({"type": "enabled", "budget_tokens": 31999}, Thinking.SHOWN),
        ({"type": "adaptive", "display": "omitted"}, Thinking.HIDDEN),
        ({"type": "disabled"}, Thinking.OFF),
    ],
)
def test_reasoning_on_request(wish: object, thinking: Thinking) -> None:
    assert asked(thinking=wish).thinking is thinking


def test_a_last_turn_that_is_a_tool_result_also_before_a_system_message() -> None:
    turns = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": [{"type": "text", "text": "a"}, USE]},
        {"role": "user", "content": [RESULT]},
    ]
    assert asked(messages=turns).tool_result == "sunny"
    assert asked(messages=[*turns, {"role": "system", "content": "be brief"}]).tool_result == "sunny"
    assert asked(messages=[*turns, {"role": "assistant", "content": "ok"}]).tool_result is None


def test_signatures_stops_and_schema() -> None:
    thought = {"type": "thinking", "thinking": "t", "signature": "opaque"}
    found = asked(
        messages=[{"role": "user", "content": "x"}, {"role": "assistant", "content": [thought]}],
        stop_sequences=["END"],
        output_config={"format": {"type": "json_schema", "schema": FUNCTION}},
    )
    assert (found.carriers, found.stops, found.schema) == (("opaque",), ("END",), FUNCTION)


def test_what_the_real_provider_refuses() -> None:
    assert refused(max_tokens=None).param == "max_tokens"
    assert refused(messages=[]).param == "messages"
    unanswered = [{"role": "assistant", "content": [USE]}, {"role": "user", "content": "y"}]
    assert "toolu_1" in refused(messages=unanswered).message


def test_counting_needs_no_limit() -> None:
    found = read_for_count({"model": "sim", "messages": [{"role": "user", "content": "x"}]}, b"raw")
    assert isinstance(found, Ask)
    assert found.prompt_tokens > 1
