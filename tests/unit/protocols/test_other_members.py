"""Members that only one protocol knows: kept, dropped, passed over or refused, as the table says."""

from typing import Any

import pytest
from tests.unit.protocols.asking import CHAT_TO_RESPONSES, MESSAGES_TO_CHAT, RESPONSES_TO_CHAT, Crossing

from tidegate.core.protocol import Protocol
from tidegate.protocols.other_members import FATES, Fate, fate


@pytest.mark.parametrize(
    ("crossing", "name", "value"),
    [
        (CHAT_TO_RESPONSES, "moderation", {"model": "m"}),
        (CHAT_TO_RESPONSES, "prompt_cache_key", "k"),
        (CHAT_TO_RESPONSES, "prompt_cache_retention", "24h"),
        (CHAT_TO_RESPONSES, "temperature", 1),
        (RESPONSES_TO_CHAT, "prompt_cache_options", {"mode": "explicit"}),
        (RESPONSES_TO_CHAT, "top_p", 1.0),
    ],
)
def test_what_both_openai_protocols_know_is_kept(crossing: Crossing, name: str, value: Any) -> None:
    assert crossing.sent({name: value}) == {name: value}
    assert crossing.lost({name: value}) == []


@pytest.mark.parametrize(
    ("crossing", "body", "path"),
    [
        (CHAT_TO_RESPONSES, {"prediction": {"type": "content", "content": "x"}}, "prediction"),
        (CHAT_TO_RESPONSES, {"top_k": 5}, "top_k"),
        (CHAT_TO_RESPONSES, {"vendor_x": False}, "vendor_x"),
        (CHAT_TO_RESPONSES, {"top_logprobs": 3}, "top_logprobs"),
        (RESPONSES_TO_CHAT, {"truncation": "auto"}, "truncation"),
        (RESPONSES_TO_CHAT, {"max_tool_calls": 3}, "max_tool_calls"),
        (RESPONSES_TO_CHAT, {"context_management": [{"type": "compaction"}]}, "context_management"),
        (RESPONSES_TO_CHAT, {"client_metadata": {"a": "b"}}, "client_metadata"),
        (RESPONSES_TO_CHAT, {"metadata": {"a": "b"}}, "metadata"),
        (RESPONSES_TO_CHAT, {"include": ["web_search_call.results"]}, "include[0]"),
        (RESPONSES_TO_CHAT, {"text": {"shine": 1}}, "text.shine"),
        (MESSAGES_TO_CHAT, {"context_management": {"edits": [1]}}, "context_management"),
        (MESSAGES_TO_CHAT, {"speed": "fast"}, "speed"),
    ],
)
def test_what_the_channel_does_not_know_is_dropped_with_a_warning(
    crossing: Crossing, body: dict[str, Any], path: str
) -> None:
    assert crossing.lost(body) == [f"dropped:{path}"]
    assert crossing.sent(body) == {}


@pytest.mark.parametrize(
    ("crossing", "body", "path"),
    [
        (CHAT_TO_RESPONSES, {"modalities": ["text", "audio"]}, "modalities"),
        (CHAT_TO_RESPONSES, {"audio": {"voice": "x"}}, "audio"),
        (RESPONSES_TO_CHAT, {"previous_response_id": "resp_1"}, "previous_response_id"),
        (RESPONSES_TO_CHAT, {"prompt": {"id": "p"}}, "prompt"),
        (RESPONSES_TO_CHAT, {"moderation": {"model": "m"}}, "moderation"),
        (MESSAGES_TO_CHAT, {"container": "c"}, "container"),
        (MESSAGES_TO_CHAT, {"mcp_servers": [{"url": "u"}]}, "mcp_servers"),
    ],
)
def test_what_would_change_the_answer_is_refused(crossing: Crossing, body: dict[str, Any], path: str) -> None:
    assert crossing.refused(body) == ("unsupported_parameter", path)


@pytest.mark.parametrize(
    ("crossing", "body"),
    [
        (
            CHAT_TO_RESPONSES,
            {
                **{"n": 1, "logprobs": False, "top_logprobs": 0, "stop": [], "store": None, "seed": None},
                **{"presence_penalty": 0, "frequency_penalty": 0.0, "logit_bias": {}, "modalities": ["text"]},
                **{"audio": None, "prediction": None, "metadata": {}, "response_format": {"type": "text"}},
                **{"verbosity": "medium", "service_tier": "auto", "parallel_tool_calls": True, "vendor": {}},
                **{"reasoning_effort": None, "moderation": None, "tools": [], "functions": []},
                **{"stream": True, "stream_options": {"include_obfuscation": False}},
            },
        ),
        (
            RESPONSES_TO_CHAT,
            {
                **{
                    "truncation": "disabled",
                    "background": False,
                    "previous_response_id": None,
                    "store": True,
                },
                **{"include": ["reasoning.encrypted_content"], "text": {"format": {"type": "text"}}},
                **{
                    "reasoning": {"context": "all_turns", "mode": "x", "summary": "auto"},
                    "conversation": None,
                },
                **{"service_tier": "auto", "top_logprobs": 0, "client_metadata": {}, "max_tool_calls": None},
                **{"parallel_tool_calls": True, "tool_choice": "auto", "instructions": ""},
            },
        ),
        (
            MESSAGES_TO_CHAT,
            {"cache_control": {"type": "ephemeral"}, "diagnostics": {"a": 1}, "speed": "standard"},
        ),
    ],
)
def test_defaults_and_hints_say_nothing(crossing: Crossing, body: dict[str, Any]) -> None:
    assert crossing.lost(body) == []
    assert crossing.sent(body) == {}


def test_unknown_members_are_dropped_in_every_pair() -> None:
    pairs = [(one, other) for one in Protocol for other in Protocol if one is not other]
    assert set(FATES) == set(pairs)
    assert all(fate(*pair, "never_heard_of") is Fate.DROPPED for pair in pairs)
