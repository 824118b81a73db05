"""Parameters of a Messages request in the common form, and requests as a real client sends them."""

import json
from typing import Any

import pytest
from tests.unit.protocols.asking import said, told
from tests.unit.protocols.asking import target as channel
from tests.unit.protocols.messages.conversing import OPEN, M, assistant, messages, read, user

from tidegate.core.capability import Effort
from tidegate.core.conversation import (
    Conversation,
    Format,
    Given,
    Reasoning,
    Sampling,
    Structured,
    ThinkingMode,
)
from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked
from tidegate.protocols.chat.write_conversation import write_conversation as write_chat
from tidegate.protocols.conversion import WriteConversation, Written
from tidegate.protocols.messages.read_conversation import read_conversation
from tidegate.protocols.messages.request import read_count_request
from tidegate.protocols.responses.write_conversation import write_conversation as write_responses

LIMIT = Given(1000, "max_tokens")
SCHEMA = {"type": "object"}


def conversation(**members: Any) -> Conversation:
    found = read(M, messages(**members))
    assert isinstance(found, Conversation), found
    return found


@pytest.mark.parametrize(
    ("members", "wanted"),
    [
        ({}, Sampling(max_output_tokens=LIMIT)),
        ({"max_tokens": 8.0}, Sampling(max_output_tokens=Given(8, "max_tokens"))),
        (
            {"temperature": 1, "top_p": 0.5, "top_k": 3},
            Sampling(
                max_output_tokens=LIMIT,
                temperature=Given(1, "temperature"),
                top_p=Given(0.5, "top_p"),
                top_k=Given(3, "top_k"),
            ),
        ),
        (
            {"stop_sequences": ["A", "\n"]},
            Sampling(max_output_tokens=LIMIT, stop=Given(("A", "\n"), "stop_sequences")),
        ),
        ({"stop_sequences": [], "temperature": None}, Sampling(max_output_tokens=LIMIT)),
    ],
)
def test_sampling(members: dict[str, Any], wanted: Sampling) -> None:
    assert conversation(**members).sampling == wanted


EFFORT = Given(Effort.HIGH, "output_config.effort")


@pytest.mark.parametrize(
    ("members", "wanted"),
    [
        ({}, Reasoning()),
        ({"thinking": {}}, Reasoning()),
        ({"output_config": {"effort": "high"}}, Reasoning(effort=EFFORT)),
        (
            {"thinking": {"type": "adaptive", "display": "omitted"}, "output_config": {"effort": "high"}},
            Reasoning(effort=EFFORT, thinking=Given(ThinkingMode.ADAPTIVE, "thinking"), shown=False),
        ),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 31999}},
            Reasoning(thinking=Given(ThinkingMode.ENABLED, "thinking"), budget=31999),
        ),
        (
            {"thinking": {"type": "disabled", "display": "summarized"}},
            Reasoning(thinking=Given(ThinkingMode.DISABLED, "thinking"), shown=True),
        ),
    ],
)
def test_reasoning(members: dict[str, Any], wanted: Reasoning) -> None:
    assert conversation(**members).reasoning == wanted


@pytest.mark.parametrize("path", ["output_config.format", "output_format"])
def test_structured_output_in_its_new_and_its_old_place(path: str) -> None:
    form = {"type": "json_schema", "schema": SCHEMA}
    member: dict[str, Any] = {"output_format": form}
    if path != "output_format":
        member = {"output_config": {"format": form}}
    assert conversation(**member).structured == Structured(
        format=Format.JSON_SCHEMA, path=path, schema=SCHEMA
    )


def test_end_user_tier_and_what_stands_beside() -> None:
    found = conversation(
        metadata={"user_id": "u", "team": "t"},
        service_tier="standard_only",
        speed="fast",
        inference_geo="us",
        context_management={"edits": [{"type": "clear_thinking_20251015"}]},
        output_config={"effort": "low", "task_budget": 7},
        vendor_x=None,
        mcp_servers=[],
    )
    assert found.end_user == Given("u", "metadata.user_id")
    assert found.service_tier == Given("standard_only", "service_tier")
    assert sorted(other.path for other in found.others) == [
        "context_management",
        "inference_geo",
        "metadata.team",
        "output_config.task_budget",
        "speed",
    ]


def test_the_usual_speed_says_nothing() -> None:
    assert conversation(speed="standard").others == ()


