"""The places of a page that hold a generated table, and tables as Markdown writes them."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

Row: TypeAlias = dict[str, str]
"""Cells by the head of their column."""
_PLACE = re.compile(r"(<!-- generated: ([\w.]+) -->\n)(.*?)(<!-- end of generated -->)", re.DOTALL)
_BAR = re.compile(r"(?<!\\)\|")


def names(page: str) -> list[str]:
    """The tables that the page has a place for."""
    return [found[2] for found in _PLACE.finditer(page)]


def renewed(page: str, write: Callable[[str, str], str]) -> str:
    """The page with each place written anew by `write(name, what stands there)`."""
    return _PLACE.sub(lambda place: f"{place[1]}{write(place[2], place[3])}{place[4]}", page)


def with_place(page: str, heading: str, name: str) -> str:
    """The page with a new, empty place at its end."""
    return f"{page.rstrip()}\n\n{heading}\n\n<!-- generated: {name} -->\n<!-- end of generated -->\n"


def contents(page: str) -> dict[str, str]:
    """What stands in each place."""
    return {found[2]: found[3] for found in _PLACE.finditer(page)}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a line break at its end."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def cells(text: str) -> list[list[str]]:
    """The cells of the table in the text, its head first; empty where there is none."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    split = [[cell.strip() for cell in _BAR.split(line.strip().strip("|"))] for line in lines]
    return [row for row in split if set("".join(row)) - set("-: ")]
