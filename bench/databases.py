"""PostgreSQL and Redis for the gateway: Debian's, started afresh on free ports in a temporary folder."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from bench import debian
from bench.process import NotStarted, Process, accepts, free_port

_SEARCH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
_START_SECONDS = 30
_OWNER = "postgres"
"""Whose servers they are when root runs the benchmark: PostgreSQL refuses to be root's."""


class Servers(Struct, frozen=True):
    """Two running servers: what to write into a config, and whose CPU time to read."""

    database_url: str
    redis_url: str
    pids: list[int]


@contextmanager
def servers(core: int) -> Iterator[Servers]:
    """Both servers on one core, empty; they end, and their folder goes, at the end. Raises NotStarted."""
    initdb, postgres, redis = _programs()
    folder = Path(tempfile.mkdtemp(prefix="tidegate-bench-servers-"))
    running: list[Process] = []
    try:
        owner = _hand_over(folder)
        made = ["-D", f"{folder}/data", "-U", _OWNER, "--auth=trust", "-E", "UTF8", "--no-sync"]
        _run([*owner, initdb, *made])
        port, redis_port = free_port(), free_port()
        options = ["-D", f"{folder}/data", "-p", str(port), "-k", str(folder), "-h", "127.0.0.1"]
        running.append(Process([*owner, postgres, *options], core, folder / "postgres.log"))
        options = ["--port", str(redis_port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
        running.append(Process([*owner, redis, *options], core, folder / "redis.log"))
        for process, where in zip(running, (port, redis_port), strict=True):
            process.wait_until(lambda where=where: accepts(where), _START_SECONDS)  # type: ignore[misc]
        yield Servers(
            f"postgresql://{_OWNER}@127.0.0.1:{port}/postgres",
            f"redis://127.0.0.1:{redis_port}/0",
            [process.pid for process in running],
        )
    finally:
        for process in running:
            process.end()
        shutil.rmtree(folder, ignore_errors=True)


def versions() -> dict[str, str]:
    """Of what is installed."""
    found = {}
    if postgres := _postgres("postgres"):
        found["postgresql"] = _said([postgres, "--version"]).split()[2]
    if redis := shutil.which("redis-server", path=_SEARCH):
        found["redis"] = _said([redis, "--version"]).partition("v=")[2].split()[0]
    return found


def _programs() -> tuple[str, str, str]:
    if not _postgres("initdb") or not shutil.which("redis-server", path=_SEARCH):
        debian.install("postgresql", "redis-server")
    initdb, postgres = _postgres("initdb"), _postgres("postgres")
    redis = shutil.which("redis-server", path=_SEARCH)
    if initdb is None or postgres is None:
        raise NotStarted("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    if redis is None:
        raise NotStarted("Redis is not installed (Debian: apt-get install redis-server)")
    return initdb, postgres, redis


def _postgres(program: str) -> str | None:
    """The newest that Debian put aside, else one on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"), key=lambda path: int(path.parts[4]))
    return str(found[-1]) if found else shutil.which(program, path=_SEARCH)


def _hand_over(folder: Path) -> Sequence[str]:
    """What to put before a command so that it runs as the owner of the folder."""
    if os.geteuid() != 0:
        return ()
    try:
        user = pwd.getpwnam(_OWNER)
    except KeyError as error:
        raise NotStarted(f"there is no user {_OWNER} to run PostgreSQL") from error
    os.chown(folder, user.pw_uid, user.pw_gid)
    # Another user loses the wish to die with the parent, so it is said once more.
    change = ("--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--clear-groups")
    return ("setpriv", *change, "--pdeathsig", "KILL", "--")


def _run(argv: Sequence[str]) -> None:
    try:
        subprocess.run(argv, check=True, capture_output=True, text=True, timeout=60)
    except (subprocess.SubprocessError, OSError) as error:
        words = " ".join(str(getattr(error, "stderr", None) or error).split())
        raise NotStarted(f"PostgreSQL could not be set up: {words[-200:]}") from error


def _said(argv: Sequence[str]) -> str:
    return subprocess.run(argv, capture_output=True, text=True, timeout=20, check=True).stdout
