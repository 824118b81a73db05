"""Writes a configuration as TOML."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

Plain: TypeAlias = "str | int | bool | Sequence[Plain] | Mapping[str, Plain]"
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def written(sections: Mapping[str, "Mapping[str, Plain] | Sequence[Mapping[str, Plain]]"]) -> str:
    """Tables, and lists of tables; empty ones are left out."""
    parts: list[str] = []
    for name, content in sections.items():
        if isinstance(content, Mapping):
            if content:
                parts.append(f"[{name}]\n{_lines(content)}")
        else:
            parts += [f"[[{name}]]\n{_lines(table)}" for table in content]
    return "\n".join(parts)


def _lines(table: Mapping[str, Plain]) -> str:
    return "".join(f"{_key(name)} = {_value(value)}\n" for name, value in table.items())


def _value(value: Plain) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return _text(value)
        case Mapping():
            return "{ " + ", ".join(f"{_key(name)} = {_value(one)}" for name, one in value.items()) + " }"
        case _:
            return "[" + ", ".join(_elements(value)) + "]"


def _elements(values: Sequence[Plain]) -> Iterator[str]:
    return (_value(one) for one in values)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    """A basic string; JSON writes all its escapes but one."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