@pytest.mark.parametrize(
    ("members", "kind", "param"),
    [
        ({"max_tokens": 0}, Kind.UNSUPPORTED_VALUE, "max_tokens"),
        ({"max_tokens": 1.5}, Kind.INVALID_REQUEST, "max_tokens"),
        ({"stop_sequences": [""]}, Kind.INVALID_REQUEST, "stop_sequences"),
        ({"stop_sequences": [7]}, Kind.INVALID_REQUEST, "stop_sequences"),
        ({"thinking": {"type": "wishful"}}, Kind.UNSUPPORTED_VALUE, "thinking.type"),
        (
            {"thinking": {"type": "enabled", "budget_tokens": "x"}},
            Kind.INVALID_REQUEST,
            "thinking.budget_tokens",
        ),
        ({"output_config": {"effort": "enormous"}}, Kind.UNSUPPORTED_VALUE, "output_config.effort"),
        ({"output_config": {"effort": 7}}, Kind.INVALID_REQUEST, "output_config.effort"),
        ({"output_config": {"format": {"type": "xml"}}}, Kind.UNSUPPORTED_VALUE, "output_config.format.type"),
        ({"output_format": {"type": "json_schema"}}, Kind.INVALID_REQUEST, "output_format.schema"),
        ({"metadata": {"user_id": 7}}, Kind.INVALID_REQUEST, "metadata.user_id"),
    ],
)
def test_what_cannot_be_meant_is_refused(members: dict[str, Any], kind: Kind, param: str) -> None:
    found = read(M, messages(**members))
    assert isinstance(found, Failure), found
    assert (found.kind, found.param) == (kind, param)


def test_a_body_that_is_too_deep_is_refused() -> None:
    deep = "[" * 3000 + "]" * 3000
    body = '{"x":' + deep + "}"
    asked = Asked(protocol=M, body=body.encode(), members={}, model="m")
    assert isinstance(read_conversation(asked, OPEN), Failure)


def test_a_count_needs_no_limit() -> None:
    asked = read_count_request(json.dumps({"model": "m", "messages": [user()]}).encode())
    assert isinstance(asked, Asked)
    found = read_conversation(asked, OPEN)
    assert isinstance(found, Conversation)
    assert found.sampling.max_output_tokens is None


CACHED = {"cache_control": {"type": "ephemeral"}}
CLAUDE_CODE = {
    "model": "MODEL_ID",
    "max_tokens": 32000,
    "stream": True,
    "system": [
        {"type": "text", "text": "billing"},
        {"type": "text", "text": "You are an agent.", **CACHED},
        {"type": "text", "text": "Long rules.", **CACHED},
    ],
    "tools": [
        {"name": f"Tool{number}", "description": "d", "input_schema": {"type": "object", "properties": {}}}
        for number in range(24)
    ],
    "metadata": {"user_id": json.dumps({"device_id": "d", "session_id": "s"})},
    "thinking": {"type": "adaptive"},
    "output_config": {"effort": "high"},
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    "messages": [
        user([{"type": "text", "text": "<reminder>"}, {"type": "text", "text": "List files", **CACHED}]),
        {"role": "system", "content": "Today is Monday."},
        assistant(
            [
                {"type": "text", "text": "I will look."},
                {"type": "tool_use", "id": "toolu_1", "name": "Tool1", "input": {"command": "ls"}},
            ]
        ),
        user(
            [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": "a\nb",
                    "is_error": False,
                    **CACHED,
                }
            ]
        ),
    ],
}


@pytest.mark.parametrize(
    ("write", "protocol"), [(write_chat, Protocol.CHAT), (write_responses, Protocol.RESPONSES)]
)
@pytest.mark.parametrize("old", [False, True])
def test_what_claude_code_sends_converts(write: WriteConversation, protocol: Protocol, old: bool) -> None:
    request = dict(CLAUDE_CODE)
    if old:
        del request["output_config"]
        request["thinking"] = {"type": "enabled", "budget_tokens": 31999}
    found = read(M, request)
    assert isinstance(found, Conversation), found
    written = write(found, channel(protocol))
    assert isinstance(written, Written), written
    budget = ["approximated:thinking.budget_tokens"] if old else []
    assert sorted(told(written.losses)) == [*budget, "dropped:context_management"]
    body = said(written)
    assert len(body["tools"]) == 24
    assert "cache_control" not in json.dumps(body)
    assert {"role": "system", "content": "Today is Monday."} in body[
        "messages" if protocol is Protocol.CHAT else "input"
    ]
