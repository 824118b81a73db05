"""Binds one upstream call to the client: what the upstream pushes becomes writes, and one final action."""

import asyncio
from collections.abc import Callable, Mapping
from math import inf
from typing import TypeAlias

from msgspec import Struct

from tidegate.core.failure import Failure, Kind
from tidegate.engine.actions import AppendError, Complete, Failover, Keepalive, Open, Refuse, Wait
from tidegate.engine.body import Body, judge
from tidegate.engine.decide import STALLED
from tidegate.engine.relay import Relay
from tidegate.engine.signals import Phase, Progress
from tidegate.exchange.heartbeat import LONGEST_SLEEP
from tidegate.exchange.ports import Call, ClientPipe
from tidegate.exchange.tally import Tally
from tidegate.exchange.trying import Marks

MAX_REFUSAL = 65_536
"""Bytes of an error body that are read; the rest cannot matter."""
REFUSAL_PATIENCE = 2.0
"""Seconds for the body of a refusal: the status alone says whose fault it is, so nobody waits longer."""

Ended: TypeAlias = Complete | AppendError | Failover | Refuse
ReadRefusal: TypeAlias = Callable[[int, Mapping[str, str], bytes], Failure]


class Refusal:
    """Collects an answer with a status other than 2xx; `marks` tells when the attempt got how far."""

    def __init__(self, read: ReadRefusal) -> None:
        self._read = read
        self._body = bytearray()
        self._headers: Mapping[str, str] = {}
        self._due_at = inf
        self.status: int | None = None
        self.accepted = False
        """Whether the upstream took the request (2xx)."""
        self.marks = Marks()

    def begin(self, status: int, headers: Mapping[str, str], now: float) -> None:
        """The head of an answer came."""
        self.status = status
        self.marks.first_byte_at = now
        self.accepted = 200 <= status < 300
        self._headers = headers
        if self.told:
            self._due_at = now + REFUSAL_PATIENCE

    @property
    def told(self) -> bool:
        """Whether the upstream answered with another status."""
        return self.status is not None and not self.accepted

    def is_due(self, now: float) -> bool:
        """Whether a refusal is judged by what has come of its body."""
        return now >= self._due_at

    def collect(self, part: bytes) -> bool:
        """Keep a part of the error body; False: enough."""
        self._body += part
        return len(self._body) < MAX_REFUSAL

    def failure(self) -> Failure:
        """What the refusal means."""
        return self._read(self.status or 0, self._headers, bytes(self._body))


class StreamAttempt:
    """One try of a streaming request; the future gets the action that ends it."""

    __slots__ = (
        "_call",
        "_clock",
        "_comment",
        "_future",
        "_pipe",
        "_progress",
        "_tally",
        "refusal",
        "relay",
        "request_id",
        "wake_at",
    )

    def __init__(
        self,
        relay: Relay,
        pipe: ClientPipe,
        progress: Progress,
        refusal: Refusal,
        comment: bytes,
        clock: Callable[[], float],
        tally: Tally,
        request_id: str,
    ) -> None:
        self.relay = relay
        self.request_id = request_id
        self.refusal = refusal
        self.wake_at = 0.0
        self._pipe = pipe
        self._progress = progress
        self._comment = comment
        self._clock = clock
        self._tally = tally
        self._future: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()
        self._call: Call | None = None

    async def run(self, call: Call) -> Ended:
        """Wait for the end of the attempt. Cancelled: the upstream call is stopped at once."""
        self._call = call
        self._pipe.attach(call)
        try:
            return await self._future
        except asyncio.CancelledError:
            call.cancel()
            raise
        finally:
            # Call, sink and relay hold each other: let go, or only the collector would free them.
            self._call = None
            self._pipe.attach(None)
            self.relay.release()

    def on_connected(self) -> None:
        """See `Sink`."""
        self.refusal.marks.connected_at = self._clock()

    def on_head(self, status: int, headers: Mapping[str, str]) -> None:
        """See `Sink`."""
        self.refusal.begin(status, headers, self._clock())
        if self.refusal.told:
            self.wake_at = 0.0

    def on_body(self, data: bytes) -> None:
        """See `Sink`."""
        if self.refusal.accepted:
            now = self._clock()
            try:
                out = self.relay.feed(data, now)
            except Exception as fault:
                self._stumble(fault)
                return
            self._write(out, now)
        elif not self.refusal.collect(data):
            self.on_end()

    def on_end(self) -> None:
        """See `Sink`."""
        now = self._clock()
        if self.refusal.told:
            self._write(self.relay.broke(self.refusal.failure(), now), now)
        else:
            self._write(self.relay.end(now), now)

    def on_failure(self, failure: Failure) -> None:
        """See `Sink`."""
        now = self._clock()
        broke = self.refusal.failure() if self.refusal.told else failure
        self._write(self.relay.broke(broke, now), now)

    def _stumble(self, fault: Exception) -> None:
        """A fault of our own in reading what came. Another channel may say it in another way."""
        context = {
            "message": "an answer could not be read",
            "exception": fault,
            "request_id": self.request_id,
        }
        asyncio.get_running_loop().call_exception_handler(context)
        self.on_failure(Failure(kind=Kind.UPSTREAM, message="the upstream's answer could not be read"))

    def interrupt(self, failure: Failure) -> None:
        """The gateway itself gives up, as at the end of a drain."""
        now = self._clock()
        self._write(self.relay.broke(failure, now), now)

    def beat(self, now: float) -> None:
        """See `Beating`. While the client is behind, silence is the client's and not the upstream's."""
        if self.refusal.is_due(now):
            self.on_end()
            return
        if self._pipe.paused:
            self._progress.wait_for_client(now)
            return
        action, out = self.relay.quiet(now)
        match action:
            case Wait(until):
                sleep = LONGEST_SLEEP if self.refusal.told else self.relay.shortest_limit
                self.wake_at = min(until, now + sleep)
            case Open() | Keepalive():
                self._tally.keepalives += 1
                if self._progress.phase is Phase.SILENT:
                    self._progress.phase = Phase.OPENED
                    self._tally.opened += 1
                    self._progress.opened_at = now
                self._progress.wrote_at = now
                self._pipe.write(self._comment)
            case Complete() | AppendError() | Failover() | Refuse():
                self._write(out, now)

    def _write(self, out: bytes, now: float) -> None:
        ended = self.relay.ended
        if ended is not None:
            self._end(ended, out)
        elif out:
            self._progress.wrote_at = now
            self._pipe.write(out)

    def _end(self, ended: Ended, out: bytes) -> None:
        if self._future.done():
            return
        match ended:
            case Complete():
                self._complete(out)
                return
            case AppendError():
                self._cancel()
                self._pipe.finish(out)
            case Failover() | Refuse():
                self._cancel()
        self._future.set_result(ended)

    def _complete(self, out: bytes) -> None:
        """The answer is whole. What fails in its last words is raised by `run`, where the stream is ended."""
        watcher = self.relay.watcher
        owed = watcher.owes_usage
        try:
            last = b"" if owed else watcher.closing(None)
        except Exception as fault:
            self._future.set_exception(fault)
            self._cancel()
            return
        self._future.set_result(Complete())
        if self._call is not None:
            self._call.finish()
        if not owed:
            self._pipe.finish(out + last)
        elif out:
            self._pipe.write(out)

    def _cancel(self) -> None:
        if self._call is not None:
            self._call.cancel()


