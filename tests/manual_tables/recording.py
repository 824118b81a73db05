"""Lets the code that reads a config tell which settings it knows, by writing down what it asks for."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from tidegate.config import loading
from tidegate.config.report import Report
from tidegate.config.sources import Sources
from tidegate.config.table import Table
from tidegate.config.values import Parse

T = TypeVar("T")
D = TypeVar("D")
Place = tuple[str, ...]
"""Where a setting stands: the names of the tables around it, without positions, and its own."""


class Asked(Struct, frozen=True):
    """One setting that the code asked for. `shape` is what stands around the value, if anything."""

    parse: Any
    default: object
    required: bool = False
    shape: str = ""


class RecordingTable(Table):
    """An empty table that behaves as if all that is optional were absent, and each list had one entry."""

    def __init__(self, path: Place, found: dict[Place, Asked], report: Report) -> None:
        super().__init__({}, path, report, Sources(Path(), {}))
        self._found = found
        self._place = path

    @property
    def is_empty(self) -> bool:
        return False

    def read(self, key: str, parse: Parse[T], default: D) -> T | D:
        self._found[*self._place, key] = Asked(parse, default)
        return default

    def optional(self, key: str, parse: Parse[T]) -> T | None:
        return self.read(key, parse, None)

    def need(self, key: str, parse: Parse[T], stand_in: D, mend: str) -> T | D:
        self._found[*self._place, key] = Asked(parse, None, required=True)
        return stand_in

    def items(self, key: str, parse: Parse[T]) -> tuple[T, ...] | None:
        self._found[*self._place, key] = Asked(parse, None, shape="list of ")
        return None

    def entries(self, key: str, parse: Parse[T]) -> dict[str, T]:
        self._found[*self._place, key] = Asked(parse, None, shape="table of ")
        return {}

    def table(self, key: str) -> Table:
        self._found.setdefault((*self._place, key), Asked(None, None, shape="table"))
        return RecordingTable((*self._place, key), self._found, self.report)

    def tables(self, key: str) -> Iterator[Table]:
        self._found[*self._place, key] = Asked(None, None, shape="list of tables")
        yield RecordingTable((*self._place, key), self._found, self.report)


def known_settings() -> Mapping[Place, Asked]:
    """Every setting that a config file can hold."""
    found: dict[Place, Asked] = {}
    loading._read(RecordingTable((), found, Report("recording", {}, {})))
    return found
