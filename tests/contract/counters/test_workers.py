"""Real processes on one memory: they count together, and a killed one takes nothing along."""

import os
import random
import signal
import time
from collections.abc import Callable

from tests.contract.counters.nodes import scope

from tidegate.routing.quota import Admitted
from tidegate.storage.counters import LocalCounters
from tidegate.storage.process_lock import ProcessLock
from tidegate.storage.scope_table import ScopeTable


def fork(work: Callable[[], int]) -> int:
    """A child whose exit code is what `work` gives."""
    pid = os.fork()
    if pid == 0:
        code = 255
        try:
            code = work()
        finally:
            os._exit(code)
    return pid


def exit_code(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_four_processes_admit_exactly_what_the_limit_allows() -> None:
    table, lock = ScopeTable(4, slots=1024), ProcessLock()
    scopes = [
        scope("key:k", requests_per_minute=200, max_concurrency=150),
        scope("account:a", max_concurrency=199),
    ]

    def work(worker: int) -> Callable[[], int]:
        def run() -> int:
            counters = LocalCounters(table, lock, worker, lambda: 1000.0)
            verdicts = [counters.admit_now(f"{worker}-{number}", scopes, 1) for number in range(300)]
            return sum(isinstance(verdict, Admitted) for verdict in verdicts)

        return run

    pids = [fork(work(worker)) for worker in range(4)]
    assert sum(exit_code(pid) for pid in pids) == 150


def test_a_killed_worker_s_places_are_free_again_and_the_others_are_not() -> None:
    table, lock = ScopeTable(2, slots=1024), ProcessLock()
    scopes = [scope(max_concurrency=10)]
    living = LocalCounters(table, lock, 1, time.monotonic)
    assert isinstance(living.admit_now("mine", scopes, 0), Admitted)
    reader, writer = os.pipe()

    def die() -> int:
        counters = LocalCounters(table, lock, 0, time.monotonic)
        for number in range(9):
            counters.admit_now(f"r{number}", scopes, 0)
        os.write(writer, b"x")
        time.sleep(60)
        return 0

    pid = fork(die)
    os.read(reader, 1)
    assert not isinstance(living.admit_now("more", scopes, 0), Admitted)
    os.kill(pid, signal.SIGKILL)
    assert exit_code(pid) == -signal.SIGKILL
    living.wipe(0)
    verdicts = [living.admit_now(f"m{number}", scopes, 0) for number in range(12)]
    assert sum(isinstance(verdict, Admitted) for verdict in verdicts) == 9


def test_kills_in_the_middle_of_anything_leave_a_table_that_works() -> None:
    table, lock = ScopeTable(2, slots=64), ProcessLock()
    chance = random.Random(7)
    names = [f"key:{number}" for number in range(100)]

    def toil() -> int:
        counters = LocalCounters(table, lock, 0, time.monotonic)
        for number in range(10**9):
            scopes = [scope(names[number % 100], tokens_per_minute=60, max_concurrency=3)]
            counters.admit_now(f"r{number}", scopes, 7)
            if number % 2:
                counters.finish(f"r{number}", scopes, 7, 9)
        return 0

    for _ in range(15):
        pid = fork(toil)
        time.sleep(chance.uniform(0.005, 0.03))
        os.kill(pid, signal.SIGKILL)
        exit_code(pid)
    living = LocalCounters(table, lock, 1, lambda: time.monotonic() + 4000)
    living.wipe(0)
    for name in names:
        scopes = [scope(name, tokens_per_minute=60, max_concurrency=3)]
        verdicts = [living.admit_now(f"{name}{number}", scopes, 0) for number in range(4)]
        assert [isinstance(verdict, Admitted) for verdict in verdicts] == [True, True, True, False]
        for number in range(4):
            living.finish(f"{name}{number}", scopes, 0, 0)
