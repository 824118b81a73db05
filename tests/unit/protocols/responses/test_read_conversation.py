"""Responses requests in the common form."""

from typing import Any

import pytest
from tests.unit.protocols.asking import HI_RESPONSES, RESPONSES_TO_CHAT, asked, conversation_of, foreign

from tidegate.core.capability import Effort
from tidegate.core.conversation import Conversation, Given, Role
from tidegate.core.protocol import Protocol
from tidegate.protocols.responses.read_conversation import read_conversation


def read(body: dict[str, Any]) -> Conversation:
    return conversation_of(read_conversation(asked(Protocol.RESPONSES, {**HI_RESPONSES, **body}), foreign))


def test_everything_has_the_path_of_where_it_stood() -> None:
    found = read(
        {
            "max_output_tokens": 5,
            "temperature": 0.2,
            "text": {"verbosity": "low"},
            "reasoning": {"effort": "low", "summary": "detailed"},
            "metadata": {"a": "b"},
            "store": True,
            "x": 1,
        }
    )
    sampling = found.sampling
    assert sampling.max_output_tokens == Given(5, "max_output_tokens")
    assert sampling.temperature == Given(0.2, "temperature")
    assert sampling.verbosity == Given("low", "text.verbosity")
    assert found.reasoning.effort == Given(Effort.LOW, "reasoning.effort")
    assert found.reasoning.summary == "detailed"
    assert found.store == Given(value=True, path="store")
    assert [other.path for other in found.others] == ["x"]


def test_the_old_name_of_the_summary() -> None:
    assert read({"reasoning": {"generate_summary": "auto"}}).reasoning.summary == "auto"


@pytest.mark.parametrize(
    ("instructions", "given", "turns"),
    [
        ("Be brief.", Given("Be brief.", "instructions"), [Role.USER]),
        ("", None, [Role.USER]),
        (None, None, [Role.USER]),
        ([{"role": "developer", "content": "d"}], None, [Role.DEVELOPER, Role.USER]),
    ],
)
def test_instructions(instructions: Any, given: Given[str] | None, turns: list[Role]) -> None:
    found = read({"instructions": instructions})
    assert found.instructions == given
    assert [turn.role for turn in found.turns] == turns


def test_logprobs_are_wanted_by_include() -> None:
    included = {"include": ["reasoning.encrypted_content", "message.output_text.logprobs"]}
    assert read(included).sampling.logprobs == Given(0, "include[1]")
    assert read({**included, "top_logprobs": 2}).sampling.logprobs == Given(2, "include[1]")
    assert read({"top_logprobs": 2}).sampling.logprobs is None


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"input": None}, "input"),
        ({"input": []}, "input"),
        ({"input": [], "instructions": "x"}, "input"),
        ({"input": [{"type": "additional_tools", "role": "developer", "tools": []}]}, "input"),
        ({"text": {"format": []}}, "text.format"),
    ],
)
def test_what_is_wrong_or_missing_is_named(body: dict[str, Any], path: str) -> None:
    assert RESPONSES_TO_CHAT.refused(body) == ("invalid_request", path)


def test_tools_may_stand_in_the_input() -> None:
    item = {
        "type": "additional_tools",
        "role": "developer",
        "tools": [{"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}],
    }
    found = read({"input": [item, {"role": "user", "content": "hi"}]})
    [tool] = found.tools
    assert (tool.name, tool.namespace, tool.path) == ("exec", "functions", "input[0].tools[0].tools[0]")
    assert len(found.turns) == 1


def test_what_a_coding_agent_sends_goes_through() -> None:
    items = [
        {
            "type": "message",
            "role": "developer",
            "id": "msg_1",
            "content": [{"type": "input_text", "text": "You are an agent."}],
        },
        {
            "type": "message",
            "role": "user",
            "id": "msg_2",
            "content": [{"type": "input_text", "text": "Go."}],
        },
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "enc"},
        {
            "type": "custom_tool_call",
            "id": "ctc_1",
            "call_id": "call_1",
            "name": "exec",
            "namespace": "functions",
            "input": "ls",
            "status": "completed",
        },
        {"type": "custom_tool_call_output", "id": "cto_1", "call_id": "call_1", "output": "a.txt"},
    ]
    tools = [
        {
            "type": "namespace",
            "name": "functions",
            "description": "d",
            "tools": [{"type": "custom", "name": "exec"}],
        },
        {"type": "web_search", "external_web_access": True},
        {"type": "tool_search"},
    ]
    body = {
        "input": items,
        "tools": tools,
        "tool_choice": "auto",
        "parallel_tool_calls": False,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "medium", "context": "all_turns", "summary": "auto"},
        "text": {"verbosity": "low"},
        "prompt_cache_key": "k",
        "client_metadata": {"session": "s"},
    }
    lost = RESPONSES_TO_CHAT.lost(body)
    assert sorted(lost) == [
        "(dropped:input[2])",
        "approximated:tools[0]",
        "dropped:client_metadata",
        "dropped:tools[1]",
        "dropped:tools[2]",
    ]
    sent = RESPONSES_TO_CHAT.sent(body)
    assert [message["role"] for message in sent["messages"]] == ["system", "user", "assistant", "tool"]
    [call] = sent["messages"][2]["tool_calls"]
    assert call["function"] == {"name": "functions__exec", "arguments": '{"input":"ls"}'}
