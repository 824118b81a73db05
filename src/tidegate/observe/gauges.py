"""A few figures of every worker in shared memory, and their text for Prometheus."""

import math
import mmap
from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Kind(Enum):
    """What the figures of all workers come to."""

    SUM = "gauge"
    """Each has a part of it."""
    LEAST = "least"
    """It is true only if it is so for all of them."""
    COUNTER = "counter"
    """As a sum, and never less than it was, though a worker dies and another takes its place."""


class Figure(Struct, frozen=True):
    """One figure as it is shown."""

    name: str
    words: str
    kind: Kind


FIGURES = (
    Figure("tidegate_database_up", "1 if the database can be written, by every worker.", Kind.LEAST),
    Figure("tidegate_redis_up", "1 if Redis is in use, by every worker. Absent without Redis.", Kind.LEAST),
    Figure("tidegate_spool_rows", "Rows and holds that wait on the disk for the database.", Kind.SUM),
    Figure("tidegate_rows_lost_total", "Rows of requests that could not be kept.", Kind.COUNTER),
    Figure("tidegate_open_requests", "Requests that are being served.", Kind.SUM),
)

_ALIVE = 1
"""Each worker's line begins with whether it lives."""
_NOT_TOLD = math.nan


class GaugeBoard:
    """A line of figures for each worker, made before the fork. Each writes its own and reads all."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._line = _ALIVE + len(FIGURES)
        self._memory = memoryview(mmap.mmap(-1, workers * self._line * 8)).cast("d")

    def counted(self, number: int) -> dict[str, float]:
        """What the counters of a worker's line stand at."""
        first = number * self._line + _ALIVE
        return {
            figure.name: self._memory[first + place]
            for place, figure in enumerate(FIGURES)
            if figure.kind is Kind.COUNTER
        }

    def post(self, number: int, values: Mapping[str, float | None]) -> None:
        """Write a worker's line; None: there is no such thing here."""
        first = number * self._line
        for place, figure in enumerate(FIGURES, first + _ALIVE):
            value = values[figure.name]
            self._memory[place] = _NOT_TOLD if value is None else value
        self._memory[first] = 1.0

    def leave(self, number: int) -> None:
        """A worker is gone: only what it has counted stays."""
        self._memory[number * self._line] = 0.0

    def together(self) -> dict[str, float]:
        """The figures of all workers; without those that no living worker tells."""
        found: dict[str, float] = {}
        for place, figure in enumerate(FIGURES):
            told = [value for value in self._column(place, figure) if not math.isnan(value)]
            if told:
                found[figure.name] = min(told) if figure.kind is Kind.LEAST else sum(told)
        return found

    def _column(self, place: int, figure: Figure) -> list[float]:
        lines = [number * self._line for number in range(self._workers)]
        counts_on = figure.kind is Kind.COUNTER
        return [self._memory[line + _ALIVE + place] for line in lines if self._memory[line] or counts_on]


def render(values: Mapping[str, float]) -> str:
    """The figures in Prometheus' text format."""
    lines: list[str] = []
    for figure in FIGURES:
        value = values.get(figure.name)
        if value is not None:
            kind = "counter" if figure.kind is Kind.COUNTER else "gauge"
            lines.append(f"# HELP {figure.name} {figure.words}")
            lines.append(f"# TYPE {figure.name} {kind}")
            lines.append(f"{figure.name} {value:.0f}")
    return "\n".join([*lines, ""])
