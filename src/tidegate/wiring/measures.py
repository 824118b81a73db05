"""Posts this process's figures for all workers to read, and puts theirs together."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NoReturn

from tidegate.observe.gauges import GaugeBoard, render

EVERY = 0.5
"""Seconds between two posts: no figure that another worker shows is older."""


class Measures:
    """One process's figures on the board of all."""

    def __init__(
        self, board: GaugeBoard, number: int, read: Callable[[], Mapping[str, float | None]]
    ) -> None:
        """`read` gives this process's figures by name; counters begin at 0. Needs a running event loop."""
        self._board = board
        self._number = number
        self._read = read
        self._earlier = board.counted(number)
        self._posting: asyncio.Task[NoReturn] = asyncio.create_task(self._run())

    def together(self) -> dict[str, float]:
        """The figures of all workers, this one's as of now."""
        self._post()
        return self._board.together()

    def text(self) -> str:
        """The same for Prometheus."""
        return render(self.together())

    async def close(self) -> None:
        """This process has nothing open any more."""
        self._posting.cancel()
        with suppress(asyncio.CancelledError):
            await self._posting
        self._post()
        self._board.leave(self._number)

    def _post(self) -> None:
        values = dict(self._read())
        for name, counted in self._earlier.items():
            values[name] = (values[name] or 0) + counted
        self._board.post(self._number, values)

    async def _run(self) -> NoReturn:
        while True:
            self._post()
            await asyncio.sleep(EVERY)
