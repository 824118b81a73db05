"""Runs the workloads: each with fresh targets, in turns, one at a time."""

import http.client
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from bench.audit import audit, cost
from bench.figures import Figures, gather
from bench.load import Job, Tally
from bench.mock import Lateness
from bench.process import NotStarted, Process, accepts, free_port, on_core
from bench.site import Site, Target
from bench.targets import chosen_as, running
from bench.workloads import WARM, Arrival, Workload

_ROOT = Path(__file__).parent.parent
_CLOSED = {"arrival": Arrival.LOOP, "streams": 32, "warm_up": 0.5, "seconds": 2.5}
"""What makes a workload one that shows the capacity."""


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
        self.books: dict[str, dict[str, str]] = {}
        """Workload -> target -> what its books say."""
        self._due: dict[int, Decimal] = {}
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
            rates = self._rates(load, up)
            up = [target for target in up if target.name in rates]
            tallies: dict[str, list[Tally]] = {target.name: [] for target in up}
            late: dict[str, Lateness] = {}
            for turn in range(load.rounds):
                for target in up if turn % 2 == 0 else reversed(up):
                    print(
                        f"    {load.name} {turn + 1}/{load.rounds} {target.name}", file=sys.stderr, flush=True
                    )
                    self._lateness()
                    tallies[target.name].append(self.load(target, load, rates[target.name]))
                    late[target.name] = _worse(late.get(target.name), self._lateness())
        return {name: gather(name, found, late[name]) for name, found in tallies.items()}

    def _rates(self, load: Workload, up: Sequence[Target]) -> dict[str, float]:
        """Per target the requests per second: those that the workload begins, or zero for a closed loop.

        A gateway with databases of its own gets its share of its own capacity; all others that of the
        gateway with accounts, so that they carry the same load. None where that gateway is missing.
        """
        if load.arrival is not Arrival.RATE:
            return {target.name: 0.0 for target in up}
        probed = [target for target in up if target.databases or target.name == load.ours]
        found = {target.name: load.of_capacity * self._capacity(target, load) for target in probed}
        if load.ours not in found:
            return found
        return {target.name: found.get(target.name, found[load.ours]) for target in up}

    def _capacity(self, target: Target, load: Workload) -> float:
        """Requests per second in a closed loop of some connections."""
        tally = self.load(target, structs.replace(load, **_CLOSED))
        rate = tally.requests / tally.window * 1e9
        print(f"    {load.name} {target.name}: {rate:.0f} requests/s at most", file=sys.stderr, flush=True)
        return rate

    @contextmanager
    def ready(self, name: str, load: Workload) -> Iterator[Target]:
        """One target, running and warm. Raises NotStarted."""
        folder = Path(tempfile.mkdtemp(prefix=f"{load.name}-{name}-", dir=self._folder))
        warm = structs.replace(WARM, streams=min(32, load.streams * 2), crosses=load.crosses)
        plan = self._plan
        site = Site(folder, plan.target_core, plan.load_core, self._mock_port, (load, warm))
        with running(name, site) as target:
            self.load(target, warm)
            yield target
            if target.books is not None:
                told = audit(target.books, _ROOT / "src", self._due[target.port])
                self.books.setdefault(load.name, {})[name] = told

    def _start(self, name: str, load: Workload, stack: ExitStack) -> Target | None:
        if chosen_as(name) not in self._plan.targets or name in self.missing:
            return None
        try:
            return stack.enter_context(self.ready(name, load))
        except NotStarted as reason:
            self.missing[name] = str(reason)
            print(f"    {name}: {reason}", file=sys.stderr)
            return None

    def load(self, target: Target, load: Workload, rate: float = 0.0) -> Tally:
        """One run of the load generator on its core; `rate`: requests per second, for RATE.

        Only answers that came whole are expected in the books.
        """
        job = Job(
            structs.replace(load, rate=rate),
            load.asked_in(target.name, self._plan.protocol),
            target.port,
            target.model(load.name),
            target.key,
            target.pids,
            self._mock.pid,
            self._plan.target_core,
            target.databases,
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
        tally = msgspec.json.decode(done.stdout, type=Tally)
        self._due[target.port] = self._due.get(target.port, Decimal(0)) + tally.whole * cost(load.events)
        return tally

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


class Found(Struct, frozen=True):
    """What a run came to: per workload and target the figures, and what the books say."""

    results: Mapping[str, Mapping[str, Figures]]
    books: Mapping[str, Mapping[str, str]]
    missing: Mapping[str, str]
    """The targets that could not be had, with the reason."""


def run_all(plan: Plan, folder: Path) -> Found:
    """Run all workloads of the plan."""
    bench = Bench(plan, folder)
    try:
        results = {load.name: bench.measure(load) for load in plan.workloads}
        return Found(results, bench.books, bench.missing)
    finally:
        bench.close()


def cores(usable: Sequence[int]) -> tuple[int, int]:
    """One for what is measured, another for the load; the same where there is but one."""
    return usable[0], usable[-1]
