"""Plays a caller: keeps every byte with its time, reads slowly, leaves at any moment."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from tests.simulation.trace import Trace

from tidegate.exchange.ports import Call, Headers


@dataclass(frozen=True)
class Manners:
    """How a caller behaves. `leaves_at` is seconds after its request, `leaves_after` a number of writes."""

    slow_after: int | None = None
    """Bytes after which it falls behind, up to `slow_times` times."""
    slow_for: float = 0.0
    slow_times: int = 0
    leaves_at: float | None = None
    leaves_after: int | None = None
    leaves_on: int | None = None
    """How many things happen, of whatever kind, before it leaves in the same moment as the last."""

    def in_words(self) -> str:
        """For the trace."""
        told = []
        if self.slow_after is not None:
            told.append(f"{self.slow_times} times behind for {self.slow_for} s after {self.slow_after} bytes")
        if self.leaves_at is not None:
            told.append(f"leaves after {self.leaves_at:.3f} s")
        if self.leaves_after is not None:
            told.append(f"leaves after {self.leaves_after} writes")
        if self.leaves_on is not None:
            told.append(f"leaves {self.leaves_on} lines later")
        return ", ".join(told) or "reads all at once"


class PlayedClient:
    """Implements `ClientPipe` as a transport does: once the client has gone, writes are lost."""

    def __init__(self, name: str, manners: Manners, trace: Trace, effect: Callable[[], bool]) -> None:
        """`effect` is asked before each write: False means that the process is dead."""
        self.name = name
        self.paused = False
        self.given_up = False
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.written = b""
        self.writes: list[tuple[float, bytes]] = []
        self.ended = False
        self.streamed = False
        self.left_at: float | None = None
        self.asked_at = trace.clock()
        self.fell_behind = 0
        self.task: asyncio.Task[None] | None = None
        self.call: Call | None = None
        self._manners = manners
        self._trace = trace
        self._effect = effect
        self._loop = asyncio.get_running_loop()
        self._unread = 0
        if manners.leaves_at is not None:
            self._loop.call_later(manners.leaves_at, self.leave)
        if manners.leaves_on is not None:
            trace.meet(manners.leaves_on, lambda: self._loop.call_soon(self.leave))

    def leave(self) -> None:
        """The connection is gone: the server cancels the request's task."""
        if self.left_at is not None or self.task is None or self.task.done():
            return
        self._trace.note("%s leaves", self.name)
        self.left_at = self._trace.clock()
        self.task.cancel()

    @property
    def over(self) -> bool:
        """Whether it has its whole answer, or has left."""
        return self.ended or self.left_at is not None

    def add_headers(self, headers: Headers) -> None:
        """See `ClientPipe`."""
        if self.status is not None:
            self._trace.breach(f"{self.name}: headers after the head")

    def warn(self, warnings: str | None) -> None:
        """See `ClientPipe`."""

    def attach(self, call: Call | None) -> None:
        """See `ClientPipe`."""
        self.call = call
        if call is not None and self.paused:
            call.pause()

    def write(self, data: bytes) -> None:
        """See `ClientPipe`."""
        if not data:
            self._trace.breach(f"{self.name}: an empty write")
        self._put(data, "wrote")

    def finish(self, data: bytes) -> None:
        """See `ClientPipe`."""
        self._put(data, "finished with")
        self.ended = True

    def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """See `ClientPipe`."""
        if self.status is not None:
            self._trace.breach(f"{self.name}: an answer after an answer has begun")
        if self.left_at is None and self._effect():
            self._trace.note("%s got %d %r", self.name, status, body)
            self.status, self.headers, self.written = status, dict(headers), body
            self.writes.append((self._trace.clock(), body))
        self.ended = True

    def _put(self, data: bytes, how: str) -> None:
        if self.ended:
            self._trace.breach(f"{self.name}: {how} {data!r} after the end")
        if self.left_at is not None or not self._effect():
            return
        self._trace.note("%s %s %r", self.name, how, data)
        self.status, self.streamed = 200, True
        self.written += data
        self.writes.append((self._trace.clock(), data))
        self._tire(len(data))

    def _tire(self, size: int) -> None:
        manners = self._manners
        if manners.leaves_after is not None and len(self.writes) >= manners.leaves_after:
            self._loop.call_soon(self.leave)
        self._unread += size
        if manners.slow_after is None or self.paused or self.fell_behind == manners.slow_times:
            return
        if self._unread > manners.slow_after:
            self._trace.note("%s falls behind", self.name)
            self._unread, self.paused, self.fell_behind = 0, True, self.fell_behind + 1
            if self.call is not None:
                self.call.pause()
            self._loop.call_later(manners.slow_for, self._catch_up)

    def _catch_up(self) -> None:
        self._trace.note("%s has caught up", self.name)
        self.paused = False
        if self.call is not None:
            self.call.resume()
