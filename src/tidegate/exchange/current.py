"""Which request the running code serves, for whoever writes a line about what goes wrong."""

import asyncio
from contextvars import ContextVar
from typing import Any

from msgspec import Struct

from tidegate.exchange.story import Incoming


class _Served(Struct, frozen=True):
    incoming: Incoming
    task: "asyncio.Task[Any] | None"


_SERVED: ContextVar[_Served | None] = ContextVar("served", default=None)


def serve_now(incoming: Incoming | None) -> None:
    """What the running task does from now on is for this request; None: for no request."""
    _SERVED.set(None if incoming is None else _Served(incoming, asyncio.current_task()))


def served_now() -> Incoming | None:
    """The request that this is done for: in its own task, or on a thread that it waits for.

    Other tasks and timers are begun in the midst of a request, and live on for all: they serve none.
    """
    served = _SERVED.get()
    if served is None:
        return None
    try:
        task = asyncio.current_task()
    except RuntimeError:  # a thread without a loop: what it has of the task's context, it was given
        return served.incoming
    return served.incoming if task is served.task else None
