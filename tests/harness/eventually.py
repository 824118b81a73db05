"""Waits for something to be so."""

import asyncio
import time
from collections.abc import Awaitable, Callable


async def comes_true(condition: Callable[[], Awaitable[bool]], within: float = 40.0) -> None:
    """Look again and again until it is so."""
    deadline = time.monotonic() + within
    while not await condition():
        assert time.monotonic() < deadline, f"not so within {within} s"
        await asyncio.sleep(0.05)
