"""Token counts of Responses."""

import pytest
from openai.types.responses import ResponseUsage
from tests.unit.protocols.decoded import decode
from tests.unit.protocols.frames import named, passed, watcher

from tidegate.core.events import UsageTold
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.protocols.responses.usage import calls_among, read_usage, with_searches, write_usage


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
    assert with_searches(Usage(output=1), told, ()) == Usage(output=1, web_searches=2)
    assert with_searches(None, told, ()) == Usage(web_searches=2)
    assert with_searches(None, {"web_search": None}, ()) is None


def test_where_searches_are_not_told_the_calls_count() -> None:
    search: dict[str, object] = {"type": "web_search_call", "action": {"type": "search", "query": "tides"}}
    page: dict[str, object] = {
        "type": "web_search_call",
        "action": {"type": "open_page", "url": "https://example.com"},
    }
    items: list[dict[str, object]] = [
        search,
        page,
        {"type": "message"},
        {"type": "web_search_call"},
        {},
        search,
    ]
    assert with_searches(Usage(output=1), None, calls_among(items)) == Usage(output=1, web_searches=3)
    assert with_searches(Usage(output=1), None, calls_among([page])) == Usage(output=1)
    told = {"web_search": {"num_requests": 0}}
    assert with_searches(Usage(output=1), told, calls_among(items)) == Usage(output=1, web_searches=0)


@pytest.mark.parametrize("converted", [False, True])
def test_a_stream_counts_its_calls(converted: bool) -> None:
    call = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    response = {"id": "r", "object": "response", "status": "completed", "output": [call]}
    usage = {"input_tokens": 4, "output_tokens": 2}
    raw = named({"type": "response.created", "response": {"id": "r"}})
    raw += named({"type": "response.completed", "response": response | {"usage": usage}})
    if converted:
        told = [event.usage for event in decode(Protocol.RESPONSES, raw) if isinstance(event, UsageTold)]
        assert told[-1].web_searches == 1
    else:
        reader = watcher(Protocol.RESPONSES)
        passed(reader, raw)
        assert reader.usage is not None
        assert reader.usage.web_searches == 1
