"""Where the processes of one machine tell each other what they found out about channels."""

import mmap
from struct import Struct

from tidegate.storage.process_lock import ProcessLock

NOTICES = 1024
"""The newest so many are kept."""
_SIZE = 2048
_COUNT = Struct("=Q")
_LENGTH = Struct("=I")


class CooldownBoard:
    """A ring of notices in shared memory, made before the fork. What is on it outlives a process."""

    def __init__(self, lock: ProcessLock) -> None:
        self._lock = lock
        self._memory = mmap.mmap(-1, _COUNT.size + NOTICES * _SIZE)

    def post(self, notice: bytes) -> bool:
        """Put one up; False for one that is too long. It counts only once it is whole."""
        if len(notice) > _SIZE - _LENGTH.size:
            return False
        self._lock.take()
        try:
            number = self._written()
            place = _place(number)
            _LENGTH.pack_into(self._memory, place, len(notice))
            first = place + _LENGTH.size
            self._memory[first : first + len(notice)] = notice
            _COUNT.pack_into(self._memory, 0, number + 1)
        finally:
            self._lock.free()
        return True

    def since(self, number: int) -> tuple[list[bytes], int]:
        """The notices from a number on, the oldest first, and the number to go on from."""
        if self._written() == number:
            return [], number
        self._lock.take()
        try:
            written = self._written()
            first = max(0, number if number <= written else 0, written - NOTICES)
            return [self._read(at) for at in range(first, written)], written
        finally:
            self._lock.free()

    def close(self) -> None:
        """Let go of the memory."""
        self._memory.close()

    def _written(self) -> int:
        [written] = _COUNT.unpack_from(self._memory, 0)
        return int(written)

    def _read(self, number: int) -> bytes:
        place = _place(number)
        [length] = _LENGTH.unpack_from(self._memory, place)
        first = place + _LENGTH.size
        return self._memory[first : first + min(length, _SIZE - _LENGTH.size)]


def _place(number: int) -> int:
    return _COUNT.size + number % NOTICES * _SIZE
