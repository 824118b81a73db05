"""Whole requests for chat upstreams."""

from typing import Any

import pytest
from msgspec import structs
from tests.unit.protocols.asking import (
    HI_RESPONSES,
    MESSAGES_TO_CHAT,
    RESPONSES_TO_CHAT,
    asked,
    conversation_of,
    foreign,
    said,
    target,
)

from tidegate.core.capability import Effort, MaxTokensField
from tidegate.core.protocol import Protocol
from tidegate.protocols.chat.write_conversation import write_conversation
from tidegate.protocols.responses.read_conversation import read_conversation


def test_the_smallest_request() -> None:
    assert said(RESPONSES_TO_CHAT.written({})) == {
        "model": "up-chat-model",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": "hi"}],
    }


def test_no_stream_is_asked_for_where_none_is_wanted() -> None:
    conversation = conversation_of(read_conversation(asked(Protocol.RESPONSES, HI_RESPONSES), foreign))
    sent = said(write_conversation(conversation, structs.replace(target(Protocol.CHAT), stream=False)))
    assert set(sent) == {"model", "messages"}


@pytest.mark.parametrize(
    ("body", "sent", "losses"),
    [
        ({"max_output_tokens": 5}, {"max_completion_tokens": 5}, []),
        ({"reasoning": {"effort": "xhigh", "summary": "auto"}}, {"reasoning_effort": "xhigh"}, []),
        ({"include": ["message.output_text.logprobs"]}, {"logprobs": True}, []),
        (
            {"include": ["message.output_text.logprobs"], "top_logprobs": 2},
            {"logprobs": True, "top_logprobs": 2},
            [],
        ),
        ({"metadata": {"a": "b"}}, {}, ["dropped:metadata"]),
        ({"store": False}, {}, []),
    ],
)
def test_parameters_of_responses(body: dict[str, Any], sent: dict[str, Any], losses: list[str]) -> None:
    assert RESPONSES_TO_CHAT.sent(body) == sent
    assert RESPONSES_TO_CHAT.lost(body) == losses


def test_old_servers_have_another_name_for_the_limit() -> None:
    sent = RESPONSES_TO_CHAT.sent({"max_output_tokens": 5}, max_tokens_field=MaxTokensField.MAX_TOKENS)
    assert sent == {"max_tokens": 5}


@pytest.mark.parametrize(
    ("efforts", "sent", "losses"),
    [
        ((), {}, ["dropped:reasoning.effort"]),
        ((Effort.LOW, Effort.HIGH), {"reasoning_effort": "low"}, ["approximated:reasoning.effort"]),
    ],
)
def test_efforts_that_the_upstream_lacks(
    efforts: tuple[Effort, ...], sent: dict[str, Any], losses: list[str]
) -> None:
    body = {"reasoning": {"effort": "medium"}}
    assert RESPONSES_TO_CHAT.sent(body, efforts=efforts) == sent
    assert RESPONSES_TO_CHAT.lost(body, efforts=efforts) == losses


@pytest.mark.parametrize("count", [1, 4, 5, 7])
def test_four_stop_strings_go_up_and_the_gateway_cuts_at_the_others(count: int) -> None:
    stops = [f"s{number}" for number in range(count)]
    written = MESSAGES_TO_CHAT.written({"stop_sequences": stops})
    assert said(written)["stop"] == stops[:4]
    assert written.stops == tuple(stops[4:])
    assert [loss.path for loss in written.losses] == (["stop_sequences"] if count > 4 else [])


def test_instructions_are_the_first_message() -> None:
    sent = RESPONSES_TO_CHAT.sent(
        {"instructions": "Be brief.", "input": [{"role": "developer", "content": "d"}]}
    )
    assert sent["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "system", "content": "d"},
    ]


def test_system_blocks_are_joined_into_the_first_message() -> None:
    blocks = [
        {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "b"},
    ]
    assert MESSAGES_TO_CHAT.sent({"system": blocks})["messages"][0] == {"role": "system", "content": "a\n\nb"}


def test_a_conversation_that_says_nothing_is_refused() -> None:
    body = {"input": [{"role": "assistant", "content": ""}]}
    assert RESPONSES_TO_CHAT.refused(body) == ("invalid_request", "input[0]")


def test_what_reading_has_cost_is_told_too() -> None:
    source = {"type": "content", "content": "text"}
    content = [{"type": "document", "source": source}]
    lost = MESSAGES_TO_CHAT.lost({"messages": [{"role": "user", "content": content}]})
    assert lost == ["approximated:messages[0].content[0]"]
