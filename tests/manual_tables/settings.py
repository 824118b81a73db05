"""The tables of docs/configuration.md: all but the words of a meaning come from the code."""

import inspect
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any

from tests.manual_tables.places import Row, cells, table
from tests.manual_tables.recording import Asked, Place, known_settings

from tidegate.config.callers import share
from tidegate.core.secret import Secret
from tidegate.wiring import serving

HEAD = ("setting", "type", "default", "change", "meaning")
TWINS = {"models": "channels"}
"""Tables inside a model are those of the same name inside a channel, and are shown there."""
TYPES = {
    "seconds": "duration",
    "text": "text on one line",
    "free_text": "text",
    "flag": "`true` or `false`",
    "secret": "secret text",
    "credential": "secret text",
    "nano_usd": "USD, at most 9 decimals",
    "name": "name",
    "model_name": "model name or pattern",
    "served_model": "model name or pattern",
    "known_account": "name",
    "base_url": "URL",
    "database_url": "URL",
    "redis_url": "URL",
    "origin": "origin",
    "host": "host name or address",
    "lifetime": "duration, 1m to 366d",
    "network": "address or network",
    "listen": '`"HOST:PORT"`',
    "existing_file": "path of a file",
    "writable_folder": "path of a folder",
    "share": "number, 0 to 1",
    "collector_url": "URL",
    "header_value": "secret text",
    "expression": "regular expression",
    "_value": "text on one line",
    "_forwarded": "header name",
}
WORDS: dict[Place, str] = {
    ("channels", "models"): "list of model names, or table from name to upstream's name",
    ("channels", "service_tiers"): "table of factors, 0 to 1,000",
    ("models", "service_tiers"): "table of factors, 0 to 1,000",
}
"""Types that no single reading function tells."""
PLURALS = {
    "text on one line": "texts",
    "origin": "origins",
    "header name": "header names",
    "model name or pattern": "model names and patterns",
    "regular expression": "regular expressions",
    "secret text": "secret texts",
    "address or network": "addresses and networks",
    "name": "names",
}
MANY = 1_000_000
"""A largest value that is only there to catch a slip."""
DERIVED: dict[Place, str] = {
    ("channels", "group"): "the name",
    ("models", "first_event_timeout"): "that of `[streaming]`",
    ("models", "idle_timeout"): "that of `[streaming]`",
    ("accounts", "prepaid"): "whether a balance is set",
}
"""Defaults that depend on another setting."""
UNITS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


@cache
def places() -> tuple[str, ...]:
    """Every table that the page must have, like `server` or `channels.price`."""
    around = dict.fromkeys(place[:-1] for place in known_settings() if len(place) > 1)
    return tuple(".".join(place) for place in around if len(place) == 1 or place[0] not in TWINS)


def rows(place: str, written: dict[str, Row]) -> str:
    """One table anew; of what is written there the words of meanings and of missing defaults are kept."""
    around = tuple(place.split("."))
    head = (HEAD[0] if len(around) == 1 else f"{HEAD[0]} of `{around[-1]}`", *HEAD[1:])
    return table(
        head,
        [
            _row(known, asked, written.get(known[-1], {}))
            for known, asked in known_settings().items()
            if known[:-1] == around
        ],
    )


def read(text: str) -> dict[str, Row]:
    """Setting -> its cells by the head of their column."""
    head, *rest = cells(text) or [[]]
    return {row[0].strip("`"): dict(zip(head[1:], row[1:], strict=True)) for row in rest}


def _row(place: Place, asked: Asked, written: Row) -> list[str]:
    default = DERIVED.get(place) or _default(asked)
    if default is None:
        kept = written.get("default", "")
        default = "none" if kept in ("", "required") else kept
    return [f"`{place[-1]}`", _type(place, asked), default, in_force(place), written.get("meaning", "")]


def in_force(place: Place) -> str:
    """Whether a reload takes a change of the setting, or only the next start."""
    section, key = place[0], place[1]
    single = key in serving._RESTART_ONLY_OF.get(section, ())
    return "restart" if single or section in serving._RESTART_ONLY else "reload"


def _type(place: Place, asked: Asked) -> str:
    if place in WORDS:
        return WORDS[place]
    if asked.parse is None:
        return asked.shape
    kind = _kind(asked.parse, place[-1])
    return asked.shape + PLURALS.get(kind, kind) if asked.shape else kind


def _kind(parse: Any, key: str) -> str:
    name = parse.__qualname__.split(".")[0]
    within = inspect.getclosurevars(parse).nonlocals
    match name:
        case "whole":
            number = "bytes" if key.endswith("_bytes") else "whole number"
            least, most = within["least"], within["most"]
            return f"{number}, at least {least:,}" if most >= MANY else f"{number}, {least:,} to {most:,}"
        case "choice":
            return ", ".join(f'`"{member.value}"`' for member in within["kind"])
        case "decimal":
            return f"USD, at most {within['places']} decimals"
        case _:  # the rest is told by its name
            assert name in TYPES, f"say in {__name__}.TYPES what `{name}` reads, as a user would call it"
            return TYPES[name]


def _default(asked: Asked) -> str | None:
    if asked.required:
        return "required"
    match asked.default:
        case None | ():
            return None
        case bool() as flag:
            return f"`{str(flag).lower()}`"
        case Enum() as member:
            return f'`"{member.value}"`'
        case Secret() as secret:
            return f'`"{secret.reveal()}"`'
        case float() as part if asked.parse is share:
            return f"`{part:g}`"
        case float() as seconds:
            return f"`{duration(seconds)}`"
        case int() | Decimal() as number:
            return f"`{number}`"
        case text:
            return f'`"{text}"`'


def duration(seconds: float) -> str:
    """As a config says it, in the largest unit that leaves no fraction."""
    for unit, size in UNITS:
        if seconds >= size and seconds % size == 0:
            return f'"{seconds / size:g}{unit}"'
    return f'"{seconds * 1000:g}ms"' if seconds else "0"
