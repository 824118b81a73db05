"""Token counts of Responses."""

import pytest
from openai.types.responses import ResponseUsage

from tidegate.core.usage import Usage
from tidegate.protocols.responses.usage import read_usage, with_searches, write_usage


@pytest.mark.parametrize(
    ("value", "usage"),
    [
        (
            {
                "input_tokens": 1200,
                "input_tokens_details": {"cached_tokens": 1024, "cache_write_tokens": 100},
                "output_tokens": 20,
                "output_tokens_details": {"reasoning_tokens": 50},
            },
            Usage(input=76, cache_read=1024, cache_write=100, output=20, reasoning=20),
        ),
        (
            {"input_tokens": 9, "output_tokens": 4, "input_tokens_details": "none"},
            Usage(input=9, cache_read=0, cache_write=0, output=4),
        ),
        ({"total_tokens": 4}, None),
        (None, None),
    ],
)
def test_reading(value: object, usage: Usage | None) -> None:
    assert read_usage(value) == usage


def test_writing_is_the_reverse_and_suits_the_sdk() -> None:
    usage = Usage(input=76, cache_read=1024, cache_write=100, output=20, reasoning=5)
    assert read_usage(write_usage(usage)) == usage
    assert ResponseUsage.model_validate(write_usage(usage), strict=True).total_tokens == 1220


def test_searches_stand_beside_the_usage() -> None:
    told = {"web_search": {"num_requests": 2}}
    assert with_searches(Usage(output=1), told) == Usage(output=1, web_searches=2)
    assert with_searches(None, told) == Usage(web_searches=2)
    assert with_searches(None, {"web_search": None}) is None
