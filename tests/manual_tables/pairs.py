"""What each cross pair of protocols cannot carry: the tables of docs/conversion.md, read by column."""

import re
from functools import cache
from itertools import permutations
from pathlib import Path

from tests.manual_tables.places import cells

from tidegate.core.protocol import Protocol

PAGE = Path(__file__).parents[2] / "docs" / "conversion.md"
TABLES = ("parameters", "reasoning", "turns", "content", "tools")
SAME = "the same"
"""How a row begins that is about the feature of the row above."""
FATES = ("refused", "dropped", "approximated", "clamped", "left out")
NAMES = tuple(f"{client.value}.{channel.value}" for client, channel in permutations(Protocol, 2))


def losses(name: str) -> str:
    """One line for each fate, with all features that meet it in this pair."""
    head = name.replace(".", " → ")
    lines = []
    for fate in FATES:
        found = [says for says, row in _rows() if fate in row[head].split(", ")]
        if found:
            lines.append(f"- **{fate}**: {' · '.join(found)}\n")
    return "".join(lines)


@cache
def _rows() -> tuple[tuple[str, dict[str, str]], ...]:
    text = PAGE.read_text(encoding="utf-8")
    found = []
    for table in TABLES:
        place = re.search(rf"<!-- table: {table} -->\n(.*?)<!-- end of table -->", text, re.DOTALL)
        assert place is not None
        head, *rest = cells(place[1])
        feature = ""
        for says, *fates in rest:
            feature = feature if says.startswith(SAME) else says.partition(", channel with")[0]
            named = says.replace(SAME, feature, 1) if says.startswith(SAME) else says
            found.append((named, dict(zip(head[1:], fates, strict=True))))
    return tuple(found)
