"""Runs the workloads: each with fresh targets, in turns, one at a time."""

import http.client
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.figures import Figures, gather
from bench.load import Job, Tally
from bench.mock import Lateness
from bench.process import NotStarted, Process, accepts, free_port, on_core
from bench.targets import Site, Target, running
from bench.workloads import WARM, Workload

_ROOT = Path(__file__).parent.parent


class Plan(Struct, frozen=True):
    """What to run, and on which cores."""

    workloads: tuple[Workload, ...]
    targets: tuple[str, ...]
    protocol: str
    target_core: int
    load_core: int


class Bench:
    """One run of the plan. `missing` tells which target could not be had, and why."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self._plan = plan
        self._folder = folder
        self.missing: dict[str, str] = {}
        self._mock_port = free_port()
        known = msgspec.json.encode([*plan.workloads, WARM]).decode()
        self._mock = Process(
            [sys.executable, "-m", "bench.mock", str(self._mock_port), known],
            plan.load_core,
            folder / "mock.log",
            {"PYTHONPATH": str(_ROOT)},
        )
        self._mock.wait_until(lambda: accepts(self._mock_port), 10)

    def close(self) -> None:
        """End the mock."""
        self._mock.end()

    def measure(self, load: Workload) -> dict[str, Figures]:
        """Figures per target; those that can't be had are left out."""
        with ExitStack() as stack:
            up = [target for name in load.targets if (target := self._start(name, load, stack))]
            tallies: dict[str, list[Tally]] = {target.name: [] for target in up}
            late: dict[str, Lateness] = {}
            for turn in range(load.rounds):
                for target in up:
                    print(
                        f"    {load.name} {turn + 1}/{load.rounds} {target.name}", file=sys.stderr, flush=True
                    )
                    self._lateness()
                    tallies[target.name].append(self.load(target, load))
                    late[target.name] = _worse(late.get(target.name), self._lateness())
        return {name: gather(name, found, late[name]) for name, found in tallies.items()}

    @contextmanager
    def ready(self, name: str, load: Workload) -> Iterator[Target]:
        """One target, running and warm. Raises NotStarted."""
        folder = Path(tempfile.mkdtemp(prefix=f"{load.name}-{name}-", dir=self._folder))
        warm = msgspec.structs.replace(WARM, streams=min(32, load.streams * 2), crosses=load.crosses)
        site = Site(folder, self._plan.target_core, self._mock_port, (load, warm))
        with running(name, site) as target:
            self.load(target, warm)
            yield target

    def _start(self, name: str, load: Workload, stack: ExitStack) -> Target | None:
        if (name if name != "same" else "tidegate") not in self._plan.targets or name in self.missing:
            return None
        try:
            return stack.enter_context(self.ready(name, load))
        except NotStarted as reason:
            self.missing[name] = str(reason)
            print(f"    {name}: {reason}", file=sys.stderr)
            return None

    def load(self, target: Target, load: Workload) -> Tally:
        """One run of the load generator on its core."""
        job = Job(
            load,
            load.asked_in(target.name, self._plan.protocol),
            target.port,
            target.model(load.name),
            target.key,
            target.pids,
            self._mock.pid,
            self._plan.target_core,
        )
        done = subprocess.run(
            on_core(
                self._plan.load_core, [sys.executable, "-m", "bench.load", msgspec.json.encode(job).decode()]
            ),
            cwd=_ROOT,
            stdout=subprocess.PIPE,
            check=True,
            timeout=load.ramp + load.warm_up + load.seconds + load.longest + 40,
        )
        return msgspec.json.decode(done.stdout, type=Tally)

    def _lateness(self) -> Lateness:
        """What the mock has to say of its pace since the last look."""
        connection = http.client.HTTPConnection("127.0.0.1", self._mock_port, timeout=10)
        try:
            connection.request("GET", "/lateness")
            return msgspec.json.decode(connection.getresponse().read(), type=Lateness)
        finally:
            connection.close()


def _worse(one: Lateness | None, other: Lateness) -> Lateness:
    if one is None:
        return other
    return Lateness(
        one.events + other.events,
        max(one.p50, other.p50),
        max(one.p99, other.p99),
        max(one.worst, other.worst),
        one.blocked + other.blocked,
        one.left + other.left,
    )


def run_all(plan: Plan, folder: Path) -> tuple[Mapping[str, Mapping[str, Figures]], Mapping[str, str]]:
    """Workload -> target -> figures, and the targets that could not be had with the reason."""
    bench = Bench(plan, folder)
    try:
        return {load.name: bench.measure(load) for load in plan.workloads}, bench.missing
    finally:
        bench.close()


def cores(usable: Sequence[int]) -> tuple[int, int]:
    """One for what is measured, another for the load; the same where there is but one."""
    return usable[0], usable[-1]
