"""Runs scenarios that mostly wait side by side, and tells each failure with its name."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping

from tests.harness.dialects import SIDES, Side
from tests.harness.stage import Stage

SideTest = Callable[[Stage, Side], Coroutine[object, object, None]]


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


def all_sides_at_once(test: SideTest) -> Callable[[Stage], Coroutine[object, object, None]]:
    """For tests that mostly wait: the three protocols side by side, as one test."""

    async def at_once(stage: Stage) -> None:
        await together({side.name: test(stage, side) for side in SIDES})

    at_once.__name__ = test.__name__
    at_once.__qualname__ = test.__qualname__
    at_once.__module__ = test.__module__
    at_once.__doc__ = test.__doc__
    return at_once
