"""Reads one table of the file, setting by setting, and goes on after a mistake."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import TypeVar

from tidegate.config.problems import KeyPath
from tidegate.config.report import Report
from tidegate.config.sources import Sources
from tidegate.config.values import Parse, Wrong, not_a

T = TypeVar("T")
D = TypeVar("D")


class Table:
    """A table with its place. Every setting is asked for once; `close` then tells what nobody asked for.

    None, which JSON has and TOML has not, counts as absent.
    """

    def __init__(self, values: Mapping[str, object], path: KeyPath, report: Report, sources: Sources) -> None:
        self._values = values
        self._asked: list[str] = []
        self.path = path
        self.report = report
        self.sources = sources

    def is_set(self, key: str) -> bool:
        """Whether the file gives the setting a value other than the empty text, good or bad."""
        return self._values.get(key) not in (None, "")

    def peek(self, key: str) -> object:
        """The setting as it stands in the file, to choose how to read it; None where it is absent."""
        return self._values.get(key)

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all is set here."""
        return not self._values

    def read(self, key: str, parse: Parse[T], default: D) -> T | D:
        """The setting, or `default` where it is absent or wrong."""
        self._asked.append(key)
        if self._values.get(key) is None:
            return default
        read = self._parse((*self.path, key), self._values[key], parse)
        return default if isinstance(read, Wrong) else read

    def optional(self, key: str, parse: Parse[T]) -> T | None:
        """As `read`; absent and the empty text mean that it is not set."""
        if self._values.get(key) == "":
            self._asked.append(key)
            return None
        return self.read(key, parse, None)

    def need(self, key: str, parse: Parse[T], stand_in: D, mend: str) -> T | D:
        """A setting that must be there; `stand_in` is given after telling that it is not."""
        if self._values.get(key) is None:
            self._asked.append(key)
            self.report.error((*self.path, key), "is missing", mend)
            return stand_in
        return self.read(key, parse, stand_in)

    def items(self, key: str, parse: Parse[T]) -> tuple[T, ...] | None:
        """The good ones of a list's values; None where there is no list."""
        raw = self._raw(key)
        match raw:
            case None:
                return None
            case list():
                read = [self._parse((*self.path, key, at), value, parse) for at, value in enumerate(raw)]
                return tuple(value for value in read if not isinstance(value, Wrong))
            case _:  # any other type of TOML
                self._tell((*self.path, key), not_a("a list", raw, "write it in square brackets"))
                return None

    def entries(self, key: str, parse: Parse[T]) -> dict[str, T]:
        """The good ones of a table whose names are free; empty where there is none."""
        raw = self._raw(key)
        match raw:
            case None:
                return {}
            case dict():
                read = {
                    name: self._parse((*self.path, key, name), value, parse) for name, value in raw.items()
                }
                return {name: value for name, value in read.items() if not isinstance(value, Wrong)}
            case _:  # any other type of TOML
                self._tell((*self.path, key), not_a("a table", raw, "write it as { name = value }"))
                return {}

    def table(self, key: str) -> "Table":
        """A table inside, empty where there is none. To be closed by whoever reads it."""
        raw = self._raw(key)
        if raw is not None and not isinstance(raw, dict):
            self._tell((*self.path, key), not_a("a table", raw, f"write [{key}] once, or {key} = {{ … }}"))
        return self._inside((*self.path, key), raw if isinstance(raw, dict) else {})

    def tables(self, key: str) -> Iterator["Table"]:
        """The tables of an array of tables. To be closed by whoever reads them."""
        raw = self._raw(key)
        rows = raw if isinstance(raw, list) else []
        if raw is not None and not isinstance(raw, list):
            self._tell((*self.path, key), not_a("a list of tables", raw, f"write [[{key}]] above each one"))
        for at, row in enumerate(rows):
            path = (*self.path, key, at)
            if isinstance(row, dict):
                yield self._inside(path, row)
            else:
                self._tell(path, not_a("a table", row, f"write [[{key}]] above each one"))

    def error(self, key: str, message: str, mend: str) -> None:
        """Tell of an error that only the reader of the whole table can see."""
        self.report.error((*self.path, key), message, mend)

    def close(self) -> None:
        """Tell of every setting that nobody asked for."""
        for name in self._values:
            if name not in self._asked:
                near = get_close_matches(name, self._asked, n=1)
                mend = f"did you mean {near[0]}?" if near else f"known here: {', '.join(sorted(self._asked))}"
                self.report.error((*self.path, name), "is not a setting", mend)

    def _raw(self, key: str) -> object:
        self._asked.append(key)
        return self._values.get(key)

    def _inside(self, path: KeyPath, values: Mapping[str, object]) -> "Table":
        return Table(values, path, self.report, self.sources)

    def _parse(self, path: KeyPath, raw: object, parse: Parse[T]) -> T | Wrong:
        resolved = self.sources.resolve(raw)
        read = resolved if isinstance(resolved, Wrong) else parse(resolved)
        if isinstance(read, Wrong):
            self._tell(path, read)
        return read

    def _tell(self, path: KeyPath, wrong: Wrong) -> None:
        self.report.error(path, wrong.message, wrong.mend)
