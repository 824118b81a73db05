"""Decodes a body on its way to the sink, a few pieces at a time, so that a bomb costs time but no memory."""

import asyncio
from collections.abc import Callable, Iterator
from enum import Enum

from tidegate.core.failure import Failure
from tidegate.upstream import failures
from tidegate.upstream.content import ContentError, Decoder
from tidegate.upstream.roles import Push

PIECES_PER_TURN = 4
"""After so many pieces in one go (1 MiB, some milliseconds) other requests get their turn."""


class Flow(Enum):
    """What keeps pieces from going on."""

    OPEN = "open"
    PAUSED = "paused"
    """The client is slow."""
    STOPPED = "stopped"
    """Nothing is wanted any more, or the body broke."""


class Unpacker:
    """Stands between a connection and a sink. `hold` and `release` stop and restart the connection's reading.

    `broke` is called, at most once, when the bytes do not keep to their encoding.
    """

    def __init__(
        self,
        decoder: Decoder,
        push: Push,
        *,
        hold: Callable[[], None],
        release: Callable[[], None],
        broke: Callable[[Failure], None],
    ) -> None:
        self._decoder = decoder
        self._push = push
        self._hold = hold
        self._release = release
        self._broke = broke
        self._flow = Flow.OPEN
        self._undecoded: list[bytes] = []
        self._pieces: Iterator[bytes] = iter(())
        self._turn: asyncio.Handle | None = None
        self._after: Callable[[], None] | None = None

    def feed(self, data: bytes) -> None:
        """Take encoded bytes; what they say is pushed at once unless the client is slow or it is too much."""
        self._undecoded.append(data)
        if self._turn is None:
            self._run()

    def end(self, after: Callable[[], None]) -> None:
        """The encoded body is whole: call `after` when the last piece is out, or `broke` if it was cut."""
        self.fail(lambda: self._conclude(after))

    def fail(self, after: Callable[[], None]) -> None:
        """The connection broke: what came before is pushed first, then `after` is called."""
        self._after = after
        if self._turn is None:
            self._run()

    def pause(self) -> None:
        """Push nothing until `resume`."""
        if self._flow is Flow.OPEN:
            self._flow = Flow.PAUSED

    def resume(self) -> None:
        """Push again, from the next turn of the loop on."""
        if self._flow is Flow.PAUSED:
            self._flow = Flow.OPEN
            self._later()

    def stop(self) -> None:
        """Push nothing more, ever."""
        self._flow = Flow.STOPPED
        self._undecoded.clear()
        self._pieces = iter(())
        if self._turn is not None:
            self._turn.cancel()
            self._turn = None

    def _later(self) -> None:
        if self._turn is None:
            self._turn = asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        """Push pieces until there are none, the client is slow, or it is someone else's turn."""
        self._turn = None
        for _ in range(PIECES_PER_TURN):
            if self._flow is not Flow.OPEN:
                break
            try:
                piece = self._next()
            except ContentError as error:
                self.stop()
                self._broke(failures.undecodable(str(error)))
                return
            if piece is None:
                self._drained()
                return
            self._push(piece)
        match self._flow:
            case Flow.OPEN:
                self._hold()
                self._later()
            case Flow.PAUSED:
                self._hold()
            case Flow.STOPPED:
                pass

    def _next(self) -> bytes | None:
        while True:
            piece = next(self._pieces, None)
            if piece is not None:
                return piece
            if not self._undecoded:
                return None
            self._pieces = self._decoder.feed(self._undecoded.pop(0))

    def _drained(self) -> None:
        if self._after is None:
            self._release()
        else:
            self._flow = Flow.STOPPED
            self._after()

    def _conclude(self, after: Callable[[], None]) -> None:
        if self._decoder.is_whole:
            after()
        else:
            self._broke(failures.cut("the compressed body stops in the middle"))
