"""A real gateway process on a free port, and everything a test asks of it."""

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from tests.harness import settings
from tests.harness.client import BOUND, Connection, Reply, fetch, request_bytes
from tests.harness.dialects import Side
from tests.harness.notation import Json

_ROOT = Path(__file__).resolve().parents[2]
_READY = re.compile(r"listening on (https?)://\S+:(\d+)\s*$", re.MULTILINE)
Headers = Sequence[tuple[str, str]]


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def environment() -> dict[str, str]:
    """What a process of the product gets: the source tree, and the secrets that the config names."""
    return (
        os.environ
        | settings.ENVIRONMENT
        | {
            "PYTHONPATH": str(_ROOT / "src"),
            "PYTHONFAULTHANDLER": "1",  # SIGABRT makes it write where it is
        }
    )


class Gateway:
    """One process; started on construction, ready when `wait_ready` returns."""

    def __init__(
        self, config: settings.Config, folder: Path, *options: str, more: dict[str, str] | None = None
    ) -> None:
        """`options` of the command line, `more` of the environment."""
        self.config_path = folder / "tidegate.toml"
        self.log_path = folder / "stderr.log"
        self.port: int = config["server"]["port"]
        self.write_config(config)
        with self.log_path.open("ab") as log:
            self._log_start = log.tell()
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tidegate", "serve", "--config", str(self.config_path), *options],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env=environment() | (more or {}),
                cwd=folder,
            )

    def write_config(self, config: settings.Config) -> None:
        self.config_path.write_text(settings.toml(config))

    @property
    def log(self) -> str:
        """What this process has written so far."""
        with self.log_path.open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode(errors="replace")

    def wait_ready(self, within: float = 90.0) -> "Gateway":
        deadline = time.monotonic() + within
        while not (match := _READY.search(self.log)):
            assert self.process.poll() is None, f"the gateway ended at start:\n{self.log[-3000:]}"
            if time.monotonic() >= deadline:
                raise AssertionError(f"not ready within {within} s:\n{self._last_words()[-20_000:]}")
            time.sleep(0.02)
        assert int(match.group(2)) == self.port
        return self

    def _last_words(self) -> str:
        """The log, with the stacks of all threads of all its processes, which end with this."""
        for pid in (*self.workers(), self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGABRT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        return self.log

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def workers(self) -> list[int]:
        """The process ids of the workers, where there are several."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(word) for word in children.read_text().split()]

    def exit_code(self, within: float = 60.0) -> int:
        """Wait, bounded, for the process to end by itself."""
        return self.process.wait(within)

    def stop(self, within: float = 30.0) -> None:
        """End the process: in order, else by force."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(within)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(30)
                raise

    def resident_bytes(self) -> int:
        """Memory of the process that is in RAM."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        match = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert match
        return int(match.group(1)) * 1024

    def headers(
        self, side: Side, key: str | None = settings.KEY, extra: Headers = ()
    ) -> list[tuple[str, str]]:
        """What an SDK of that protocol sends."""
        result = [("content-type", "application/json"), *extra]
        if side.name == "messages":
            result.append(("anthropic-version", "2023-06-01"))
        if key is not None:
            bearer = ("authorization", f"Bearer {key}")
            result.append(("x-api-key", key) if side.name == "messages" else bearer)
        return result

    def request(
        self,
        side: Side,
        body: Json | bytes,
        *,
        key: str | None = settings.KEY,
        extra: Headers = (),
        target: str | None = None,
    ) -> bytes:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return request_bytes("POST", target or side.path, self.headers(side, key, extra), content)

    @contextlib.asynccontextmanager
    async def open(
        self,
        side: Side,
        body: Json | bytes,
        *,
        key: str | None = settings.KEY,
        extra: Headers = (),
        target: str | None = None,
        within: float = BOUND,
    ) -> AsyncIterator[Reply]:
        """Send a request and give the reply as soon as its head is there."""
        connection = await Connection.open(self.port)
        try:
            await connection.send(self.request(side, body, key=key, extra=extra, target=target))
            yield await connection.reply(within)
        finally:
            connection.close()

    async def call(
        self,
        side: Side,
        body: Json | bytes,
        *,
        key: str | None = settings.KEY,
        extra: Headers = (),
        target: str | None = None,
        within: float = BOUND,
    ) -> Reply:
        """One request, its answer read to the end."""
        async with self.open(side, body, key=key, extra=extra, target=target, within=within) as reply:
            return await reply.finish(within)

    async def admin(
        self,
        target: str,
        token: str | None = settings.ADMIN,
        method: str = "GET",
        body: Json | bytes | None = None,
        extra: Headers = (),
    ) -> Reply:
        headers = [*extra] if token is None else [("authorization", f"Bearer {token}"), *extra]
        content = json.dumps(body).encode() if isinstance(body, dict) else body
        return await fetch(self.port, method, f"/admin/v1/{target}", headers, content)

    async def rows(self, query: str) -> list[Any]:
        """Rows of the journal as the list gives them, newest first."""
        reply = await self.admin(f"requests?{query}")
        assert reply.status == 200, reply.body
        answer = reply.json()
        if isinstance(answer, list):
            return answer
        lists = [value for value in answer.values() if isinstance(value, list)]
        assert len(lists) == 1, f"no one list of rows in {answer}"
        result: list[Any] = lists[0]
        return result

    async def row_of(self, request_id: str | None, within: float = 30.0) -> Any:
        """The row of a request, once it is written: rows are written in batches."""
        assert request_id, "an answer without x-request-id"
        deadline = time.monotonic() + within
        while (reply := await self.admin(f"requests/{request_id}")).status == 404:
            assert time.monotonic() < deadline, f"no row for {request_id} in {within} s"
            await asyncio.sleep(0.05)
        assert reply.status == 200, reply.body
        return reply.json()

    async def row(self, model: str, count: int = 1, within: float = 30.0) -> Any:
        """The newest row of a model in full, once it has `count` rows; a further one is a failure."""
        deadline = time.monotonic() + within
        while len(rows := await self.rows(f"model={model}&limit=100")) < count:
            assert time.monotonic() < deadline, f"{len(rows)} rows for {model}, not {count}, in {within} s"
            await asyncio.sleep(0.05)
        assert len(rows) == count, f"{len(rows)} rows for {model}: {rows}"
        reply = await self.admin(f"requests/{rows[0]['id']}")
        assert reply.status == 200, reply.body
        return reply.json()
