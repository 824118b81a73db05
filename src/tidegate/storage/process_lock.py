"""A lock between the processes of one machine that the kernel frees when its holder dies."""

import ctypes
import os
import sys
import tempfile
import time
from typing import IO

PATIENCE = 0.02
"""Seconds; a holder needs microseconds, so one that takes longer is stopped, and is not waited for."""
_GRUDGE = 1.0
"""Seconds for which nobody is waited for after that."""
_SPINS = 50

# A call through PyDLL keeps the interpreter's lock: given up inside, it may come back only after another
# thread's whole turn of 5 ms, and all that time the other processes would wait.
_lockf = ctypes.PyDLL(None).lockf
_lockf.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_long)
_lockf.restype = ctypes.c_int


def _unnamed_file() -> IO[bytes]:
    """In memory where that can be had: no folder need be writable."""
    if sys.platform == "linux":
        return open(os.memfd_create("tidegate-lock"), "r+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


class ProcessLock:
    """Make it before the fork. It excludes processes, not the threads of one."""

    def __init__(self) -> None:
        self._file = _unnamed_file()
        self._number = self._file.fileno()
        self._impatient_until = 0.0

    def take(self) -> None:
        """Wait for the lock, but never long: what it guards survives two at once, and a hang is worse."""
        if _lockf(self._number, os.F_TLOCK, 0) != 0:
            self._wait()

    def free(self) -> None:
        """Let the others in."""
        _lockf(self._number, os.F_ULOCK, 0)

    def close(self) -> None:
        """Let go of the file behind the lock."""
        self._file.close()

    def _wait(self) -> None:
        now = time.monotonic()
        if now < self._impatient_until:
            return
        ends_at, spins = now + PATIENCE, 0
        while _lockf(self._number, os.F_TLOCK, 0) != 0:
            spins += 1
            time.sleep(0 if spins < _SPINS else 0.0005)
            now = time.monotonic()
            if now >= ends_at:
                self._impatient_until = now + _GRUDGE
                return
