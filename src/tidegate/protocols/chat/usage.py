"""Token counts as Chat Completions writes them."""

from tidegate.core.usage import Usage, count
from tidegate.protocols.loose import mapping
from tidegate.protocols.token_counts import disjoint, prompt_of


def read_usage(value: object) -> Usage | None:
    """The counts of a `usage` object, vendors' spellings included; None where it tells none.

    DeepSeek writes `prompt_cache_hit_tokens` and `prompt_cache_miss_tokens`, Moonshot a `cached_tokens` at
    the top.
    """
    usage = mapping(value)
    inside_prompt = mapping(usage.get("prompt_tokens_details"))
    inside_output = mapping(usage.get("completion_tokens_details"))
    hit = count(usage.get("prompt_cache_hit_tokens"))
    cached = (inside_prompt.get("cached_tokens"), usage.get("cached_tokens"), hit)
    return disjoint(
        prompt=_prompt(usage, hit),
        cache_read=next((told for each in cached if (told := count(each)) is not None), None),
        cache_write=count(inside_prompt.get("cache_write_tokens")),
        output=count(usage.get("completion_tokens")),
        reasoning=count(inside_output.get("reasoning_tokens")),
    )


def write_usage(usage: Usage) -> dict[str, object]:
    """The `usage` object that tells these counts; totals are computed, never copied."""
    prompt = prompt_of(usage)
    output = usage.output or 0
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read or 0,
            "cache_write_tokens": usage.cache_write or 0,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
    }


def _prompt(usage: dict[str, object], hit: int | None) -> int | None:
    prompt = count(usage.get("prompt_tokens"))
    missed = count(usage.get("prompt_cache_miss_tokens"))
    if prompt is None and hit is not None and missed is not None:
        return hit + missed
    return prompt
