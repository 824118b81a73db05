"""A real Redis on a free port in a folder of its own, that a test can stop, freeze, kill and start again."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from tests.harness.gateway import free_port


class RedisServer:
    """Started on construction; `stop` must be called at the end."""

    def __init__(self, folder: Path, *options: str, port: int | None = None) -> None:
        """`options` are those of the command line, such as "--requirepass", "secret"; they win over ours."""
        found = shutil.which("redis-server")
        assert found, "these tests need Redis: install the package redis-server"
        self._binary = found
        self._folder = folder
        self._options = options
        self.port = port or free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it, empty, and wait until it listens."""
        assert self._process is None, "it runs already"
        folder, port = str(self._folder), str(self.port)
        command = [self._binary, "--port", port, "--bind", "127.0.0.1", "--dir", folder]
        command += ["--save", "", "--appendonly", "no", *self._options]
        with (self._folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not self._listens():
            assert self._process.poll() is None, f"Redis ended at start:\n{self.log[-2000:]}"
            assert time.monotonic() < deadline, f"Redis does not listen:\n{self.log[-2000:]}"
            time.sleep(0.02)

    @property
    def log(self) -> str:
        return (self._folder / "redis.log").read_text(errors="replace")

    def freeze(self) -> None:
        """It answers nothing, but its connections stay."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on as if nothing had been."""
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """It is gone at once, and all it knew with it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)
            self._process = None

    def stop(self) -> None:
        """End it, whatever state it is in."""
        self.kill()

    def command(self, *words: str) -> bytes:
        """The raw answer to one command, on a connection of its own (without TLS)."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as sock:
            parts = [word.encode() for word in words]
            sock.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(p), p) for p in parts))
            return sock.recv(65536)

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        os.kill(self._process.pid, number)

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=10).close()
        except OSError:
            return False
        return True
