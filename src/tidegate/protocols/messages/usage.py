"""Token counts as Messages writes them."""

from tidegate.core.usage import Usage, count
from tidegate.protocols.loose import mapping
from tidegate.protocols.service_tier import tier_of_message, with_tier
from tidegate.protocols.token_counts import inside


def read_usage(value: object) -> Usage | None:
    """The counts that a `usage` object tells, of a whole answer or of one event; None where it tells none.

    `message_delta` counts are cumulative: merge each into what `message_start` told (`Usage.merged`).
    """
    usage = mapping(value)
    split = mapping(usage.get("cache_creation"))
    one_hour = count(split.get("ephemeral_1h_input_tokens"))
    written = count(usage.get("cache_creation_input_tokens"))
    if written is None:
        written = _sum(count(split.get("ephemeral_5m_input_tokens")), one_hour)
    output = count(usage.get("output_tokens"))
    thinking = count(mapping(usage.get("output_tokens_details")).get("thinking_tokens"))
    searches = count(mapping(usage.get("server_tool_use")).get("web_search_requests"))
    told = Usage(
        input=count(usage.get("input_tokens")),
        cache_read=count(usage.get("cache_read_input_tokens")),
        cache_write=written,
        output=output,
        reasoning=inside(thinking, output),
        cache_write_1h=inside(one_hour, written),
        web_searches=searches,
    )
    return None if told == Usage() else with_tier(told, tier_of_message(usage))


def write_usage(usage: Usage) -> dict[str, object]:
    """The `usage` object that tells these counts; counts of cache and searches only where there are any."""
    written: dict[str, object] = {"input_tokens": usage.input or 0}
    if usage.cache_write:
        written["cache_creation_input_tokens"] = usage.cache_write
    if usage.cache_read:
        written["cache_read_input_tokens"] = usage.cache_read
    written["output_tokens"] = usage.output or 0
    if usage.reasoning:
        written["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
    if usage.web_searches:
        written["server_tool_use"] = {"web_search_requests": usage.web_searches, "web_fetch_requests": 0}
    return written


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None and second is None else (first or 0) + (second or 0)
