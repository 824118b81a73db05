"""Shows where the gateway's time goes under one workload: py-spy while the load runs, then the top functions.

Run it as `python -m bench.profile_gateway --workload paced`, with py-spy on the path (pip install py-spy).
Threads that wait are left out.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

import msgspec

from bench.dialects import PATHS
from bench.figures import gather
from bench.gateway import VARIANTS
from bench.mock import Lateness
from bench.process import on_core
from bench.run import Bench, Plan, cores
from bench.site import Target
from bench.workloads import FULL, Arrival, Workload

_ROOT = Path(__file__).parent.parent
_WAITING = ("_worker (concurrent", "Condition.wait (threading", "Event.wait (threading", "Batches._pace (")
_RATE = 997
"""Samples per second: no divisor of what else ticks."""


def main() -> None:
    """Prints the costs per event and request, then functions by own and by whole share."""
    wanted = _arguments()
    load = next(one for one in FULL if one.name == wanted.workload)
    if load.arrival is Arrival.LOOP:
        load = msgspec.structs.replace(load, seconds=wanted.seconds, rounds=1)
    target_core, load_core = cores(sorted(os.sched_getaffinity(0)))
    plan = Plan((load,), ("tidegate",), wanted.protocol, target_core, load_core)
    with tempfile.TemporaryDirectory(prefix="tidegate-profile-") as folder:
        bench = Bench(plan, Path(folder))
        try:
            with bench.ready(wanted.target, load) as target:
                stacks = _profiled(bench, target, load, load_core, native=wanted.native)
        finally:
            bench.close()
    _tell(stacks, wanted.top)
    if wanted.keep:
        wanted.keep.write_text("".join(f"{stack} {count}\n" for stack, count in stacks.items()))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Profiles the gateway under one workload of the benchmark.")
    parser.add_argument("--workload", default="paced", choices=[load.name for load in FULL])
    parser.add_argument("--target", default="tidegate", choices=list(VARIANTS), help="(default: %(default)s)")
    parser.add_argument("--protocol", default="chat", choices=tuple(PATHS))
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--top", type=int, default=40, help="lines per table (default: %(default)s)")
    parser.add_argument("--native", action="store_true", help="C functions too; slows the gateway")
    parser.add_argument("--keep", type=Path, help="write the folded stacks to this file")
    return parser.parse_args()


def _profiled(bench: Bench, target: Target, load: Workload, load_core: int, *, native: bool) -> Counter[str]:
    spy = shutil.which("py-spy", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    if spy is None:
        sys.exit("py-spy is not on the path: pip install py-spy")
    with tempfile.NamedTemporaryFile() as folded:
        options = ["--native"] if native else []
        argv = [
            spy,
            "record",
            "--pid",
            str(target.pids[-1]),
            "--rate",
            str(_RATE),
            "--format",
            "raw",
            *options,
        ]
        argv += ["--duration", str(int(load.seconds)), "--output", folded.name]
        argv = on_core(load_core, argv)  # on the gateway's own core it would see only what waits
        delay = load.ramp + load.warm_up
        recorder = threading.Timer(delay, subprocess.run, [argv], {"capture_output": True, "timeout": 120})
        recorder.start()
        tally = bench.load(target, load)
        recorder.join()
        found = gather(target.name, [tally], Lateness(0, 0, 0, 0, 0, 0))
        costs = f"{found.cpu_us_per_event} µs per event, {found.cpu_ms_per_request} ms per request"
        print(f"under the profiler: {costs}")
        counts: Counter[str] = Counter()
        for line in Path(folded.name).read_text().splitlines():
            stack, _, count = line.rpartition(" ")
            if not stack.rpartition(";")[2].startswith(_WAITING):
                counts[stack] += int(count)
        return counts


def _tell(stacks: Counter[str], top: int) -> None:
    total = stacks.total()
    own: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for stack, count in stacks.items():
        frames = [frame.replace(f"{_ROOT}/", "") for frame in stack.split(";")]
        own[frames[-1]] += count
        for frame in set(frames):
            whole[frame] += count
    for title, counts in (("own", own), ("whole", whole)):
        print(f"\n{title}, % of {total} samples")
        for frame, count in counts.most_common(top):
            print(f"{100 * count / total:6.1f}  {frame}")


if __name__ == "__main__":
    main()
