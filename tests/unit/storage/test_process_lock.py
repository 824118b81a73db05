"""The lock keeps processes apart, and is free again when its holder dies or hangs."""

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest

from tidegate.storage import process_lock
from tidegate.storage.process_lock import ProcessLock


@pytest.fixture
def lock() -> Iterator[ProcessLock]:
    made = ProcessLock()
    yield made
    made.close()


class Forked:
    """A child that takes the lock, tells so, and keeps it."""

    def __init__(self, lock: ProcessLock, then: Callable[[], None]) -> None:
        reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            lock.take()
            os.write(writer, b"t")
            then()
            os._exit(0)
        os.close(writer)
        assert os.read(reader, 1) == b"t"
        os.close(reader)

    def end(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def test_it_is_taken_and_freed_again_and_again(lock: ProcessLock) -> None:
    for _ in range(3):
        lock.take()
        lock.free()


def test_it_waits_for_a_holder_that_is_soon_done(lock: ProcessLock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_lock, "PATIENCE", 10.0)
    reader, writer = os.pipe()

    def soon() -> None:
        time.sleep(0.05)
        os.write(writer, b"done")
        lock.free()
        time.sleep(5)

    child = Forked(lock, soon)
    try:
        lock.take()
        assert os.read(reader, 4) == b"done"
        lock.free()
    finally:
        child.end()


def test_the_kernel_frees_it_when_its_holder_is_killed(
    lock: ProcessLock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_lock, "PATIENCE", 10.0)
    child = Forked(lock, lambda: time.sleep(60))
    child.end()
    began = time.monotonic()
    lock.take()
    assert time.monotonic() - began < 9
    lock.free()


def test_a_holder_that_hangs_is_waited_for_once_and_shortly(lock: ProcessLock) -> None:
    child = Forked(lock, lambda: time.sleep(60))
    try:
        began = time.monotonic()
        lock.take()
        first = time.monotonic() - began
        assert first >= process_lock.PATIENCE
        for _ in range(1_000):
            lock.take()
            lock.free()
        assert time.monotonic() - began - first < process_lock.PATIENCE * 500, "the others did not wait"
    finally:
        child.end()
