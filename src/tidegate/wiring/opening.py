"""Opens a gateway, and waits for a database that is away when it starts."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from tidegate.storage.assembly import Unheard
from tidegate.storage.database import DatabaseAway
from tidegate.wiring.waiting_room import WaitingRoom

log = logging.getLogger(__name__)

FIRST_PAUSE = 0.25
LONGEST_PAUSE = 5.0
"""Seconds between two tries."""
REMINDER = 60.0
"""Seconds between two lines of the log."""
_MOMENT = 0.1

T = TypeVar("T")


async def opened(
    open_gateway: Callable[[Unheard], Awaitable[T]],
    room: WaitingRoom,
    stop: asyncio.Event,
    *,
    served: Callable[[], bool],
    aloud: bool = True,
) -> T | None:
    """What `open_gateway` opens, once the database is there; None: `stop` came first.

    Meanwhile callers get their answers in the waiting room, unless another worker has `served` already:
    then this one would only take requests away that others can serve. Any other error than DatabaseAway is
    raised. `aloud`: tell it in the log.
    """
    pause, word = FIRST_PAUSE, _Word(aloud=aloud)

    async def unheard(place: str) -> None:
        word.unheard(place)
        if not served():
            await room.open()

    try:
        while True:
            try:
                gateway = await open_gateway(unheard)
            except DatabaseAway as error:
                word.away(error)
            else:
                word.there()
                return gateway
            if await _stopped(stop, pause, room, served):
                return None
            pause = min(2 * pause, LONGEST_PAUSE)
    finally:
        await room.close()


class _Word:
    """What the log is told of the waiting."""

    def __init__(self, *, aloud: bool) -> None:
        self._aloud = aloud
        self._waits = False
        self._told_at = -REMINDER

    def unheard(self, place: str) -> None:
        """A try takes long. Why it fails is told when it does, which may be much later."""
        if self._aloud and not self._waits:
            log.warning(
                "the gateway waits for its database: %s: has not answered yet; if it does not soon, check"
                " database.url",
                place,
            )
        self._waits = True

    def away(self, error: DatabaseAway) -> None:
        """A try failed."""
        self._waits = True
        if self._aloud and time.monotonic() - self._told_at >= REMINDER:
            log.warning("the gateway waits for its database: %s", error)
            self._told_at = time.monotonic()

    def there(self) -> None:
        """The last try did not fail."""
        if self._aloud and self._waits:
            log.warning("the database is there, the gateway opens")


async def _stopped(stop: asyncio.Event, pause: float, room: WaitingRoom, served: Callable[[], bool]) -> bool:
    """Whether the end came within `pause` seconds."""
    ends_at = time.monotonic() + pause
    while time.monotonic() < ends_at and not stop.is_set():
        await (room.close() if served() else room.open())
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), min(_MOMENT, max(0.001, ends_at - time.monotonic())))
    return stop.is_set()
