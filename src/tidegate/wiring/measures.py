"""Posts what this process counts for all workers to read, and puts theirs together."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NoReturn

from tidegate.observe import figures
from tidegate.observe.board import CountsBoard
from tidegate.observe.counts import Cell, Counts, Labels, Series, merged
from tidegate.observe.exposition import Format, render
from tidegate.observe.figures import FIGURES, Figure
from tidegate.observe.process import ProcessReading, read_process
from tidegate.observe.traffic import ModelLabels, Traffic
from tidegate.routing.catalog import Catalog

log = logging.getLogger(__name__)

EVERY = 0.5
"""Seconds between two posts: no figure that another worker shows is older."""
_PROCESS_EVERY = 5.0
"""Seconds between two looks at files and memory."""

Read = Callable[[ProcessReading | None], Counts]
"""Reads what others count in this process; counters begin at 0."""


class Measures:
    """One process's counts on the board of all. They go on from those of the worker it replaces."""

    def __init__(self, board: CountsBoard, number: int, catalog: Callable[[], Catalog]) -> None:
        """`catalog` gives the one in force; `start` must follow."""
        self._board = board
        self._number = number
        self._earlier = board.inherited(number)
        self.traffic = Traffic(ModelLabels(catalog), self._earlier)
        self._lag = Series(figures.LAG)
        self._series = (*self.traffic.series, self._lag)
        self._lag.begin_with(self._earlier)
        self._read: Read = lambda _: {}
        self._process: ProcessReading | None = None
        self._posting: asyncio.Task[NoReturn] | None = None

    def start(self, read: Read) -> None:
        """Begin to post. Needs a running event loop."""
        self._read = read
        own = {figures.DEATHS.name, *(series.figure.name for series in self._series)}
        self._earlier = {name: cells for name, cells in self._earlier.items() if name not in own}
        self._posting = asyncio.create_task(self._run())

    def together(self, wanted: Sequence[Figure] = FIGURES) -> Counts:
        """The counts of all workers, this one's as of now."""
        self._post()
        return merged(self._board.all(), wanted)

    async def page(self, form: Format) -> str:
        """The same for Prometheus. A hundred models take longer to write than a stream should wait."""
        self._post()
        return await asyncio.to_thread(self._written, form)

    def _written(self, form: Format) -> str:
        return render(merged(self._board.all()), form)

    async def close(self) -> None:
        """This process has nothing open any more."""
        if self._posting is not None:
            self._posting.cancel()
            with suppress(asyncio.CancelledError):
                await self._posting
        self._post()
        self._board.leave(self._number)

    def _post(self) -> None:
        told = merged([self._earlier, self._read(self._process), self._overflows()])
        told[figures.DEATHS.name] = {(): [self._board.deaths(self._number)]}
        told.update((series.figure.name, series.cells) for series in self._series)
        self._board.post(self._number, told)

    def _overflows(self) -> Counts:
        cells: dict[Labels, Cell] = {(one.figure.name,): [one.overflows] for one in self._series}
        return {figures.OVERFLOWS.name: cells}

    async def _run(self) -> NoReturn:
        looked_at = 0.0
        while True:
            now = time.monotonic()
            try:
                if now - looked_at >= _PROCESS_EVERY:
                    looked_at, self._process = now, await asyncio.to_thread(read_process)
                self._post()
            except Exception:  # figures that stand still must not be all that one sees of it
                log.exception("metrics: unexpected error")
            due = time.monotonic() + EVERY
            await asyncio.sleep(EVERY)
            late = max(0.0, time.monotonic() - due)
            self._lag.observe((), round(late * figures.MICROSECONDS))
