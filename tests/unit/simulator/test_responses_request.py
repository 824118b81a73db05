from typing import Any

import pytest

from tidegate.core.protocol import Protocol
from tidegate.simulator.ask import Ask, Auto, Choice, Forced, Never, Thinking, Tool, ToolForm
from tidegate.simulator.responses_request import read
from tidegate.simulator.trouble import Trouble

from .reading import FUNCTION, request, tools


def asked(**members: Any) -> Ask:
    found = read(request(Protocol.RESPONSES, **members), b"raw")
    assert isinstance(found, Ask), found
    return found


def refused(**members: Any) -> Trouble:
    found = read(request(Protocol.RESPONSES, **members), b"raw")
    assert isinstance(found, Trouble)
    return found


def test_namespaces_are_opened_and_hosted_tools_skipped() -> None:
    space = {
        "type": "namespace",
        "name": "functions",
        "tools": [
            {"type": "custom", "name": "exec", "format": {"type": "text"}},
            *tools(Protocol.RESPONSES, "g"),
        ],
    }
    hosted: dict[str, Any] = {"type": "web_search", "external_web_access": True}
    found = asked(tools=[hosted, space, *tools(Protocol.RESPONSES, "f")]).tools
    assert found == (
        Tool("exec", ToolForm.CUSTOM, None, "functions"),
        Tool("g", ToolForm.FUNCTION, FUNCTION, "functions"),
        Tool("f", ToolForm.FUNCTION, FUNCTION),
    )


def test_tools_of_an_input_item_count_as_the_requests_tools() -> None:
    item = {"type": "additional_tools", "role": "developer", "tools": tools(Protocol.RESPONSES, "f")}
    found = asked(input=[item, {"role": "user", "content": "x"}])
    assert [tool.name for tool in found.tools] == ["f"]


@pytest.mark.parametrize(
    ("wish", "choice", "names"),
    [
        ("auto", Auto(), ["f", "g"]),
        ("none", Never(), ["f", "g"]),
        ("required", Forced(), ["f", "g"]),
        ({"type": "function", "name": "g"}, Forced("g"), ["f", "g"]),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "g"}]},
            Auto(),
            ["g"],
        ),
        ({"type": "web_search"}, Auto(), ["f", "g"]),
    ],
)
def test_each_form_of_tool_choice(wish: object, choice: Choice, names: list[str]) -> None:
    found = asked(tools=tools(Protocol.RESPONSES, "f", "g"), tool_choice=wish)
    assert (found.choice, [tool.name for tool in found.tools]) == (choice, names)


@pytest.mark.parametrize(
    ("wish", "thinking"),
    [
        ({"effort": "low"}, Thinking.HIDDEN),
        ({"effort": "low", "summary": "auto"}, Thinking.SHOWN),
        ({"summary": "auto"}, Thinking.SHOWN),
        ({"effort": "none", "summary": "auto"}, Thinking.OFF),
        (None, Thinking.OFF),
    ],
)
def test_reasoning_on_request(wish: object, thinking: Thinking) -> None:
    assert asked(reasoning=wish).thinking is thinking


def test_the_answer_repeats_what_was_asked() -> None:
    echo = asked(temperature=0.5, metadata={"a": "b"}, store=False).echo
    assert (echo["temperature"], echo["metadata"], echo["store"], echo["tools"]) == (
        0.5,
        {"a": "b"},
        False,
        [],
    )


def test_a_string_is_one_turn_and_a_result_ends_the_asking() -> None:
    assert asked(input="hello").tool_result is None
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    result = {
        "type": "function_call_output",
        "call_id": "c",
        "output": [{"type": "input_text", "text": "sunny"}],
    }
    assert asked(input=[call, result]).tool_result == "sunny"
    own = {"type": "custom_tool_call", "call_id": "c", "name": "f", "input": ""}
    assert (
        asked(input=[own, {**result, "type": "custom_tool_call_output", "output": "rain"}]).tool_result
        == "rain"
    )


def test_carriers_and_schema() -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "opaque"}
    found = asked(
        input=[item, {"role": "user", "content": "x"}],
        text={"format": {"type": "json_schema", "name": "n", "schema": FUNCTION}},
    )
    assert (found.carriers, found.schema) == (("opaque",), FUNCTION)


def test_what_the_real_provider_refuses() -> None:
    assert refused(input=[]).param == "input"
    assert refused(max_output_tokens=3).param == "max_output_tokens"
    call = {"type": "function_call", "call_id": "call_9", "name": "f", "arguments": "{}"}
    assert "call_9" in refused(input=[call]).message
