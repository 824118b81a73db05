from typing import Any

import pytest

from tidegate.core.protocol import Protocol
from tidegate.doctor.usage_checks import check_usage

GOOD: dict[Protocol, dict[str, Any]] = {
    Protocol.CHAT: {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 6},
        "completion_tokens_details": {"reasoning_tokens": 5},
    },
    Protocol.RESPONSES: {
        "input_tokens": 10,
        "output_tokens": 5,
        "total_tokens": 15,
        "input_tokens_details": {"cached_tokens": 10},
        "output_tokens_details": {"reasoning_tokens": 0},
    },
    Protocol.MESSAGES: {
        "input_tokens": 0,
        "output_tokens": 5,
        "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 3,
        "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 2},
    },
}


def rules(protocol: Protocol, more: dict[str, Any], *, spoken: bool = True) -> list[str]:
    return [finding.rule for finding in check_usage(GOOD[protocol] | more, protocol, spoken=spoken)]


@pytest.mark.parametrize("protocol", Protocol)
def test_good_counts_have_no_finding(protocol: Protocol) -> None:
    assert rules(protocol, {}) == []


@pytest.mark.parametrize(
    ("protocol", "more", "rule"),
    [
        (Protocol.CHAT, {"total_tokens": 14}, "usage-sum"),
        (Protocol.CHAT, {"prompt_tokens": "10"}, "usage-form"),
        (Protocol.CHAT, {"completion_tokens": True}, "usage-form"),
        (Protocol.CHAT, {"prompt_tokens": -10, "total_tokens": -5}, "usage-form"),
        (Protocol.CHAT, {"prompt_tokens_details": {"cached_tokens": 11}}, "usage-overlap"),
        (Protocol.CHAT, {"prompt_tokens_details": {"cached_tokens": -1}}, "usage-form"),
        (Protocol.CHAT, {"completion_tokens_details": {"reasoning_tokens": 6}}, "usage-overlap"),
        (Protocol.CHAT, {"completion_tokens": 0, "total_tokens": 10}, "usage-zero"),
        (Protocol.RESPONSES, {"total_tokens": None}, "usage-form"),
        (Protocol.RESPONSES, {"input_tokens_details": {"cached_tokens": 11}}, "usage-overlap"),
        (Protocol.MESSAGES, {"cache_creation": {"ephemeral_5m_input_tokens": 9}}, "usage-sum"),
        (Protocol.MESSAGES, {"output_tokens_details": {"thinking_tokens": 6}}, "usage-overlap"),
        (Protocol.MESSAGES, {"output_tokens": None}, "usage-form"),
    ],
)
def test_what_is_wrong_is_named(protocol: Protocol, more: dict[str, Any], rule: str) -> None:
    assert rule in rules(protocol, more)


def test_an_answer_without_a_word_may_count_as_nothing() -> None:
    zero = {"output_tokens": 0}
    assert rules(Protocol.MESSAGES, zero) == ["usage-zero"]
    assert rules(Protocol.MESSAGES, zero, spoken=False) == []
    nothing = {"cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "cache_creation": None}
    assert rules(Protocol.MESSAGES, nothing) == ["usage-zero"]
