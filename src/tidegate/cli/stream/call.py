"""Sends one request and hears its answer out."""

import asyncio
from collections.abc import Callable, Mapping
from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from tidegate.cli.stream.screen import Screen
from tidegate.cli.stream.tally import Close
from tidegate.core.failure import Failure
from tidegate.exchange.ports import Call, Upstream, UpstreamRequest
from tidegate.routing.catalog import Channel

KEPT_BODY_BYTES = 64 << 10
GRACE_SECONDS = 1.0
"""An end mark or an error event ends a stream; a server that then keeps it open is not waited for longer."""


class Streamed(Struct, frozen=True):
    """A stream was shown. `failure` says why its connection broke."""

    close: Close
    failure: Failure | None = None


class Refused(Struct, frozen=True):
    """An answer with an error status; `body` holds at most KEPT_BODY_BYTES."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NoStream(Struct, frozen=True):
    """A good status, but no event stream."""

    content_type: str
    body: bytes


class NoAnswer(Struct, frozen=True):
    """No answer at all."""

    failure: Failure


Outcome: TypeAlias = Streamed | Refused | NoStream | NoAnswer


class Hearing(Enum):
    """What the body that comes is taken for."""

    NOTHING = "nothing"
    """No head has come yet."""
    STREAM = "stream"
    REFUSAL = "refusal"
    OTHER = "other"


class Ear:
    """Hears one answer (a Sink); `outcome` is set once, when there is no more to hear."""

    def __init__(self, screen: Screen, elapsed: Callable[[], float]) -> None:
        self._screen = screen
        self._elapsed = elapsed
        self._hearing = Hearing.NOTHING
        self._status = 0
        self._headers: Mapping[str, str] = {}
        self._body = bytearray()
        self._loop = asyncio.get_running_loop()
        self.outcome: asyncio.Future[Outcome] = self._loop.create_future()

    def on_connected(self) -> None:
        pass

    def on_head(self, status: int, headers: Mapping[str, str]) -> None:
        self._status, self._headers = status, headers
        if not 200 <= status < 300:
            self._hearing = Hearing.REFUSAL
        elif headers.get("content-type", "").lower().startswith("text/event-stream"):
            self._hearing = Hearing.STREAM
        else:
            self._hearing = Hearing.OTHER

    def on_body(self, data: bytes) -> None:
        if self._hearing is not Hearing.STREAM:
            self._body += data[: KEPT_BODY_BYTES - len(self._body)]
            return
        try:
            self._screen.receive(data, self._elapsed())
        except Exception as error:  # whatever it is, it must end the command and not the callback alone
            self._fail(error)
            return
        if self._screen.tally.mark is not None or self._screen.tally.failure is not None:
            self._loop.call_later(GRACE_SECONDS, self._settle, Streamed(Close.IN_ORDER))

    def on_end(self) -> None:
        match self._hearing:
            case Hearing.STREAM:
                self._settle(Streamed(Close.IN_ORDER))
            case Hearing.REFUSAL:
                self._settle(Refused(self._status, self._headers, bytes(self._body)))
            case Hearing.OTHER | Hearing.NOTHING:
                self._settle(NoStream(self._headers.get("content-type", "none"), bytes(self._body)))

    def on_failure(self, failure: Failure) -> None:
        match self._hearing:
            case Hearing.STREAM:
                self._settle(Streamed(Close.BROKEN, failure))
            case Hearing.REFUSAL:
                self._settle(Refused(self._status, self._headers, bytes(self._body)))
            case Hearing.OTHER | Hearing.NOTHING:
                self._settle(NoAnswer(failure))

    def _settle(self, outcome: Outcome) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)

    def _fail(self, error: Exception) -> None:
        if not self.outcome.done():
            self.outcome.set_exception(error)


async def listen(
    upstream: Upstream,
    channel: Channel,
    request: UpstreamRequest,
    screen: Screen,
    elapsed: Callable[[], float],
) -> Outcome:
    """Send the request and show its stream on `screen`. Raises what `screen` raises."""
    ear = Ear(screen, elapsed)
    call: Call = upstream.open(channel, request, ear)
    try:
        return await ear.outcome
    finally:
        call.cancel()
