"""Several processes on one socket: starts them, keeps them alive, passes signals on."""

import logging
import os
import signal
import time
from collections.abc import Callable
from typing import TypeAlias

log = logging.getLogger(__name__)

_RESTART_PAUSE = 1.0

Work: TypeAlias = Callable[[Callable[[], None]], None]
"""What a worker runs; it calls its argument when it accepts connections."""


def supervise(workers: int, work: Work, announce: Callable[[], None]) -> int:
    """Fork `workers` processes that run `work`; the exit code once all have ended.

    `announce` is called when all accept connections. A worker that dies is
    replaced; one that dies before it was ever ready ends them all.
    """
    crew = _Crew(work)
    for _ in range(workers):
        crew.start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda got, _: crew.stop(got))
    signal.signal(signal.SIGHUP, lambda *_: crew.send(signal.SIGHUP))
    if not crew.await_ready(workers):
        crew.stop(signal.SIGTERM)
        crew.reap_all()
        return 1
    announce()
    return crew.watch()


class _Crew:
    """The running workers by process id."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._pids: set[int] = set()
        self._stopping = False
        self._reader, self._writer = os.pipe()

    def start(self) -> None:
        """Fork one worker."""
        pid = os.fork()
        if pid:
            self._pids.add(pid)
            return
        code = 1
        try:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            self._work(lambda: os.close(self._writer) if os.write(self._writer, b"r") else None)
            code = 0
        except BaseException:
            log.exception("a worker failed")
        finally:
            os._exit(code)

    def await_ready(self, workers: int) -> bool:
        """Wait until so many workers are ready; False if one died first."""
        ready = 0
        os.set_blocking(self._reader, False)
        while ready < workers:
            try:
                ready += len(os.read(self._reader, workers))
            except BlockingIOError:
                time.sleep(0.02)
            if self._stopping or self._dead():
                return False
        return True

    def watch(self) -> int:
        """Replace workers that die until told to stop; then wait for all."""
        while not self._stopping:
            try:
                pid, status = os.wait()
            except (ChildProcessError, InterruptedError):
                continue
            self._pids.discard(pid)
            if not self._stopping:
                log.error("worker %d ended with status %d and is replaced", pid, status)
                time.sleep(_RESTART_PAUSE)
                self.start()
        self.reap_all()
        return 0

    def stop(self, number: int) -> None:
        """Pass a signal on and replace nobody any more."""
        self._stopping = True
        self.send(number)

    def send(self, number: int) -> None:
        """Pass a signal on to all workers."""
        for pid in tuple(self._pids):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                self._pids.discard(pid)

    def reap_all(self) -> None:
        """Wait until every worker has ended."""
        while self._pids:
            try:
                pid, _ = os.wait()
            except InterruptedError:
                continue
            except ChildProcessError:
                return
            self._pids.discard(pid)

    def _dead(self) -> bool:
        pid, _ = os.waitpid(-1, os.WNOHANG)
        self._pids.discard(pid)
        return pid != 0
