"""One request on its way: on a pooled or fresh connection, tried twice where the pooled one was dead."""

import asyncio
from enum import Enum
from typing import Protocol

from tidegate.core.failure import Failure, Kind
from tidegate.exchange.ports import Headers, Sink
from tidegate.upstream import failures
from tidegate.upstream.connection import Connection
from tidegate.upstream.content import ContentError, decoder_for
from tidegate.upstream.roles import Push, drop
from tidegate.upstream.unpacker import Unpacker

FRAMING = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Not shown to a sink that gets other bytes than they describe."""


class Stage(Enum):
    """How far a call has come."""

    OPENING = "opening"
    """A connection is being made."""
    RUNNING = "running"
    """The request is on a connection."""
    FLUSHING = "flushing"
    """The connection is done with; decoded pieces still wait for a slow client or their turn."""
    DRAINING = "draining"
    """The caller has heard enough; the rest of the body is read for the connection's sake."""
    OVER = "over"


class Office(Protocol):
    """What a call needs from the client that opened it."""

    drain_timeout: float
    hidden: frozenset[str]
    """Headers that sinks are not shown."""

    async def connect(self, connection: Connection) -> Failure | None:
        """Make a fresh connection stand; a Failure if it does not."""

    def fresh(self) -> Connection:
        """A connection on the call's route, not open yet."""

    def ended(self, call: "HttpCall") -> None:
        """The call is over."""


class DoomedCall:
    """Implements `Call` for what cannot be sent: the sink hears of it in the loop's next turn."""

    __slots__ = ("_told",)

    def __init__(self, sink: Sink, failure: Failure) -> None:
        self._told = asyncio.get_running_loop().call_soon(sink.on_failure, failure)

    def cancel(self) -> None:
        """Tell nothing."""
        self._told.cancel()

    def finish(self) -> None:
        """Tell nothing."""
        self._told.cancel()

    def pause(self) -> None:
        """There is nothing to read."""

    def resume(self) -> None:
        """There is nothing to read."""


