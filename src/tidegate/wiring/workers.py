"""Several processes on one socket: starts them, keeps them alive, passes signals on."""

import logging
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import NoReturn, TypeAlias

log = logging.getLogger(__name__)

_RESTART_PAUSE = 1.0
_TASKS = Path("/proc/self/task")
_MOMENT = 0.1
_ENDING = (signal.SIGTERM, signal.SIGINT)
_PASSED_ON = (*_ENDING, signal.SIGHUP)

Work: TypeAlias = Callable[[Callable[[], None], int], None]
"""What a worker runs: it calls the first argument when it accepts connections; the second is its number.

Numbers begin at 0, and the one that replaces a worker takes over its number.
"""


def wait_until_alone(tasks: Path = _TASKS, patience: float = 2.0) -> None:
    """Return when this process has one thread, for `patience` seconds at most.

    A thread that is just ending holds locks of the C library. A fork would copy them locked, and in the copy
    nobody would ever open them.
    """
    ends_at = time.monotonic() + patience
    if not tasks.is_dir():  # no Linux: nobody tells, so they get a moment
        time.sleep(_MOMENT)
        return
    while len(list(tasks.iterdir())) > 1 and time.monotonic() < ends_at:
        time.sleep(0.001)


def supervise(
    workers: int,
    work: Work,
    announce: Callable[[], None],
    reread: Callable[[], None] = lambda: None,
    mourn: Callable[[int], None] = lambda _: None,
) -> int:
    """Fork `workers` processes that run `work`; the exit code once all have ended.

    `announce` is called when all accept connections, `reread` at each SIGHUP, before the
    workers hear of it: what it changes holds for the workers that are started later. A worker
    that dies is replaced; one that dies before it was ever ready ends them all. `mourn` is
    called with the number of a worker that has died, before it is replaced.
    """
    crew = _Crew(work, mourn)

    def pass_on_hangup(number: int, _frame: object) -> None:
        reread()
        crew.send(number)

    for number in _ENDING:
        signal.signal(number, lambda got, _: crew.stop(got))
    signal.signal(signal.SIGHUP, pass_on_hangup)
    for worker in range(workers):
        crew.start(worker)
    if not crew.await_ready(workers):
        stopped = crew.stopping
        crew.stop(signal.SIGTERM)
        crew.reap_all()
        return 0 if stopped else 1
    announce()
    return crew.watch()


class _Crew:
    """The running workers: process id -> number."""

    def __init__(self, work: Work, mourn: Callable[[int], None]) -> None:
        self._work = work
        self._mourn = mourn
        self._pids: dict[int, int] = {}
        self._reader, self._writer = os.pipe()
        self._lifeline, self._grip = os.pipe()  # nobody writes: it ends when this process does
        self.stopping = False

    def start(self, number: int) -> None:
        """Fork one worker, unless all are to stop."""
        # Held back meanwhile: a signal between the fork and the note of the id would miss the worker.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
        try:
            if self.stopping:
                return
            pid = os.fork()
            if pid == 0:
                self._be_worker(number)
            self._pids[pid] = number
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _be_worker(self, number: int) -> NoReturn:
        code = 1
        try:
            # Ctrl-C goes to all of a terminal's group: a worker in it would be told twice, and hurry.
            os.setpgid(0, 0)
            os.close(self._grip)
            Thread(target=self._end_with_supervisor, daemon=True).start()
            for passed_on in _PASSED_ON:
                signal.signal(passed_on, signal.SIG_DFL)
            # SIGHUP waits until the worker is ready: before, nothing answers it, and it would be the end.
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
            self._work(self._tell_ready, number)
            code = 0
        except SystemExit as told:  # why has been told
            code = told.code if isinstance(told.code, int) else 1
        except BaseException:
            log.exception("a worker failed")
        finally:
            os._exit(code)

    def _end_with_supervisor(self) -> None:
        """A supervisor that was killed leaves no worker behind to hold the port."""
        os.read(self._lifeline, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _tell_ready(self) -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)
        os.write(self._writer, b"r")
        os.close(self._writer)

    def await_ready(self, workers: int) -> bool:
        """Wait until so many workers are ready; False if one died first."""
        ready = 0
        os.set_blocking(self._reader, False)
        while ready < workers:
            try:
                ready += len(os.read(self._reader, workers))
            except BlockingIOError:
                time.sleep(0.02)
            if self.stopping or self._dead():
                return False
        return True

    def watch(self) -> int:
        """Replace workers that die until told to stop; then wait for all."""
        while not self.stopping:
            try:
                pid, status = os.wait()
            except (ChildProcessError, InterruptedError):
                continue
            number = self._pids.pop(pid, None)
            if number is not None:
                self._mourn(number)
            if number is not None and not self.stopping:
                log.error("worker %d ended with status %d and is replaced", pid, status)
                time.sleep(_RESTART_PAUSE)
                self.start(number)
        self.reap_all()
        return 0

    def stop(self, number: int) -> None:
        """Pass a signal on and replace nobody any more."""
        self.stopping = True
        self.send(number)

    def send(self, number: int) -> None:
        """Pass a signal on to all workers."""
        for pid in tuple(self._pids):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                self._pids.pop(pid, None)

    def reap_all(self) -> None:
        """Wait until every worker has ended."""
        while self._pids:
            try:
                pid, _ = os.wait()
            except InterruptedError:
                continue
            except ChildProcessError:
                return
            self._pids.pop(pid, None)

    def _dead(self) -> bool:
        pid, _ = os.waitpid(-1, os.WNOHANG)
        self._pids.pop(pid, None)
        return pid != 0
