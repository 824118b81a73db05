"""The real counters, with answers that take their time."""

import asyncio
from collections.abc import Callable, Sequence
from random import Random

from tests.simulation.trace import Trace

from tidegate.routing.quota import Admitted, Scope, Verdict
from tidegate.storage.counters import LocalCounters
from tidegate.storage.scope_table import ScopeTable

_SLOTS = 64


LONGEST = 0.5
"""Seconds that limits may take to answer."""


class PlayedLimits:
    """Implements `Limits`."""

    def __init__(self, table: ScopeTable, trace: Trace, clock: Callable[[], float], chance: Random) -> None:
        """`table` outlives a kill, as memory that other workers share."""
        self._counters = LocalCounters(table, None, 0, clock)
        self._trace = trace
        self._chance = chance
        self.admitted: set[str] = set()
        self.used: dict[str, int] = {}

    async def admit(self, request_id: str, scopes: Sequence[Scope], tokens: int) -> Verdict:
        """See `Limits`. Cancelled, nothing is taken."""
        await asyncio.sleep(self._chance.choice((0.0, 0.0, 0.002, LONGEST)))
        verdict = await self._counters.admit(request_id, scopes, tokens)
        if isinstance(verdict, Admitted):
            self.admitted.add(request_id)
        self._trace.note("limits %s: %s", request_id, type(verdict).__name__)
        return verdict

    def finish(self, request_id: str, scopes: Sequence[Scope], estimated: int, used: int) -> None:
        """See `Limits`."""
        if self._trace.deaf:
            return
        if request_id not in self.admitted:
            self._trace.breach(f"{request_id} gives back a place that it does not have")
            return
        self.admitted.discard(request_id)
        self.used[request_id] = used
        self._counters.finish(request_id, scopes, estimated, used)

    def check(self) -> None:
        """Nobody has a place when nothing runs."""
        assert not self.admitted, f"places are taken by {sorted(self.admitted)}"
        assert self._counters.open_requests == 0


def new_table() -> ScopeTable:
    """The memory of the counters."""
    return ScopeTable(1, _SLOTS)
