"""Looks into decoded JSON of any shape: what is not there, or is of another type, is empty or None."""

import msgspec

from tidegate.core.json_text import JsonError, load, without_bom


def readable(body: bytes) -> bytes:
    """The text without a byte order mark, its malformed UTF-8 as U+FFFD: as in an event of a stream."""
    text = without_bom(body)
    if text.isascii():
        return text
    try:
        text.decode()
    except UnicodeDecodeError:
        return text.decode("utf-8", "replace").encode()
    return text


def decoded(body: bytes) -> object:
    """The JSON value that `body` is; None where it is no JSON, which is as useless here as `null`."""
    try:
        return load(readable(body))
    except JsonError:
        return None


def mapping(value: object) -> dict[str, object]:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def listing(value: object) -> list[object]:
    """`value` if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def mappings(value: object) -> list[dict[str, object]]:
    """The objects among the elements of an array, in order."""
    return [element for element in listing(value) if isinstance(element, dict)]


def text(value: object) -> str | None:
    """`value` if it is a string that is not empty."""
    return value if isinstance(value, str) and value else None


def encoded(value: object) -> bytes:
    """Compact JSON in UTF-8."""
    return msgspec.json.encode(value)
