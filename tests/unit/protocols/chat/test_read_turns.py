"""Chat messages as turns."""

from typing import Any

import pytest
from tests.unit.protocols.asking import CHAT_TO_RESPONSES, foreign, opener

from tidegate.core.conversation import Block, Call, Refused, Result, Role, Text, Thought, Turn
from tidegate.core.events import CallKind, Opaque
from tidegate.core.protocol import Protocol
from tidegate.protocols.chat.read_turns import TurnReader
from tidegate.protocols.conversion import OpenCarrier
from tidegate.protocols.losses import Losses


def read(*messages: Any, open_carrier: OpenCarrier = foreign) -> tuple[Turn, ...]:
    refusals = Losses()
    turns = TurnReader(open_carrier, refusals).read(list(messages))
    assert refusals.failure is None, refusals.failure
    return turns


def said(message: dict[str, Any], open_carrier: OpenCarrier = foreign) -> tuple[Block, ...]:
    [turn] = read({"role": "assistant", **message}, open_carrier=open_carrier)
    assert turn.role is Role.ASSISTANT
    return turn.blocks


@pytest.mark.parametrize("role", ["system", "developer", "user"])
def test_roles(role: str) -> None:
    [turn] = read({"role": role, "content": "hi"})
    assert turn == Turn(
        role=Role(role), blocks=(Text(text="hi", path="messages[0].content"),), path="messages[0]"
    )


def test_an_answer_with_text_refusal_and_calls() -> None:
    at = "messages[0].tool_calls"
    blocks = said(
        {
            "content": "a",
            "refusal": "no",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "c2", "function": {"name": "g", "arguments": None}},
                {"id": "c3", "type": "custom", "custom": {"name": "h", "input": "x"}},
            ],
        }
    )
    assert blocks == (
        Text(text="a", path="messages[0].content"),
        Refused(text="no", path="messages[0].refusal"),
        Call(id="c1", name="f", input="{}", path=f"{at}[0]"),
        Call(id="c2", name="g", input="", path=f"{at}[1]"),
        Call(id="c3", name="h", input="x", path=f"{at}[2]", kind=CallKind.CUSTOM),
    )


def test_a_result_keeps_its_string_or_its_parts() -> None:
    string, parts, nothing = read(
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "ok"}]},
        {"role": "tool", "tool_call_id": "c", "content": None},
    )
    assert string.blocks == (Result(call_id="c", content="ok", path="messages[0]"),)
    part = Text(text="ok", path="messages[1].content[0]")
    assert parts.blocks == (Result(call_id="c", content=(part,), path="messages[1]"),)
    assert nothing.blocks == (Result(call_id="c", content="", path="messages[2]"),)


def test_legacy_calls_are_numbered_and_their_results_follow() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "one"},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "two"},
    ]
    blocks = [turn.blocks[0] for turn in read(*messages)]
    ids = [
        block.id if isinstance(block, Call) else block.call_id
        for block in blocks
        if isinstance(block, Call | Result)
    ]
    assert ids == ["call_legacy_1", "call_legacy_1", "call_legacy_2", "call_legacy_2"]


def test_names_of_speakers_are_dropped_with_a_warning() -> None:
    body = {"messages": [{"role": "user", "name": "ann", "content": "hi"}]}
    assert CHAT_TO_RESPONSES.lost(body) == ["dropped:messages[0].name"]


CARRIED = Opaque(Protocol.RESPONSES, {"type": "reasoning"})


def test_a_carrier_is_opened() -> None:
    entry = {"type": "reasoning.encrypted", "index": 0, "data": "tgr1.x"}
    message = {"content": "a", "reasoning_content": "hm", "reasoning_details": [entry]}
    [thought, _] = said(message, opener({"tgr1.x": CARRIED}))
    at = "messages[0].reasoning_details[0]"
    assert thought == Thought(path=at, text="hm", carried=CARRIED, group="up")
    [lost, _] = said(message)
    assert lost == Thought(path=at, text="hm", foreign=True)


@pytest.mark.parametrize(
    "message",
    [
        {"reasoning_details": [{"type": "reasoning.text", "text": "hm", "signature": "s"}]},
        {"thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
    ],
)
def test_forms_of_other_gateways_are_kept_as_they_came(message: dict[str, Any]) -> None:
    [thought] = said({"reasoning_content": "hm", **message})
    assert isinstance(thought, Thought)
    assert (thought.text, thought.native) == ("hm", next(iter(message.values())))


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_readable_reasoning_alone(name: str) -> None:
    assert said({name: "hm"}) == (Thought(path="messages[0].reasoning_content", text="hm"),)


@pytest.mark.parametrize(
    "message", [{"reasoning_content": ""}, {"reasoning": {"effort": 1}}, {"reasoning_details": 7}]
)
def test_no_reasoning(message: dict[str, Any]) -> None:
    assert said(message) == ()


@pytest.mark.parametrize(
    ("message", "kind", "path"),
    [
        (7, "invalid_request", "messages[0]"),
        ({"role": 7}, "invalid_request", "messages[0].role"),
        ({"role": "narrator"}, "unsupported_value", "messages[0].role"),
        ({"role": "tool", "content": "x"}, "invalid_request", "messages[0].tool_call_id"),
        ({"role": "assistant", "audio": {"id": "a"}}, "unsupported_parameter", "messages[0].audio"),
        ({"role": "assistant", "tool_calls": {}}, "invalid_request", "messages[0].tool_calls"),
        (
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "x"}]},
            "unsupported_value",
            "messages[0].tool_calls[0].type",
        ),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]},
            "invalid_request",
            "messages[0].tool_calls[0].id",
        ),
        ({"role": "assistant", "refusal": 7}, "invalid_request", "messages[0].refusal"),
    ],
)
def test_what_is_wrong_is_named(message: Any, kind: str, path: str) -> None:
    assert CHAT_TO_RESPONSES.refused({"messages": [message]}) == (kind, path)
