"""What a process counts, by the labels of each figure, and what several processes' counts come to."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from operator import add
from typing import TypeAlias

from tidegate.observe.figures import FIGURES, Figure, Kind

Labels: TypeAlias = tuple[str, ...]
Cell: TypeAlias = list[int | float]
"""The number of a counter or gauge. Of a histogram the sum, then how many fell into each class."""
Counts: TypeAlias = dict[str, dict[Labels, Cell]]
"""Cells by the name of the figure."""

MOST_CELLS = 1_000
"""Cells of one figure in one process; labels that come later are `other`."""
OTHER = "other"
NONE = "none"
"""A label's value where there is nothing to name."""

_CHOSEN = frozenset({"model", "channel"})
"""Labels whose values the operator chooses; all others have few values, known here."""
_COUNTED = frozenset({Kind.COUNTER, Kind.HISTOGRAM})
_BY_NAME = {figure.name: figure for figure in FIGURES}


class Series:
    """The cells of one figure. Whoever is in a hurry may keep a cell and write it."""

    __slots__ = ("_most", "cells", "figure", "limits", "overflows")

    def __init__(self, figure: Figure, most: int = MOST_CELLS) -> None:
        self.figure = figure
        self.limits = [round(bound * figure.unit) for bound in figure.bounds]
        """Upper bounds of the classes, in the figure's unit."""
        self.cells: dict[Labels, Cell] = {}
        self.overflows = 0
        """How often the labels were too many."""
        self._most = most

    def begin_with(self, counts: Counts) -> None:
        """Go on from what an earlier process had counted."""
        for labels, cell in counts.get(self.figure.name, {}).items():
            self.cells[labels] = list(cell)

    def cell(self, labels: Labels) -> Cell:
        """The cell of these labels, made if need be; there are only so many."""
        found = self.cells.get(labels)
        if found is None:
            if len(self.cells) >= self._most:
                self.overflows += 1
                labels = self._other(labels)
            found = self.cells.setdefault(labels, self._empty())
        return found

    def add(self, labels: Labels, amount: int = 1) -> None:
        """Count."""
        self.cell(labels)[0] += amount

    def observe(self, labels: Labels, value: int) -> None:
        """Put a value (in the figure's unit) into its class; a bound belongs to the class below it."""
        cell = self.cell(labels)
        cell[0] += value
        cell[bisect_left(self.limits, value) + 1] += 1

    def _other(self, labels: Labels) -> Labels:
        named = zip(self.figure.labels, labels, strict=True)
        return tuple(OTHER if name in _CHOSEN else value for name, value in named)

    def _empty(self) -> Cell:
        return [0] * (len(self.limits) + 2) if self.limits else [0]


def counted(counts: Counts) -> Counts:
    """What of the counts never goes down: what a worker's successor begins with."""
    return {name: cells for name, cells in counts.items() if _BY_NAME[name].kind in _COUNTED}


def merged(all_counts: Iterable[Counts], wanted: Sequence[Figure] = FIGURES) -> Counts:
    """What the counts of several processes come to, in the order of the page."""
    found: Counts = {figure.name: {} for figure in wanted}
    for counts in all_counts:
        for figure in wanted:
            _merge(figure.kind, found[figure.name], counts.get(figure.name, {}))
    return {name: cells for name, cells in found.items() if cells}


def _merge(kind: Kind, into: dict[Labels, Cell], cells: Mapping[Labels, Cell]) -> None:
    for labels, cell in cells.items():
        there = into.get(labels)
        if there is None:
            into[labels] = list(cell)
            continue
        match kind:
            case Kind.COUNTER | Kind.HISTOGRAM | Kind.SUM:
                into[labels] = list(map(add, there, cell))
            case Kind.LEAST:
                into[labels] = min(there, cell)
            case Kind.MOST:
                into[labels] = max(there, cell)


def value_of(counts: Counts, figure: Figure, labels: Labels = ()) -> float | None:
    """What a counter or gauge shows; None: nobody tells it."""
    cell = counts.get(figure.name, {}).get(labels)
    return None if cell is None else cell[0] / figure.unit


def by_label(counts: Counts, figure: Figure) -> dict[str, float]:
    """What a counter or gauge with one label shows for each of its values."""
    return {labels[0]: cell[0] / figure.unit for labels, cell in counts.get(figure.name, {}).items()}
