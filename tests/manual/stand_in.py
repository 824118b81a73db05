"""What the commands of the manual become when a test runs them: bounded, and on free ports."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
WITHIN = 60.0
ENDLESS = "requests/tail"
"""What an address has in it whose answer goes on."""
TIMED_OUT = 28
"""curl's code for its own limit."""
SERVERS = ("serve", "demo", "sim")
"""Commands that go on until they are told to end."""


def tidegate(words: Sequence[str]) -> int:
    """The command line itself. A server is ended in order once it is ready, `--follow` after a moment."""
    command = [sys.executable, "-m", "tidegate", *words]
    if words and words[0] in SERVERS and "--help" not in words:
        return _serve([*command, "--port", "0"])
    if "--follow" in words or "-f" in words:
        return _follow(command)
    return subprocess.run(command, check=False, timeout=WITHIN).returncode


def _serve(command: Sequence[str]) -> int:
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        ready = False
        for line in process.stderr:
            sys.stderr.write(line)
            if not ready and "listening on http" in line:
                ready = True
                process.send_signal(signal.SIGTERM)
        return process.wait(WITHIN) if ready else (process.wait(WITHIN) or 1)


def _follow(command: Sequence[str]) -> int:
    """Ended as by Ctrl-C, a moment after it has begun to read the database."""
    with subprocess.Popen(command) as process:
        deadline = time.monotonic() + WITHIN
        while process.poll() is None and time.monotonic() < deadline and not _reads(process.pid):
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        return 0 if process.wait(WITHIN) == 130 else 1


def _reads(pid: int) -> bool:
    """Whether the process has a database open."""
    with suppress(OSError):
        return any(os.readlink(entry.path).endswith(".db") for entry in os.scandir(f"/proc/{pid}/fd"))
    return False


def make(words: Sequence[str]) -> int:
    """Only whether there is such a target."""
    done = subprocess.run(
        ["/usr/bin/make", "-n", *words], cwd=ROOT, stdout=subprocess.DEVNULL, check=False, timeout=WITHIN
    )
    return done.returncode


def python(words: Sequence[str]) -> int:
    """The measurements only show their options: they take minutes."""
    if words[:1] == ["-m"] and words[1].startswith("bench"):
        words = ["-m", words[1], "--help"]
    environ = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    done = subprocess.run([sys.executable, *words], env=environ, check=False, timeout=2 * WITHIN)
    return done.returncode


def curl(words: Sequence[str]) -> int:
    """A status that tells of an error is one. What never ends by itself is left after a moment."""
    endless = any(ENDLESS in word for word in words)
    limit = "2" if endless else "30"
    bounded = ["/usr/bin/curl", "-sS", "--fail-with-body", "--max-time", limit, *words]
    code = subprocess.run(bounded, check=False).returncode
    return 0 if endless and code == TIMED_OUT else code


def linted(words: Sequence[str]) -> int:
    """Nothing is run; files of this repository that are named must be there."""
    missing = [word for word in words if word.startswith("deploy/") and not (ROOT / word).exists()]
    sys.stderr.write(f"not run: {sys.argv[1:]}\n")
    return 1 if missing else 0


RUNS = {"tidegate": tidegate, "make": make, "python": python, "python3": python, "curl": curl}

if __name__ == "__main__":
    sys.exit(RUNS.get(sys.argv[1], linted)(sys.argv[2:]))
