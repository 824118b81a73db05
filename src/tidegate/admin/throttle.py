"""Slows down who guesses tokens, together with the other workers of the machine."""

import time
from collections.abc import Callable

from msgspec import Struct

from tidegate.routing.quota import State
from tidegate.storage.process_lock import ProcessLock
from tidegate.storage.scope_table import ScopeTable

SLOTS = 4096
"""Addresses that are remembered at once; of more, those with the fewest failures are forgotten."""
_ALL = "all"
_ROUNDING = 1e-6


class Allowance(Struct, frozen=True):
    """So many failures at once, then one every so many seconds."""

    at_once: int
    every: float


OF_ONE = Allowance(10, 10.0)
OF_ALL = Allowance(200, 0.5)


class Throttle:
    """Counts failures by address and of all together.

    An address without a failure may always try: else whoever fails from everywhere would lock out everybody.
    """

    def __init__(
        self, table: ScopeTable, lock: ProcessLock | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`table` is made for one worker, and shared with the others under `lock`."""
        self._table = table
        self._lock = lock
        self._clock = clock

    def wait(self, address: str) -> float:
        """Seconds until another try may be made; zero: now."""
        return self._look(address, failed=False)

    def fail(self, address: str) -> float:
        """Note a failure; the answer is as of `wait`, before it was counted."""
        return self._look(address, failed=True)

    def _look(self, address: str, *, failed: bool) -> float:
        if self._lock is not None:
            self._lock.take()
        try:
            now = self._clock()
            owed, one = self._one(f"address:{address}", OF_ONE, now, failed=failed)
            _, all_ = self._one(_ALL, OF_ALL, now, failed=failed)
            return max(one, all_) if owed else 0.0
        finally:
            if self._lock is not None:
                self._lock.free()

    def _one(self, name: str, allowance: Allowance, now: float, *, failed: bool) -> tuple[float, float]:
        """Seconds that were owed, and to wait.

        What is owed comes down a second each second, and may be as much as the failures at once cost.
        """
        place = self._table.find(name, now)
        owed = self._table.read(place, now).requests
        most = allowance.at_once * allowance.every
        wait = owed + allowance.every - most
        if failed:
            self._table.write(place, State(now, min(owed + allowance.every, most), 0.0, 0))
        return owed, wait if wait > _ROUNDING else 0.0
