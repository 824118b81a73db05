"""Records an answer as it comes, with the time of each piece."""

import asyncio
from collections.abc import Callable, Mapping

from tidegate.core.failure import Failure
from tidegate.doctor.recording import Close, Head, Piece, Recording
from tidegate.exchange.ports import Call, Upstream, UpstreamRequest
from tidegate.routing.catalog import Channel


async def hear(
    upstream: Upstream,
    channel: Channel,
    request: UpstreamRequest,
    *,
    clock: Callable[[], float],
    limit: int,
    patience: float,
) -> Recording:
    """The answer, whatever it is: trouble is a part of it.

    `clock` is in seconds, `limit` in bytes of the body, `patience` in seconds for all of it.
    """
    ear = _Ear(clock, limit)
    call = upstream.open(channel, request, ear)
    ear.call = call
    try:
        async with asyncio.timeout(patience):
            await ear.over
    except TimeoutError:
        ear.run_out(patience)
    finally:
        call.cancel()
    return ear.recording()


class _Ear:
    """A sink that notes everything, up to a limit."""

    def __init__(self, clock: Callable[[], float], limit: int) -> None:
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.call: Call | None = None
        self.close = Close.WHOLE
        self._clock = clock
        self._begun = clock()
        self._left = limit
        self._head: Head | None = None
        self._pieces: list[Piece] = []
        self._trouble: str | None = None
        self._if_broken = Close.UNREACHED

    def recording(self) -> Recording:
        """What was heard so far."""
        return Recording(
            head=self._head,
            pieces=tuple(self._pieces),
            close=self.close,
            trouble=self._trouble,
            ended_at=self._now(),
        )

    def run_out(self, patience: float) -> None:
        """The patience is over."""
        self.close = Close.TOO_LATE
        if self._if_broken is Close.UNREACHED:
            self.close, self._trouble = Close.UNREACHED, f"none stood within {patience:g} s"

    def on_connected(self) -> None:
        self._if_broken = Close.BROKEN

    def on_head(self, status: int, headers: Mapping[str, str]) -> None:
        self._if_broken = Close.BROKEN
        self._head = Head(self._now(), status, tuple(headers.items()))

    def on_body(self, data: bytes) -> None:
        self._pieces.append(Piece(self._now(), data[: self._left]))
        self._left -= len(data)
        if self._left < 0:
            self.close = Close.TOO_LARGE
            self._end()

    def on_end(self) -> None:
        self._end()

    def on_failure(self, failure: Failure) -> None:
        self.close = self._if_broken
        self._trouble = f"{failure.message} ({failure.detail})" if failure.detail else failure.message
        self._end()

    def _end(self) -> None:
        if self.call is not None:
            self.call.cancel()
        if not self.over.done():
            self.over.set_result(None)

    def _now(self) -> float:
        return self._clock() - self._begun
