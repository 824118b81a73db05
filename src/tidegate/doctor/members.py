"""Looks at members of JSON objects that may be anything."""

from typing import TypeAlias

import msgspec

Object: TypeAlias = dict[str, object]


def part(value: object, name: str) -> Object:
    """A member that should be an object; an empty one where it is none."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def elements(value: object, name: str) -> list[object]:
    """A member that should be a list; an empty one where it is none."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def word(value: object, name: str) -> str:
    """A member that should be a text; an empty one where it is none."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def count(value: object, name: str) -> int | None:
    """A member that should be a whole number."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def is_object_text(text: str) -> bool:
    """Whether a text is a JSON object."""
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, RecursionError):
        return False
