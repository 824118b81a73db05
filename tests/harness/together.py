"""Runs scenarios that mostly wait side by side, and tells each failure with its name."""

import asyncio
from collections.abc import Coroutine, Mapping


async def together(scenarios: Mapping[str, Coroutine[object, object, object]]) -> None:
    """Every scenario runs to its end; the failures come as one group, each noted with its name."""
    results = await asyncio.gather(*scenarios.values(), return_exceptions=True)
    failures: list[Exception] = []
    for name, result in zip(scenarios, results, strict=True):
        if isinstance(result, Exception):
            result.add_note(f"scenario: {name}")
            failures.append(result)
        elif isinstance(result, BaseException):
            raise result
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise ExceptionGroup(f"{len(failures)} of {len(results)} scenarios", failures)
