"""Token counts of Chat Completions."""

import pytest

from tidegate.core.usage import Usage
from tidegate.protocols.chat.usage import read_usage, write_usage


@pytest.mark.parametrize(
    ("value", "usage"),
    [
        (
            {
                "prompt_tokens": 1200,
                "completion_tokens": 20,
                "total_tokens": 1,
                "prompt_tokens_details": {"cached_tokens": 1024, "cache_write_tokens": 100},
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
            Usage(input=76, cache_read=1024, cache_write=100, output=20, reasoning=5),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None},
            Usage(input=9, cache_read=0, cache_write=0, output=2),
        ),
        (
            {"prompt_tokens": "9", "completion_tokens": 2.0, "prompt_tokens_details": {"cached_tokens": -4}},
            Usage(input=9, cache_read=0, cache_write=0, output=2),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 4},
            Usage(input=5, cache_read=4, cache_write=0, output=2),
        ),
        (
            {"completion_tokens": 2, "prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 5},
            Usage(input=5, cache_read=4, cache_write=0, output=2),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 6},
            Usage(input=3, cache_read=6, cache_write=0, output=2),
        ),
        (
            {"prompt_tokens": 0, "completion_tokens": 0},
            Usage(input=0, cache_read=0, cache_write=0, output=0),
        ),
        ({"completion_tokens": 2}, Usage(output=2)),
        ({"prompt_tokens": 1e400, "completion_tokens": 10**30}, None),
        ({"prompt_tokens": True, "completion_tokens": [1]}, None),
        ({}, None),
        (None, None),
        ([], None),
    ],
)  # fmt: skip
def test_reading(value: object, usage: Usage | None) -> None:
    assert read_usage(value) == usage


def test_writing_is_the_reverse() -> None:
    usage = Usage(input=76, cache_read=1024, cache_write=100, output=20, reasoning=5)
    written = write_usage(usage)
    assert (written["prompt_tokens"], written["total_tokens"]) == (1200, 1220)
    assert read_usage(written) == usage


def test_what_is_not_told_is_written_as_zero() -> None:
    assert write_usage(Usage(output=3))["total_tokens"] == 3
