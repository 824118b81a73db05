"""The tables of docs/conversion.md, by the names that mark their places there."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.conversion_page import answers, endings, requests, rows, tool_rows

PAGE = Path(__file__).parents[2] / "docs" / "conversion.md"
_PLACE = re.compile(r"(<!-- table: (\w+) -->\n)(.*?)(\n?<!-- end of table -->)", re.DOTALL)

TABLES: Mapping[str, Callable[[], str]] = {
    "parameters": lambda: requests.table(rows.LIMITS),
    "reasoning": lambda: requests.table(rows.REASONING),
    "turns": lambda: requests.table(rows.TURNS),
    "content": lambda: requests.table([*rows.CONTENT, *rows.RESULTS]),
    "tools": lambda: requests.table(tool_rows.TOOLS),
    "answers": answers.table,
    "endings": endings.ends,
    "usage": endings.usage,
    "capabilities": endings.capabilities,
}


def names(page: str) -> list[str]:
    """The tables that the page has a place for."""
    return [found[1] for found in re.finditer(r"<!-- table: (\w+) -->", page)]


def renewed(page: str) -> str:
    """The page with every table as the code has it now."""
    return _PLACE.sub(lambda place: f"{place[1]}{TABLES[place[2]]()}<!-- end of table -->", page)
