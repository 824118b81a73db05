"""What a process has used: CPU time, resident memory, and who else was on its core."""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_PAGE_KIB = os.sysconf("SC_PAGE_SIZE") // 1024


class Reading(Struct, frozen=True):
    """One look at the clocks. Nanoseconds, counted from the start of each process or of the machine."""

    at: int
    processes: int
    """All threads, ended ones too: the CPU clock of each process, as fine as the scheduler counts."""
    by_ticks: int
    """The same from utime + stime of /proc/PID/stat, in whole ticks (10 ms as a rule)."""
    core_busy: int
    """What the whole core has worked for anyone, from /proc/stat."""


def read(pids: Sequence[int], core: int) -> Reading:
    """The processes' CPU time so far, added up."""
    return Reading(
        at=time.monotonic_ns(),
        processes=sum(cpu_ns(pid) for pid in pids),
        by_ticks=sum(_ticks(pid) for pid in pids) * _TICK_NS,
        core_busy=_core_busy(core),
    )


def cpu_ns(pid: int) -> int:
    """CPU time of the process with all its threads: clock_getcpuclockid(3) written out."""
    return time.clock_gettime_ns((~pid << 3) | 2)


def families_ns(pids: Sequence[int]) -> int:
    """CPU time of the processes and all that descend from them now; those that come and go are let go."""
    total = 0
    for pid in (member for first in pids for member in family(first)):
        with suppress(OSError):
            total += cpu_ns(pid)
    return total


def rss_kib(pids: Sequence[int]) -> int:
    """Resident memory, added up."""
    return sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids) * _PAGE_KIB


def family(pid: int) -> list[int]:
    """The process and all that descend from it."""
    found = [pid]
    for parent in found:
        children = Path(f"/proc/{parent}/task/{parent}/children")
        with suppress(OSError):  # it has just ended
            found += [int(child) for child in children.read_text().split()]
    return found


def _ticks(pid: int) -> int:
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(after_name[11]) + int(after_name[12])


def _core_busy(core: int) -> int:
    for line in Path("/proc/stat").read_text().splitlines():
        name, *values = line.split()
        if name == f"cpu{core}":
            user, nice, system, _idle, _wait, irq, soft, steal = (int(value) for value in values[:8])
            return (user + nice + system + irq + soft + steal) * _TICK_NS
    return 0
