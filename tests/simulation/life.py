"""Whether the process lives: every effect on the outside world asks first."""

from dataclasses import dataclass

from tests.simulation.trace import Trace
from tests.simulation.virtual_loop import VirtualLoop


@dataclass(frozen=True)
class Crash:
    """When the process is killed: before its effect of this number, or at a time after its start."""

    effect: int | None = None
    at: float | None = None


class Killed(BaseException):
    """Takes down work that is not in steps, in the middle of it."""


class Life:
    """One process from its start to its end."""

    def __init__(self, loop: VirtualLoop, trace: Trace, crash: Crash | None) -> None:
        self.killed_at: float | None = None
        self._loop = loop
        self._trace = trace
        self._effects = 0
        self._last = None if crash is None else crash.effect
        if crash is not None and crash.at is not None:
            loop.call_later(crash.at, self.kill)

    def effect(self) -> bool:
        """Whether one more effect happens; the kill may come just before it."""
        self._effects += 1
        if self._effects == self._last:
            self.kill()
        return self.killed_at is None

    def kill(self) -> None:
        """kill -9."""
        if self.killed_at is None:
            self._trace.note("KILLED before effect %d", self._effects)
            self.killed_at = self._loop.time()
            self._trace.deaf = True
            self._loop.halt()
