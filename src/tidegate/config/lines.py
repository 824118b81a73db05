"""Finds the line on which each key of a TOML document stands."""

import re
import tomllib
from bisect import bisect_left

from tidegate.config.problems import KeyPath

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_QUOTED = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")' r"|'''.*?'{3,5}(?!')" r'|"(?:[^"\\]|\\.)*"' r"|'[^']*'", re.DOTALL
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\n]*")


def key_lines(text: str) -> dict[KeyPath, int]:
    """Path of every key, table and array item -> line, counted from one. `text` must be valid TOML."""
    scanner = _Scanner(text)
    try:
        scanner.document()
    except RecursionError:
        return {}  # nested too deep to be a config; its problems are told without lines
    return scanner.lines


class _Scanner:
    """Reads TOML for positions only; that the text is valid has been checked before."""

    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._text = text
        self._at = 0
        self._ends = [index for index, char in enumerate(text) if char == "\n"]
        self._tables: dict[KeyPath, int] = {}
        """Arrays of tables by path -> position of their last table."""

    def document(self) -> None:
        inside: KeyPath = ()
        while self._next():
            if self._text[self._at] == "[":
                inside = self._header()
            else:
                self._pair(inside)

    def _header(self) -> KeyPath:
        line = self._line()
        opening = "[[" if self._text.startswith("[[", self._at) else "["
        self._at += len(opening)
        path = self._inside_last(self._dotted())
        self._next()
        self._at += len(opening)
        if opening == "[[":
            self._tables[path] = self._tables.get(path, -1) + 1
            self._note(path, line)
            path = (*path, self._tables[path])
        self._note(path, line)
        return path

    def _inside_last(self, names: tuple[str, ...]) -> KeyPath:
        """`[channels.price]` means the price of the last of the channels."""
        path: KeyPath = ()
        for name in names[:-1]:
            path = (*path, name)
            self._note(path, self._line())
            if path in self._tables:
                path = (*path, self._tables[path])
        return (*path, names[-1])

    def _pair(self, inside: KeyPath) -> None:
        line = self._line()
        path = inside
        for name in self._dotted():
            path = (*path, name)
            self._note(path, line)
        self._next()
        self._at += 1  # the equals sign
        self._value(path)

    def _dotted(self) -> tuple[str, ...]:
        names = [self._name()]
        while self._next() and self._text[self._at] == ".":
            self._at += 1
            names.append(self._name())
        return tuple(names)

    def _name(self) -> str:
        self._next()
        if self._text[self._at] in "\"'":
            quoted = self._take(_QUOTED)
            return str(tomllib.loads(f"name = {quoted}")["name"])
        return self._take(_BARE_KEY)

    def _value(self, path: KeyPath) -> None:
        self._next()
        match self._text[self._at]:
            case "[":
                self._items("]", path)
            case "{":
                self._items("}", path)
            case '"' | "'":
                self._take(_QUOTED)
            case _:  # numbers, dates, true and false
                self._take(_SCALAR)

    def _items(self, closing: str, path: KeyPath) -> None:
        self._at += 1
        index = 0
        while self._next() and self._text[self._at] != closing:
            if closing == "}":
                self._pair(path)
            else:
                self._note((*path, index), self._line())
                self._value((*path, index))
            index += 1
            self._next()
            if self._text[self._at] == ",":
                self._at += 1
        self._at += 1

    def _note(self, path: KeyPath, line: int) -> None:
        self.lines.setdefault(path, line)

    def _line(self) -> int:
        return bisect_left(self._ends, self._at) + 1

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        taken = found.group() if found else ""
        self._at += len(taken)
        return taken

    def _next(self) -> bool:
        """Go to the next character that means something; False at the end."""
        self._take(_SPACE)
        return self._at < len(self._text)
