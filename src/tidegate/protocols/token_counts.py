"""Turns counts that lie inside each other into the disjoint ones of `core.usage`."""

from tidegate.core.usage import Usage


def disjoint(
    *,
    prompt: int | None,
    cache_read: int | None,
    cache_write: int | None,
    output: int | None,
    reasoning: int | None,
    web_searches: int | None = None,
) -> Usage | None:
    """The usage where `prompt` includes cache reads and writes, and `output` includes reasoning.

    Providers that tell a prompt and no cache counts have none, so those are zero then. None: nothing told.
    """
    if prompt is None and output is None:
        return None
    told = prompt is not None
    whole = prompt or 0
    read = min(cache_read or 0, whole)
    written = min(cache_write or 0, whole - read)
    return Usage(
        input=whole - read - written if told else None,
        cache_read=read if told else None,
        cache_write=written if told else None,
        output=output,
        reasoning=inside(reasoning, output),
        web_searches=web_searches,
    )


def inside(part: int | None, whole: int | None) -> int | None:
    """A part never exceeds its whole, where both are told."""
    return part if part is None or whole is None else min(part, whole)


def prompt_of(usage: Usage) -> int:
    """The whole prompt: fresh input, cache reads and cache writes."""
    return (usage.input or 0) + (usage.cache_read or 0) + (usage.cache_write or 0)
