"""What the operating system tells of this process."""

import os
import resource
import time
from pathlib import Path

from msgspec import Struct

from tidegate.observe.figures import MICROSECONDS

_FILES = Path("/proc/self/fd")
_PAGES = Path("/proc/self/statm")
_KIB = 1024


class ProcessReading(Struct, frozen=True):
    """Memory in bytes; None where the system does not tell."""

    memory: int
    open_files: int | None
    most_files: int | None


def read_process() -> ProcessReading:
    """As of now. Takes a millisecond where thousands of connections are open, so not on the event loop."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return ProcessReading(_memory(), _open_files(), None if most == resource.RLIM_INFINITY else most)


def cpu_microseconds() -> int:
    """Processor time of this process until now."""
    return round(time.process_time() * MICROSECONDS)


def _memory() -> int:
    try:
        return int(_PAGES.read_text().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):  # no Linux: the most that it ever was
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB


def _open_files() -> int | None:
    try:
        return len(os.listdir(_FILES))
    except OSError:
        return None
