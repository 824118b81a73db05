"""The one timer: looks at every open call a few times a second, instead of a timer per event."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from tidegate.core.failure import Failure

TICK = 0.1
"""Seconds between two looks."""
LONGEST_SLEEP = 1.0
"""Seconds after which an open call is looked at again at the latest: its limits change as it proceeds."""


class Beating(Protocol):
    """An open call that must be looked at when its time has come."""

    request_id: str
    """Of the request that it is for."""
    wake_at: float
    """Clock seconds."""

    def beat(self, now: float) -> None:
        """Do what silence calls for and set `wake_at`."""

    def interrupt(self, failure: Failure) -> None:
        """End the call for a reason of the gateway's own."""


class Heartbeat:
    """Runs only while calls are open; looks at them in the order in which they came."""

    def __init__(self, loop: asyncio.AbstractEventLoop, clock: Callable[[], float]) -> None:
        """`clock` is the one that `wake_at` is read on."""
        self._loop = loop
        self._clock = clock
        self._open: dict[Beating, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self.stopped: Failure | None = None
        """Why no call may begin any more; None: it may."""

    def __len__(self) -> int:
        return len(self._open)

    def add(self, call: Beating) -> None:
        """Begin to look at a call."""
        self._open[call] = None
        if self._timer is None:
            self._timer = self._loop.call_later(TICK, self._tick)

    def remove(self, call: Beating) -> None:
        """Look at it no more."""
        self._open.pop(call, None)

    def stop(self, failure: Failure) -> None:
        """End every open call for a reason of the gateway's own; from now on none may begin."""
        self.stopped = failure
        for call in self.open_calls():
            call.interrupt(failure)

    def open_calls(self) -> list[Beating]:
        """The calls that are open now."""
        return list(self._open)

    def _tick(self) -> None:
        now = self._clock()
        due = [call for call in self._open if call.wake_at <= now]
        for call in due:
            call.wake_at = now + LONGEST_SLEEP
            try:
                call.beat(now)
            except Exception as error:  # one broken call must not stop the timer of all others
                told = {"message": "a heartbeat failed", "exception": error, "request_id": call.request_id}
                self._loop.call_exception_handler(told)
        self._timer = self._loop.call_later(TICK, self._tick) if self._open else None
