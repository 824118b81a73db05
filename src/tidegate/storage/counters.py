"""Counts the limits of keys and accounts over the processes of one machine."""

from collections.abc import Callable, Sequence

from tidegate.routing import quota
from tidegate.routing.quota import Admitted, Levels, Scope, Verdict
from tidegate.storage.process_lock import ProcessLock
from tidegate.storage.scope_table import ScopeTable


class LocalCounters:
    """Implements `exchange.ports.Limits` on a table in memory, which other workers may share."""

    def __init__(
        self, table: ScopeTable, lock: ProcessLock | None, worker: int, clock: Callable[[], float]
    ) -> None:
        """`worker` is this process's number from 0; what an earlier one left open under it is wiped out.

        `clock` gives seconds that all processes of the machine share. No lock: nobody shares the table.
        """
        self._table = table
        self._lock = lock
        self._worker = worker
        self._clock = clock
        self._open: dict[str, Sequence[Scope]] = {}
        self.wipe(worker)

    @property
    def open_requests(self) -> int:
        """How many admitted requests of this process have not ended."""
        return len(self._open)

    async def admit(self, request_id: str, scopes: Sequence[Scope], tokens: int) -> Verdict:
        """See `Limits`."""
        return self.admit_now(request_id, scopes, tokens)

    def admit_now(self, request_id: str, scopes: Sequence[Scope], tokens: int) -> Verdict:
        """The same without a task switch."""
        scopes = [scope for scope in scopes if quota.has_limits(scope)]
        if not scopes:
            return NO_LIMITS
        if self._lock is not None:
            self._lock.take()
        try:
            now, table = self._clock(), self._table
            places: list[int] = []
            for scope in scopes:
                places.append(table.find(scope.name, now, places))
            before = [table.read(place, now) for place in places]
            verdict, after = quota.decide(scopes, before, tokens)
            if after is not before:
                for place, state in zip(places, after, strict=True):
                    table.write(place, state)
                    table.count(place, self._worker, 1)
                self._open[request_id] = scopes
        finally:
            if self._lock is not None:
                self._lock.free()
        return verdict

    def note(self, request_id: str, scopes: Sequence[Scope], tokens: int) -> None:
        """Count a request that was admitted elsewhere, whether there is room for it here or not."""
        if self._lock is not None:
            self._lock.take()
        try:
            now, table = self._clock(), self._table
            for scope in scopes:
                place = table.find(scope.name, now)
                table.write(place, quota.taken(scope, table.read(place, now), tokens))
                table.count(place, self._worker, 1)
            self._open[request_id] = scopes
        finally:
            if self._lock is not None:
                self._lock.free()

    def finish(self, request_id: str, scopes: Sequence[Scope], estimated: int, used: int) -> None:
        """See `Limits`. What was not admitted, or has ended before, changes nothing."""
        del scopes  # a reload may have changed them: those of the admission hold
        held = self._open.pop(request_id, None)
        if held is None:
            return
        if self._lock is not None:
            self._lock.take()
        try:
            now, table = self._clock(), self._table
            for scope in held:
                place = table.find(scope.name, now)
                table.write(place, quota.finished(scope, table.read(place, now), estimated, used))
                table.count(place, self._worker, -1)
        finally:
            if self._lock is not None:
                self._lock.free()

    def wipe(self, worker: int) -> None:
        """Forget the open requests of a worker that is no more."""
        if self._lock is not None:
            self._lock.take()
        try:
            self._table.wipe(worker)
        finally:
            if self._lock is not None:
                self._lock.free()


NO_LIMITS = Admitted(Levels())
"""The verdict where nobody has set a limit."""
