"""Reads of PromQL what it asks for: the names of figures and of labels."""

import re
from collections.abc import Iterator

from msgspec import Struct

_TOKENS = re.compile(
    r"""
      "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*'           # strings, with whatever looks like a name in them
    | \[[^\]]*\]                                       # ranges
    | (?<![\w:])\d[\w.]*                               # numbers and durations
    | [a-zA-Z_:][\w:]*                                 # names
    | !=|=~|!~|==|>=|<=|[-+*/%^=<>(){},]
    """,
    re.VERBOSE,
)
_GROUPINGS = frozenset({"by", "without", "on", "ignoring", "group_left", "group_right"})
_AFTER_OPERATORS = frozenset({"(", "by", "without"})
_WORDS = frozenset({"and", "or", "unless", "offset", "bool"})
_NAME = re.compile(r"[a-zA-Z_:][\w:]*")


class Used(Struct, frozen=True):
    """What one expression asks for."""

    matched: dict[str, set[str]]
    """Names of figures, each with the labels that are compared."""
    grouped: set[str]
    """Labels that are grouped by."""


def used(expression: str) -> Used:
    """What an expression asks for; a `$variable` may stand in strings and ranges."""
    tokens = _TOKENS.findall(expression)
    matched: dict[str, set[str]] = {}
    grouped: set[str] = set()
    place = 0
    while place < len(tokens):
        token, following = tokens[place], tokens[place + 1] if place + 1 < len(tokens) else ""
        if token in _GROUPINGS:
            grouped |= {name for name in _inside(tokens, place + 1, ")") if _NAME.fullmatch(name)}
            place = tokens.index(")", place)
        elif _NAME.fullmatch(token) and token not in _WORDS and following not in _AFTER_OPERATORS:
            labels = matched.setdefault(token, set())
            if following == "{":
                inside = list(_inside(tokens, place + 1, "}"))
                labels |= {inside[at] for at in range(0, len(inside), 4)}
                place = tokens.index("}", place)
        place += 1
    return Used(matched, grouped)


def _inside(tokens: list[str], opening: int, closing: str) -> Iterator[str]:
    yield from tokens[opening + 1 : tokens.index(closing, opening)]


def filled(expression: str, window: str) -> str:
    """An expression of a dashboard as Prometheus gets it where everything is chosen."""
    return re.sub(r'"\$\w+"', '".*"', expression.replace("$__rate_interval", window))
