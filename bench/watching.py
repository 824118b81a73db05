"""What figures and an open console cost by themselves: rows come from elsewhere, nobody asks anything else.

`python -m bench.watching` takes two minutes. CPU per request under load wavers more than what is looked for.
"""

import itertools
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from bench import gateway
from bench.history import history
from bench.run import cores
from bench.site import Site
from bench.workloads import FULL
from tidegate.storage import rows

_RATES = (300, 2_000)
_TARGETS = ("accounts", "figures", "watched")
_WARM_UP, _SECONDS = 6.0, 30.0
_TICK = 0.1
_KINDS = 20_000
_PORT_OF_NOBODY = 9


def main() -> None:
    """Print a line for each rate."""
    print("rows/s | CPU ms/s without figures | with figures | with a console | µs a row: figures, console")
    for rate in _RATES:
        plain, figures, watched = _measured(rate)
        each = f"{(figures - plain) / rate * 1e3:.1f}, {(watched - figures) / rate * 1e3:.1f}"
        print(f"{rate} | {plain:.1f} | {figures:.1f} | {watched:.1f} | {each}")


def _measured(rate: int) -> tuple[float, ...]:
    """CPU milliseconds a second of each target."""
    [load] = [one for one in FULL if one.name == "console"]
    core, load_core = cores(sorted(os.sched_getaffinity(0)))
    with ExitStack() as stack:
        folders = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in _TARGETS]
        pids = [
            gateway.start(name, Site(folder, core, load_core, _PORT_OF_NOBODY, (load,)), stack).pids
            for name, folder in zip(_TARGETS, folders, strict=True)
        ]
        drivers = [sqlite3.connect(folder / "tidegate.db", timeout=10) for folder in folders]
        source = _rows()
        _flow(drivers, source, rate, _WARM_UP)
        before, began = list(map(_cpu, pids)), time.monotonic()
        _flow(drivers, source, rate, _SECONDS)
        passed = time.monotonic() - began
        found = tuple((_cpu(one) - cpu) / passed * 1_000 for one, cpu in zip(pids, before, strict=True))
        for driver in drivers:
            driver.close()
    return found


def _rows() -> Iterator[list[object]]:
    """Rows of every kind, without end, that begin now."""
    identifier, created_at = (rows.COLUMNS.index(name) for name in ("id", "created_at"))
    kinds = [row.request for row in history(_KINDS, time.time())]
    for number in itertools.count():
        row = list(kinds[number * 7 % _KINDS])
        row[identifier], row[created_at] = f"req_{number:027x}", round(time.time() * 1e6)
        yield row


def _flow(
    drivers: list[sqlite3.Connection], source: Iterator[list[object]], rate: int, seconds: float
) -> None:
    """So many rows a second, ten times a second some."""
    names = ",".join(f'"{name}"' for name in rows.COLUMNS)
    text = f"INSERT INTO requests ({names}) VALUES ({','.join('?' * len(rows.COLUMNS))})"
    due = time.monotonic()
    for _ in range(round(seconds / _TICK)):
        some = list(itertools.islice(source, round(rate * _TICK)))
        for driver in drivers:
            with driver:
                driver.executemany(text, some)
        due += _TICK
        time.sleep(max(0.0, due - time.monotonic()))


def _cpu(pids: list[int]) -> float:
    """Seconds that the processes have used."""
    ticks = 0
    for pid in pids:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(words[11]) + int(words[12])
    return ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
