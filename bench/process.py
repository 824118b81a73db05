"""Starts a process on one core, waits until it serves, ends it by its id."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_DIE_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL", "--")


def on_core(core: int, argv: Sequence[str]) -> list[str]:
    """The command, bound to one core; both tools are of util-linux and become the command itself."""
    return ["taskset", "-c", str(core), *_DIE_WITH_PARENT, *argv]


class NotStarted(Exception):
    """The process ended, or did not serve in time. The message is for the table."""


class Process:
    """A child that dies with the benchmark. Its output goes to `log`; it works in the log's folder."""

    def __init__(
        self, argv: Sequence[str], core: int, log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self._log = log
        with log.open("wb") as output:
            self._child = subprocess.Popen(
                on_core(core, argv),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, **(environment or {})},
                cwd=log.parent,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._child.pid

    def wait_until(self, serves: Callable[[], bool], within: float) -> None:
        """Raises NotStarted with the last lines of the log."""
        end = time.monotonic() + within
        while not serves():
            if self._child.poll() is not None:
                raise NotStarted(f"ended with {self._child.returncode}: {self.last_words()}")
            if time.monotonic() > end:
                raise NotStarted(f"did not serve within {within:.0f} s: {self.last_words()}")
            time.sleep(0.05)

    def last_words(self) -> str:
        """The end of its log, on one line."""
        return " ".join(self._log.read_text(errors="replace").split())[-300:]

    def end(self) -> None:
        """SIGTERM, and SIGKILL to its whole session after some seconds."""
        if self._child.poll() is None:
            self._child.terminate()
        try:
            self._child.wait(8)
        except subprocess.TimeoutExpired:
            os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait(5)


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def accepts(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
