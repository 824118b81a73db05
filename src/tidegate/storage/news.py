"""Tells of trouble that begins and ends, without a flood of lines where the two take turns."""

import logging
import time
from collections.abc import Callable

log = logging.getLogger("tidegate.storage")

AT_ONCE = 4
"""Lines that are told as they come."""
LATER = 60.0
"""Seconds until one more may be told."""


class News:
    """The lines about one thing. The last one is always told, if later."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._allowed = float(AT_ONCE)
        self._counted_at = clock()
        self._untold = 0
        self._last: tuple[int, str] | None = None

    def say(self, level: int, words: str) -> None:
        """Something has begun, or is over; `level` is one of `logging`."""
        self._last = level, words
        self._untold += 1
        self.look()

    def look(self) -> None:
        """Tell now what could not be told before. To be called now and then."""
        if self._last is None:
            return
        now = self._clock()
        self._allowed = min(AT_ONCE, self._allowed + (now - self._counted_at) / LATER)
        self._counted_at = now
        if self._allowed < 1:
            return
        self._allowed -= 1
        level, words = self._last
        before = self._untold - 1
        log.log(level, "%s%s", words, f" (and {before} lines about it before)" if before else "")
        self._untold, self._last = 0, None