class Received(Struct, frozen=True):
    """The body of a 2xx answer, whole, and what it looks like."""

    body: bytes
    kind: Body


class WholeAttempt:
    """One try of a request that is not streamed; stalls after `idle` seconds without a byte."""

    __slots__ = (
        *("_body", "_call", "_clock", "_future", "_heard_at", "_idle", "_limit"),
        *("refusal", "request_id", "wake_at"),
    )

    def __init__(
        self, refusal: Refusal, *, idle: float, limit: int, clock: Callable[[], float], request_id: str
    ) -> None:
        """`limit` bounds the answer in bytes."""
        self.refusal = refusal
        self.request_id = request_id
        self.wake_at = 0.0
        self._idle = idle
        self._limit = limit
        self._body = bytearray()
        self._clock = clock
        self._heard_at = clock()
        self._future: asyncio.Future[Received | Failure] = asyncio.get_running_loop().create_future()
        self._call: Call | None = None

    @property
    def heard(self) -> bytes:
        """What has come of the answer."""
        return bytes(self._body)

    async def run(self, call: Call) -> Received | Failure:
        """Wait for the whole answer. Cancelled: the upstream call is stopped at once."""
        self._call = call
        try:
            return await self._future
        except asyncio.CancelledError:
            call.cancel()
            raise
        finally:
            self._call = None

    def on_connected(self) -> None:
        """See `Sink`."""
        self.refusal.marks.connected_at = self._clock()

    def on_head(self, status: int, headers: Mapping[str, str]) -> None:
        """See `Sink`."""
        self._heard_at = self._clock()
        self.refusal.begin(status, headers, self._heard_at)

    def on_body(self, data: bytes) -> None:
        """See `Sink`."""
        self._heard_at = self._clock()
        if not self.refusal.accepted:
            if not self.refusal.collect(data):
                self._end(self.refusal.failure())
            return
        self._body += data
        if len(self._body) > self._limit:
            self._end(Failure(kind=Kind.UPSTREAM, message="the upstream's answer is too large"))

    def on_end(self) -> None:
        """See `Sink`."""
        if self.refusal.told:
            self._end(self.refusal.failure())
        else:
            body = bytes(self._body)
            self._end(Received(body, judge(body) or Body.FOREIGN))

    def on_failure(self, failure: Failure) -> None:
        """See `Sink`."""
        self._end(self.refusal.failure() if self.refusal.told else failure)

    def interrupt(self, failure: Failure) -> None:
        """The gateway itself gives up, as at the end of a drain."""
        self._end(failure)

    def beat(self, now: float) -> None:
        """See `Beating`."""
        if self.refusal.is_due(now):
            self.on_end()
        elif self._idle and now >= self._heard_at + self._idle:
            self._end(STALLED)

    def _end(self, result: Received | Failure) -> None:
        if self._future.done():
            return
        self._future.set_result(result)
        if self._call is not None:
            if isinstance(result, Received):
                self._call.finish()
            else:
                self._call.cancel()
