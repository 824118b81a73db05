"""Prints what commands list: a line each for people, or JSON for programs."""

import sys
from collections.abc import Iterable, Mapping, Sequence

import msgspec


def print_json(rows: Iterable[Mapping[str, object]]) -> None:
    """One JSON object a line."""
    for row in rows:
        print(msgspec.json.encode(row).decode())
    sys.stdout.flush()


def print_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns under their names; nothing in a name can steer the terminal."""
    lines = [tuple(heads), *(tuple(map(_cell, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    sys.stdout.flush()


def _cell(value: object) -> str:
    match value:
        case None:
            text = "-"
        case bool():
            text = "yes" if value else "no"
        case list() | tuple():
            text = ",".join(map(str, value)) or "-"
        case _:  # text or a number
            text = str(value)
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