class HttpCall:
    """Implements `Call`, and listens to the connection that its request is on."""

    __slots__ = (
        "_body",
        "_connection",
        "_drain",
        "_head",
        "_office",
        "_paused",
        "_retries",
        "_sink",
        "_stage",
        "_task",
        "_unpacker",
    )

    def __init__(self, office: Office, head: bytes, body: bytes, sink: Sink) -> None:
        self._office = office
        self._head = head
        self._body = body
        self._sink = sink
        self._stage = Stage.OPENING
        self._connection: Connection | None = None
        self._task: asyncio.Task[None] | None = None
        self._drain: asyncio.TimerHandle | None = None
        self._unpacker: Unpacker | None = None
        self._paused = False
        self._retries = 0

    # `Call`: the exchange calls these.

    def cancel(self) -> None:
        """Stop at once."""
        if self._stage is not Stage.OVER:
            self._leave()
            self._office.ended(self)

    def finish(self) -> None:
        """Keep the connection if the body ends soon."""
        match self._stage:
            case Stage.OPENING | Stage.FLUSHING:
                self.cancel()
            case Stage.RUNNING:
                self._start_drain()
            case Stage.DRAINING | Stage.OVER:
                pass

    def pause(self) -> None:
        """Stop reading; before there is a connection, as soon as there is one."""
        self._paused = True
        if self._stage is Stage.RUNNING:
            self._hold()
        if self._unpacker is not None:
            self._unpacker.pause()

    def resume(self) -> None:
        """Read again."""
        self._paused = False
        if self._unpacker is not None:
            self._unpacker.resume()
        elif self._stage is Stage.RUNNING:
            self._release()

    # The client calls these.

    def run_on(self, connection: Connection) -> None:
        """Put the request on a connection that came from the pool, so that it may turn out dead."""
        self._retries = 1
        self._put_on(connection)

    def run_fresh(self) -> None:
        """Put the request on a new connection, when there is one."""
        self._stage = Stage.OPENING
        self._task = asyncio.get_running_loop().create_task(self._open())

    def fail(self, failure: Failure) -> None:
        """End the call with a failure, whatever it is doing; a sink that has heard enough is not told."""
        match self._stage:
            case Stage.OPENING | Stage.RUNNING | Stage.FLUSHING:
                self._leave()
                self._office.ended(self)
                self._sink.on_failure(failure)
            case Stage.DRAINING:
                self.cancel()
            case Stage.OVER:
                pass

    @property
    def opening(self) -> asyncio.Task[None] | None:
        """The task that makes a connection, while there is one."""
        return self._task

    # `Listener`: the connection calls these.

    def on_head(self, status: int, headers: Headers) -> Push:
        """Tell the sink the head; the body goes straight to the sink, or through a decoder."""
        encodings = ",".join(value for name, value in headers if name == "content-encoding")
        try:
            decoder = decoder_for(encodings) if encodings else None
        except ContentError as error:
            self.fail(failures.undecodable(str(error)))
            return drop
        if decoder is not None:
            self._unpacker = Unpacker(
                decoder, self._sink.on_body, hold=self._hold, release=self._release, broke=self.fail
            )
            if self._paused:
                self._unpacker.pause()
        self._sink.on_head(
            status, {name: value for name, value in headers if name not in self._office.hidden}
        )
        if self._stage is not Stage.RUNNING:
            return drop
        return self._sink.on_body if self._unpacker is None else self._unpacker.feed

    def on_whole(self) -> None:
        """The wire is done; the sink hears of it when it has got all."""
        self._connection = None
        if self._stage is Stage.DRAINING:
            self.cancel()
        elif self._unpacker is not None:
            self._stage = Stage.FLUSHING
            self._unpacker.end(self._end)
        else:
            self._end()

    def on_broken(self, failure: Failure, *, heard: bool) -> None:
        """A pooled connection that had died unnoticed costs one retry; every other break is the answer."""
        self._connection = None
        if self._stage is Stage.RUNNING and self._retries and not heard:
            self._retries -= 1
            self.run_fresh()
        elif self._stage is Stage.RUNNING and self._unpacker is not None:
            self._stage = Stage.FLUSHING
            self._unpacker.fail(lambda: self.fail(failure))
        else:
            self.fail(failure)

    async def _open(self) -> None:
        connection = self._office.fresh()
        try:
            failure = await self._office.connect(connection)
        except (
            Exception
        ) as error:  # a bug must not leave the sink waiting for ever; it goes to the log as one
            connection.abort()
            self._task = None
            self.fail(Failure(kind=Kind.INTERNAL, message="internal error", detail=repr(error)))
            raise
        self._task = None
        if failure is not None:
            self.fail(failure)
        elif not connection.stands:
            self.fail(failures.closed_unanswered("closed as soon as it was open"))
        else:
            self._sink.on_connected()
            self._put_on(connection)

    def _put_on(self, connection: Connection) -> None:
        self._stage = Stage.RUNNING
        self._connection = connection
        connection.start(self, self._head, self._body)
        if self._paused:
            connection.pause()

    def _start_drain(self) -> None:
        connection = self._connection
        if connection is None:
            self.cancel()
            return
        self._stage = Stage.DRAINING
        if self._unpacker is not None:
            self._unpacker.stop()
        connection.mute()
        connection.resume()
        loop = asyncio.get_running_loop()
        self._drain = loop.call_later(self._office.drain_timeout, self.cancel)

    def _hold(self) -> None:
        if self._connection is not None:
            self._connection.pause()

    def _release(self) -> None:
        if self._connection is not None and not self._paused:
            self._connection.resume()

    def _end(self) -> None:
        self._leave()
        self._office.ended(self)
        self._sink.on_end()

    def _leave(self) -> None:
        """Let go of everything; nothing is pushed after this."""
        self._stage = Stage.OVER
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if self._drain is not None:
            self._drain.cancel()
            self._drain = None
        if self._unpacker is not None:
            self._unpacker.stop()
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.abort()
