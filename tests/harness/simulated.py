"""The simulated provider as a process of its own."""

import subprocess
import sys
import time
from pathlib import Path

from tests.harness.gateway import environment, free_port


class Simulated:
    """`tidegate sim`; started on construction, `stop` must be called at the end."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._log = folder / "sim.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tidegate", "sim", "--port", str(self.port)],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env=environment(),
            )
        deadline = time.monotonic() + 60
        while "listening on" not in self._log.read_text():
            assert self._process.poll() is None, self._log.read_text()
            assert time.monotonic() < deadline, "the simulator does not listen"
            time.sleep(0.02)

    @property
    def base(self) -> str:
        """Its address without a path."""
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self._process.kill()
        self._process.wait(30)
