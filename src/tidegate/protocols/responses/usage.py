"""Token counts as Responses writes them."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from tidegate.core.usage import Usage, count
from tidegate.protocols.loose import mapping, text
from tidegate.protocols.token_counts import disjoint, prompt_of


def read_usage(value: object) -> Usage | None:
    """The counts of a `usage` object; None where it tells none."""
    usage = mapping(value)
    inside_input = mapping(usage.get("input_tokens_details"))
    inside_output = mapping(usage.get("output_tokens_details"))
    return disjoint(
        prompt=count(usage.get("input_tokens")),
        cache_read=count(inside_input.get("cached_tokens")),
        cache_write=count(inside_input.get("cache_write_tokens")),
        output=count(usage.get("output_tokens")),
        reasoning=count(inside_output.get("reasoning_tokens")),
    )


def with_searches(
    usage: Usage | None, tool_usage: object, calls: Iterable[tuple[str | None, object]]
) -> Usage | None:
    """The usage with the web searches that the response's `tool_usage` tells, which stands beside `usage`.

    Not all upstreams tell it: then the searches among `calls` count, the type and `action` of each item.
    """
    searches = count(mapping(mapping(tool_usage).get("web_search")).get("num_requests"))
    if searches is None:
        searches = sum(type_ == "web_search_call" and _searches(action) for type_, action in calls) or None
    if searches is None:
        return usage
    return Usage(web_searches=searches) if usage is None else replace(usage, web_searches=searches)


def calls_among(items: Iterable[Mapping[str, object]]) -> Iterator[tuple[str | None, object]]:
    """Type and `action` of output items."""
    return ((text(item.get("type")), item.get("action")) for item in items)


def _searches(action: object) -> bool:
    """Opening a page that was found, or looking through it, is no search."""
    return mapping(action).get("type") in (None, "search")


def write_usage(usage: Usage) -> dict[str, object]:
    """The `usage` object that tells these counts; the SDK requires both detail objects."""
    prompt = prompt_of(usage)
    output = usage.output or 0
    return {
        "input_tokens": prompt,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read or 0,
            "cache_write_tokens": usage.cache_write or 0,
        },
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
        "total_tokens": prompt + output,
    }
