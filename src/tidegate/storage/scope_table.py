"""The state of every scope in use, in memory that the processes of one machine share."""

import mmap
from array import array
from collections.abc import Sequence
from hashlib import blake2b
from struct import Struct

from tidegate.routing.quota import LONGEST_DEBT, State

SLOTS = 65_536
WAYS = 16
"""A scope may stand in so many slots; which ones, its name decides."""
_MOST_OPEN = 10_000_000
_MOST_REMEMBERED = 200_000
_EMPTY = bytes(16)
_KEY = 16
_RATES = Struct("=ddd")
_COUNT = Struct("=i")


class ScopeTable:
    """Slots of a fixed number, made before the fork; whoever reads or writes must hold the lock around both.

    A slot belongs to a scope for as long as something is in use there; one at rest is given to another. Open
    requests are counted by worker, so that those of a killed one can be wiped out. A kill in the middle of a
    write leaves numbers that are wrong at most for the time a limit needs to refill: what cannot be true is
    read as nothing in use.
    """

    def __init__(self, workers: int, slots: int = SLOTS) -> None:
        self._sets = max(1, slots // WAYS)
        self._workers = workers
        self._record = Struct(f"=16sddd{workers}i")
        self._size = -(-self._record.size // 8) * 8
        self._memory = mmap.mmap(-1, self._sets * WAYS * self._size)
        self._places: dict[str, tuple[bytes, int]] = {}

    def find(self, name: str, now: float, kept: Sequence[int] = ()) -> int:
        """The place of a scope, which is made if it has none, and not at the cost of those in `kept`."""
        known = self._places.get(name)
        if known is not None and self._memory[known[1] : known[1] + _KEY] == known[0]:
            return known[1]
        key = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=_KEY).digest()
        place = self._look(key)
        if place is None:
            place = self._make_room(key, now, kept)
            self._record.pack_into(self._memory, place, key, now, *([0] * (2 + self._workers)))
        if len(self._places) >= _MOST_REMEMBERED:
            self._places.clear()
        self._places[name] = (key, place)
        return place

    def read(self, place: int, now: float) -> State:
        """What is in use at `now`, in seconds of the machine's monotonic clock."""
        _, seen, requests, tokens, *counts = self._record.unpack_from(self._memory, place)
        passed = now - seen if seen < now else 0.0
        return State(now, _left(requests, passed), _left(tokens, passed), sum(map(_count, counts)))

    def write(self, place: int, state: State) -> None:
        """Keep the rates of a state; its open requests are counted with `count`."""
        _RATES.pack_into(self._memory, place + _KEY, state.seen, state.requests, state.tokens)

    def count(self, place: int, worker: int, change: int) -> None:
        """Note that a worker has one request more or less."""
        at = place + _KEY + _RATES.size + worker * _COUNT.size
        [before] = _COUNT.unpack_from(self._memory, at)
        _COUNT.pack_into(self._memory, at, max(0, _count(before) + change))

    def wipe(self, worker: int) -> None:
        """Forget the open requests of a worker that is no more."""
        with memoryview(self._memory) as raw, raw.cast("i") as view:
            first = (_KEY + _RATES.size) // _COUNT.size + worker
            zeros = array("i", bytes(_COUNT.size * self._sets * WAYS))
            view[first :: self._size // _COUNT.size] = memoryview(zeros)

    def close(self) -> None:
        """Let go of the memory."""
        self._memory.close()

    def _set_of(self, key: bytes) -> range:
        first = int.from_bytes(key[:8], "little") % self._sets * WAYS * self._size
        return range(first, first + WAYS * self._size, self._size)

    def _look(self, key: bytes) -> int | None:
        memory = self._memory
        return next((place for place in self._set_of(key) if memory[place : place + _KEY] == key), None)

    def _make_room(self, key: bytes, now: float, kept: Sequence[int]) -> int:
        """An empty slot, else one at rest, else the one that has least in use: its scope begins anew."""
        memory, best, least = self._memory, -1, (True, 0.0)
        for place in self._set_of(key):
            if memory[place : place + _KEY] == _EMPTY:
                return place
            if place in kept:
                continue
            state = self.read(place, now)
            in_use = (state.open > 0, max(state.requests, state.tokens))
            if best < 0 or in_use < least:
                best, least = place, in_use
        return best


def _left(owed: float, passed: float) -> float:
    """What a limit still owes; nothing where what is kept cannot be true."""
    return owed - passed if passed < owed <= LONGEST_DEBT else 0.0


def _count(stored: int) -> int:
    return stored if 0 <= stored <= _MOST_OPEN else 0
