"""Web search as the protocols declare it."""

import pytest

from tidegate.protocols.web_search import WebSearch, approximate_location, is_web_search, of_options, of_tool


@pytest.mark.parametrize(
    "type_", ["web_search", "web_search_2025_08_26", "web_search_20250305", "web_search_preview"]
)
def test_types_of_web_search(type_: str) -> None:
    assert is_web_search(type_)


@pytest.mark.parametrize("type_", ["web_searcher", "web_fetch_20250910", "file_search"])
def test_other_types(type_: str) -> None:
    assert not is_web_search(type_)


def test_the_form_of_responses() -> None:
    body = {
        "filters": {"allowed_domains": ["a.test", 7]},
        "user_location": {"type": "approximate", "city": "Rome", "country": None},
        "search_context_size": "low",
    }
    found = of_tool(body)
    assert found == WebSearch(allowed_domains=("a.test",), location={"city": "Rome"}, context_size="low")
    assert approximate_location(found) == {"type": "approximate", "city": "Rome"}


def test_the_form_of_messages() -> None:
    body = {"allowed_domains": ["a.test"], "blocked_domains": ["b.test"], "max_uses": 5}
    assert of_tool(body) == WebSearch(allowed_domains=("a.test",), blocked_domains=("b.test",), max_uses=5)


def test_the_options_of_chat() -> None:
    options = {
        "search_context_size": "high",
        "user_location": {"type": "approximate", "approximate": {"city": "Rome"}},
    }
    assert of_options(options) == WebSearch(location={"city": "Rome"}, context_size="high")


@pytest.mark.parametrize("body", [None, 7, [], {}, {"filters": 1, "user_location": [], "max_uses": "x"}])
def test_what_says_nothing_is_a_plain_search(body: object) -> None:
    assert of_tool(body) == WebSearch()
    assert of_options(body) == WebSearch()
    assert approximate_location(WebSearch()) is None
