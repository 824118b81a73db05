"""Workers are started, replaced, told and ended together, whatever happens to one or to all."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tidegate.wiring.workers import wait_until_alone

SRC = Path(__file__).parents[3] / "src"
FRAME = """
import os, signal, sys, time
from tidegate.wiring import workers
workers._RESTART_PAUSE = {pause}

def tell(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

def work(ready, mine):
    got = []
    def note(number, _):
        got.append(number)
        tell("signal", signal.Signals(number).name, os.getpid())
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, note)
    {before}
    ready()
    tell("worker", os.getpid(), mine)
    while not set(got) & {{signal.SIGTERM, signal.SIGINT}}:
        time.sleep(0.005)
    time.sleep(0.05)

def reread():
    tell("reread")

def mourn(number):
    tell("mourned", number)

sys.exit(workers.supervise({count}, work, lambda: tell("announced"), reread, mourn))
"""


class Crew:
    """A supervisor in a process and a group of its own."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.lines: list[str] = []

    def line(self) -> str:
        assert self.process.stdout is not None
        text = self.process.stdout.readline().decode().strip()
        self.lines.append(text)
        return text

    def until(self, condition: Callable[[list[str]], bool]) -> list[str]:
        while not condition(self.lines):
            assert self.line(), f"the output ended: {self.lines}"
        return self.lines

    def pids(self, count: int) -> list[int]:
        """The process ids of the first workers that told theirs."""
        started = self.until(lambda lines: sum(line.startswith("worker") for line in lines) >= count)
        return [int(line.split()[1]) for line in started if line.startswith("worker")]

    def rest(self) -> list[str]:
        """All that is told up to the end of every process."""
        while self.line():
            pass
        return self.lines


@contextmanager
def crew(count: int = 2, before: str = "pass", pause: float = 0.05) -> Iterator[Crew]:
    script = FRAME.format(count=count, before=before, pause=pause)
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(SRC), "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    one = Crew(process)
    try:
        yield one
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(60)
        assert process.stdout is not None
        process.stdout.close()


def told(lines: list[str], name: str) -> list[int]:
    return sorted(int(line.split()[2]) for line in lines if line.startswith(f"signal {name}"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_all_are_announced_once_and_end_in_order(number: signal.Signals) -> None:
    with crew(3) as one:
        pids = one.pids(3)
        one.until(lambda lines: "announced" in lines)
        one.process.send_signal(number)
        lines = one.rest()
        assert one.process.wait(60) == 0
        assert lines.count("announced") == 1
        assert told(lines, number.name) == sorted(pids)


def test_ctrl_c_in_a_terminal_reaches_each_worker_once() -> None:
    with crew(2) as one:
        pids = one.pids(2)
        one.until(lambda lines: "announced" in lines)
        os.killpg(one.process.pid, signal.SIGINT)
        lines = one.rest()
        assert one.process.wait(60) == 0
        assert told(lines, "SIGINT") == sorted(pids)


def test_a_supervisor_that_is_killed_leaves_no_worker_behind() -> None:
    with crew(2) as one:
        pids = one.pids(2)
        one.until(lambda lines: "announced" in lines)
        one.process.kill()
        lines = one.rest()
        assert told(lines, "SIGTERM") == sorted(pids), "they end in order, and their output with them"


def test_a_worker_that_dies_is_replaced() -> None:
    with crew(2) as one:
        first, second = one.pids(2)
        one.until(lambda lines: "announced" in lines)
        os.kill(first, signal.SIGKILL)
        third = one.pids(3)[-1]
        assert third not in (first, second)
        one.process.terminate()
        lines = one.rest()
        assert one.process.wait(60) == 0
        assert told(lines, "SIGTERM") == sorted([second, third])
        assert lines.count("announced") == 1


def test_nobody_is_replaced_once_all_are_to_stop() -> None:
    with crew(2, pause=1.0) as one:
        first, second = one.pids(2)
        one.until(lambda lines: "announced" in lines)
        os.kill(first, signal.SIGKILL)
        os.kill(one.process.pid, signal.SIGTERM)
        lines = one.rest()
        assert one.process.wait(60) == 0
        assert told(lines, "SIGTERM") == [second]
        assert len(one.pids(2)) == 2


def test_one_that_cannot_start_ends_all() -> None:
    with crew(2, before="sys.exit(3)") as one:
        lines = one.rest()
        assert one.process.wait(60) == 1
        assert "announced" not in lines


def test_stopped_before_it_was_ready_is_no_failure() -> None:
    with crew(1, before='tell("starting"); time.sleep(0.3)') as one:
        one.until(lambda lines: "starting" in lines)
        one.process.terminate()
        lines = one.rest()
        assert one.process.wait(60) == 0
        assert "announced" not in lines


def test_a_hangup_is_read_here_first_and_passed_on() -> None:
    with crew(2) as one:
        pids = one.pids(2)
        one.until(lambda lines: "announced" in lines)
        one.process.send_signal(signal.SIGHUP)
        lines = one.until(lambda lines: len(told(lines, "SIGHUP")) == 2)
        assert told(lines, "SIGHUP") == sorted(pids)
        assert lines.index("reread") < next(n for n, line in enumerate(lines) if "SIGHUP" in line)
        one.process.terminate()
        one.rest()
        assert one.process.wait(60) == 0


def test_a_worker_that_is_replaced_hands_its_number_on() -> None:
    with crew(3) as one:
        pids = one.pids(3)
        one.until(lambda lines: "announced" in lines)
        numbers = dict(line.split()[1:] for line in one.lines if line.startswith("worker"))
        assert sorted(numbers.values()) == ["0", "1", "2"]
        os.kill(pids[1], signal.SIGKILL)
        number = numbers[str(pids[1])]
        one.pids(4)
        mourned = one.lines.index(f"mourned {number}")
        [replaced] = [line for line in one.lines if line.startswith("worker")][3:]
        assert replaced.split()[2] == number
        assert mourned < one.lines.index(replaced), "what it left behind is gone before the next begins"


def test_before_a_fork_every_other_thread_is_gone(tmp_path: Path) -> None:
    wait_until_alone()
    assert len(list(Path("/proc/self/task").iterdir())) >= 1
    ended = threading.Thread(target=lambda: None)
    ended.start()
    ended.join()
    wait_until_alone(tmp_path)
    for name in ("1", "2"):
        (tmp_path / name).mkdir()
    begun = time.monotonic()
    wait_until_alone(tmp_path, patience=0.01)
    assert time.monotonic() - begun >= 0.01, "two threads are waited for"
    wait_until_alone(tmp_path / "none")
