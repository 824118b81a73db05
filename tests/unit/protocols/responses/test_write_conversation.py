"""Whole requests for responses upstreams."""

from typing import Any

import pytest
from msgspec import structs
from tests.unit.protocols.asking import (
    CHAT_TO_RESPONSES,
    HI_CHAT,
    MESSAGES_TO_RESPONSES,
    asked,
    conversation_of,
    foreign,
    said,
    target,
)

from tidegate.core.capability import Effort
from tidegate.core.protocol import Protocol
from tidegate.protocols.chat.read_conversation import read_conversation
from tidegate.protocols.responses.write_conversation import write_conversation


def test_the_smallest_request() -> None:
    assert said(CHAT_TO_RESPONSES.written({})) == {
        "model": "up-responses-model",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "input": [{"role": "user", "content": "hi"}],
    }


def test_no_stream_is_asked_for_where_none_is_wanted() -> None:
    conversation = conversation_of(read_conversation(asked(Protocol.CHAT, HI_CHAT), foreign))
    sent = said(write_conversation(conversation, structs.replace(target(Protocol.RESPONSES), stream=False)))
    assert "stream" not in sent


SYSTEM = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]


def test_system_text_of_messages_is_the_instructions() -> None:
    assert MESSAGES_TO_RESPONSES.sent({"system": SYSTEM}) == {"instructions": "a\n\nb"}
    messages = [{"role": "user", "content": "hi"}, {"role": "system", "content": "s"}]
    assert MESSAGES_TO_RESPONSES.sent({"messages": messages})["input"][1] == {
        "role": "system",
        "content": "s",
    }


@pytest.mark.parametrize(
    ("roles", "instructions", "left"),
    [
        (["system", "developer", "user", "system"], "system\n\ndeveloper", ["user", "system"]),
        (["user"], "", ["user"]),
    ],
)
def test_channels_that_need_instructions_get_the_leading_system_text(
    roles: list[str], instructions: str, left: list[str]
) -> None:
    body = {"messages": [{"role": role, "content": role} for role in roles]}
    sent = said(CHAT_TO_RESPONSES.written(body, instructions_required=True))
    assert sent["instructions"] == instructions
    assert [item["role"] for item in sent["input"]] == left


@pytest.mark.parametrize(
    ("body", "reasoning", "losses"),
    [
        ({}, None, []),
        ({"thinking": {"type": "adaptive"}}, {"summary": "auto"}, []),
        ({"thinking": {"type": "adaptive", "display": "omitted"}}, None, []),
        (
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}},
            {"effort": "max", "summary": "auto"},
            [],
        ),
        (
            {"thinking": {"type": "adaptive", "display": "omitted"}, "output_config": {"effort": "low"}},
            {"effort": "low"},
            [],
        ),
        ({"thinking": {"type": "disabled"}}, {"effort": "none"}, []),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 31999}},
            {"effort": "xhigh", "summary": "auto"},
            ["approximated:thinking.budget_tokens"],
        ),
    ],
)
def test_thinking_of_messages(
    body: dict[str, Any], reasoning: dict[str, Any] | None, losses: list[str]
) -> None:
    assert MESSAGES_TO_RESPONSES.sent(body).get("reasoning") == reasoning
    assert MESSAGES_TO_RESPONSES.lost(body) == losses


def test_a_model_that_does_not_reason_is_asked_for_nothing_of_reasoning() -> None:
    sent = said(MESSAGES_TO_RESPONSES.written({"thinking": {"type": "adaptive"}}, efforts=()))
    assert not {"include", "reasoning"} & set(sent)
    with_logprobs = said(CHAT_TO_RESPONSES.written({"logprobs": True}, efforts=()))
    assert with_logprobs["include"] == ["message.output_text.logprobs"]


def test_upstreams_without_summaries_are_not_asked_for_one() -> None:
    sent = CHAT_TO_RESPONSES.sent({"reasoning_effort": "low"}, reasoning_summary=False)
    assert sent == {"reasoning": {"effort": "low"}}


def test_thinking_that_cannot_be_switched_off_is_as_little_as_possible() -> None:
    body = {"thinking": {"type": "disabled"}}
    efforts = (Effort.LOW, Effort.HIGH)
    assert MESSAGES_TO_RESPONSES.sent(body, efforts=efforts) == {"reasoning": {"effort": "low"}}
    assert MESSAGES_TO_RESPONSES.lost(body, efforts=efforts) == ["approximated:thinking"]


@pytest.mark.parametrize(
    ("limit", "sent", "losses"), [(15, 16, ["clamped:max_tokens"]), (16, 16, []), (99, 99, [])]
)
def test_the_least_limit(limit: int, sent: int, losses: list[str]) -> None:
    assert MESSAGES_TO_RESPONSES.sent({"max_tokens": limit}) == {"max_output_tokens": sent}
    assert MESSAGES_TO_RESPONSES.lost({"max_tokens": limit}) == losses


def test_stop_strings_are_cut_in_the_gateway() -> None:
    written = MESSAGES_TO_RESPONSES.written({"stop_sequences": ["a", "b"]})
    assert written.stops == ("a", "b")
    assert [loss.path for loss in written.losses] == ["stop_sequences"]
