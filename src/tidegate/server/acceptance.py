"""Gives up a client that accepts no byte for too long while bytes wait for it."""

import asyncio
from collections.abc import Callable

_TICKS = 8
"""Looks within the time: it is kept to one part in so many."""
_SHORTEST = 0.02
_LONGEST = 15.0


class Acceptance:
    """Watches what waits for one client. Costs nothing while nothing is watched."""

    __slots__ = ("_give_up", "_since", "_size", "_timer", "_transport")

    def __init__(self, give_up: Callable[[], None]) -> None:
        """`give_up` is called at most once for each `begin`."""
        self._give_up = give_up
        self._transport: asyncio.WriteTransport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._size = 0
        self._since = 0.0

    def begin(self, transport: asyncio.WriteTransport, seconds: float) -> None:
        """Watch from now until nothing waits or `end` is called; does nothing if it watches already."""
        if self._timer is not None or seconds <= 0:
            return
        loop = asyncio.get_running_loop()
        self._transport, self._size, self._since = transport, transport.get_write_buffer_size(), loop.time()
        self._wait(loop, seconds)

    def end(self) -> None:
        """Watch no longer."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._transport = None

    def _wait(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        pause = min(max(seconds / _TICKS, _SHORTEST), _LONGEST)
        self._timer = loop.call_later(pause, self._look, loop, seconds)

    def _look(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        transport = self._transport
        size = 0 if transport is None else transport.get_write_buffer_size()
        if size == 0:
            self.end()
        elif size == self._size and loop.time() - self._since >= seconds:
            self.end()
            self._give_up()
        else:
            if size != self._size:  # more: another answer was written; that one has its own time
                self._size, self._since = size, loop.time()
            self._wait(loop, seconds)
