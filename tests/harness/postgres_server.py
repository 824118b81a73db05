"""A real PostgreSQL in a temporary folder, which a test may stop, kill, freeze and start again."""

import contextlib
import itertools
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psycopg
from tests.harness.gateway import free_port

PASSWORD = "pg-Secret/w@rd:%41"
"""With every letter that a URL must quote."""
QUOTED_PASSWORD = "pg-Secret%2Fw%40rd%3A%2541"
USER = "tidegate"

# What is committed survives a kill, though not a power cut.
_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "16MB",
    "max_connections": "60",
    "autovacuum": "off",
    "lc_messages": "C",
    "listen_addresses": "127.0.0.1",
    "logging_collector": "off",
}


def programs() -> Path:
    """The folder with `initdb` and `postgres`; a test that needs them fails where there is none."""
    versions = Path("/usr/lib/postgresql").glob("*/bin/postgres")
    found = sorted(versions, key=lambda path: float(path.parent.parent.name))
    on_path = shutil.which("postgres")
    if found:
        return found[-1].parent
    if on_path is not None:
        return Path(on_path).resolve().parent
    raise AssertionError(
        "PostgreSQL is not installed: these tests need it (Debian: apt-get install postgresql)"
    )


class PostgresServer:
    """One server with its data. `start` after the construction, `remove` at the end, whatever happened."""

    def __init__(self) -> None:
        self.bin = programs()
        self.folder = Path(tempfile.mkdtemp(prefix="tidegate-pg-"))
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self._account = _unprivileged()
        self._numbers = itertools.count(1)
        if self._account is not None:
            os.chown(self.folder, self._account.pw_uid, self._account.pw_gid)
        self._initialise()

    def url(self, database: str = "postgres", user: str = USER, password: str = QUOTED_PASSWORD) -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def socket_url(self, database: str) -> str:
        """The same server by its Unix socket, where no password is asked for."""
        return f"postgresql://{USER}@/{database}?host={self.folder}&port={self.port}"

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def start(self) -> None:
        """Start it unless it runs, and return when it takes connections."""
        if self.process is not None and self.process.poll() is None:
            self.thaw()
        else:
            options = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
            where = ["-D", str(self.folder / "data"), "-p", str(self.port), "-k", str(self.folder)]
            with (self.folder / "log").open("ab") as log:
                command = self._as_account([str(self.bin / "postgres"), *where, *options])
                self.process = subprocess.Popen(
                    command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
                )
        self._wait_ready()

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """End it by a signal: SIGINT in order, SIGQUIT at once, SIGKILL without a word to anyone."""
        process = self.process
        if process is None:
            return
        family = self._family()
        if number is signal.SIGKILL:
            for pid in family:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        else:
            self.thaw()
            process.send_signal(number)
        try:
            process.wait(30)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait(30)
            self.process = None
        _wait_gone(family)

    def freeze(self) -> None:
        """It keeps its connections, and the system takes new ones for it, but nobody answers."""
        for pid in self._family():
            os.kill(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        for pid in self._family():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def remove(self) -> None:
        """End the server and delete its files."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def fresh(self, template: str = "template0", encoding: str = "UTF8") -> str:
        """The name of a new database: a copy of `template`."""
        name = f"test_{os.getpid()}_{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template} ENCODING '{encoding}'")
        return name

    def drop(self, database: str) -> None:
        self.run(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")

    def run(self, *statements: str, database: str = "postgres") -> None:
        """Run statements as the superuser, each in a transaction of its own."""
        with psycopg.connect(self.socket_url(database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def ask(self, query: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """The rows of a query."""
        with psycopg.connect(self.socket_url(database), autocommit=True) as connection:
            return list(connection.execute(query.encode()).fetchall())

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        self.freeze()
        try:
            yield
        finally:
            self.thaw()

    def _initialise(self) -> None:
        words = self.folder / "password"
        words.write_text(PASSWORD)
        if self._account is not None:
            os.chown(words, self._account.pw_uid, self._account.pw_gid)
        auth = ["--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={words}"]
        options = ["--username", USER, "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "-D"]
        command = [str(self.bin / "initdb"), *auth, *options, str(self.folder / "data")]
        made = subprocess.run(
            self._as_account(command),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=self.folder,
        )
        assert made.returncode == 0, f"initdb failed:\n{made.stdout}\n{made.stderr}"

    def _as_account(self, command: Sequence[str]) -> list[str]:
        """PostgreSQL refuses to run as root; and it ends with the test process, even if that is killed."""
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            assert self._account is None, "setpriv is not installed (Debian: util-linux)"
            return list(command)
        words = [setpriv, "--pdeathsig", "QUIT"]
        if self._account is not None:
            words += [
                "--reuid",
                self._account.pw_name,
                "--regid",
                str(self._account.pw_gid),
                "--clear-groups",
            ]
        return [*words, *command]

    def _family(self) -> list[int]:
        """The server's process and its children."""
        if self.process is None or self.process.poll() is not None:
            return []
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children")
        with contextlib.suppress(OSError):
            return [pid, *(int(word) for word in children.read_text().split())]
        return [pid]

    def _wait_ready(self, within: float = 60.0) -> None:
        deadline = time.monotonic() + within
        while True:
            assert self.process is not None
            assert self.process.poll() is None, f"PostgreSQL ended at its start:\n{self.log[-3000:]}"
            try:
                psycopg.connect(self.socket_url("postgres"), connect_timeout=20).close()
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, f"PostgreSQL is not ready:\n{self.log[-3000:]}"
                time.sleep(0.02)
            else:
                return


def _unprivileged() -> pwd.struct_passwd | None:
    """Whose name the server runs under if we are root."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise AssertionError("PostgreSQL cannot run as root, and there is neither a user postgres nor nobody")


def _wait_gone(pids: Sequence[int], within: float = 30.0) -> None:
    """A killed server's children hold its memory a moment longer; the next start would stumble over it."""
    deadline = time.monotonic() + within
    while any(_lives(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.01)


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return re.search(r"\) ([A-Z])", state) is not None and ") Z" not in state
