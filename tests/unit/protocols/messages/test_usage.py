"""Token counts of Messages."""

import pytest
from anthropic.types import Usage as SdkUsage

from tidegate.core.usage import Usage
from tidegate.protocols.messages.usage import read_usage, write_usage


@pytest.mark.parametrize(
    ("value", "usage"),
    [
        (
            {
                "input_tokens": 76,
                "cache_read_input_tokens": 1024,
                "cache_creation_input_tokens": 100,
                "cache_creation": {"ephemeral_5m_input_tokens": 60, "ephemeral_1h_input_tokens": 40},
                "output_tokens": 20,
                "output_tokens_details": {"thinking_tokens": 5},
                "server_tool_use": {"web_search_requests": 3},
            },
            Usage(
                input=76,
                cache_read=1024,
                cache_write=100,
                cache_write_1h=40,
                output=20,
                reasoning=5,
                web_searches=3,
            ),
        ),
        (
            {"cache_creation": {"ephemeral_5m_input_tokens": 60, "ephemeral_1h_input_tokens": 40}},
            Usage(cache_write=100, cache_write_1h=40),
        ),
        (
            {"cache_creation_input_tokens": 10, "cache_creation": {"ephemeral_1h_input_tokens": 40}},
            Usage(cache_write=10, cache_write_1h=10),
        ),
        ({"output_tokens": 6, "input_tokens": None}, Usage(output=6)),
        ({"input_tokens": "8", "output_tokens": -1}, Usage(input=8)),
        ({"service_tier": "standard"}, None),
        ("x", None),
    ],
)  # fmt: skip
def test_only_what_is_told_is_set(value: object, usage: Usage | None) -> None:
    assert read_usage(value) == usage


def test_events_add_up_to_the_last_told() -> None:
    start = read_usage({"input_tokens": 0, "cache_read_input_tokens": 4, "output_tokens": 1})
    end = read_usage({"input_tokens": 8, "output_tokens": 6})
    assert start is not None
    assert end is not None
    assert start.merged(end) == Usage(input=8, cache_read=4, output=6)


def test_writing_is_the_reverse_and_suits_the_sdk() -> None:
    usage = Usage(input=76, cache_read=1024, cache_write=100, output=20, reasoning=5)
    assert read_usage(write_usage(usage)) == usage
    assert SdkUsage.model_validate(write_usage(usage)).cache_read_input_tokens == 1024
    assert write_usage(Usage()) == {"input_tokens": 0, "output_tokens": 0}
    searched = Usage(input=1, output=2, web_searches=3)
    assert read_usage(write_usage(searched)) == searched
    server = SdkUsage.model_validate(write_usage(searched)).server_tool_use
    assert server is not None
    assert server.web_search_requests == 3
