"""Takes JSON apart and keeps the text of every part, so that what nobody knows is passed on unchanged."""

import msgspec
from msgspec import Raw

from tidegate.protocols.loose import decoded, encoded, readable

NULL = Raw(b"null")
EMPTY_TEXT = Raw(b'""')
_OBJECT = msgspec.json.Decoder(dict[str, Raw])
_ARRAY = msgspec.json.Decoder(list[Raw])


def members_of(body: bytes) -> dict[str, Raw]:
    """The members of an object, each on one line however the text is laid out. Empty: no object."""
    try:
        return _OBJECT.decode(msgspec.json.format(readable(body), indent=-1))
    except (msgspec.DecodeError, RecursionError):
        # Lone surrogates are JSON too, but the quick decoder refuses them.
        return object_of(Raw(encoded(decoded(body))))


def object_of(raw: Raw | None) -> dict[str, Raw]:
    """The members of an object; empty where it is none."""
    return {} if raw is None or not bytes(raw).startswith(b"{") else _OBJECT.decode(raw)


def array_of(raw: Raw | None) -> list[Raw]:
    """The elements of an array; empty where it is none."""
    return [] if raw is None or not bytes(raw).startswith(b"[") else _ARRAY.decode(raw)


def objects_of(raw: Raw | None) -> list[dict[str, Raw]]:
    """The objects among the elements of an array."""
    return [object_of(element) for element in array_of(raw) if bytes(element).startswith(b"{")]


def is_told(raw: Raw | None) -> bool:
    """Whether there is a value that is not null."""
    return raw is not None and bytes(raw) != b"null"


def is_text(raw: Raw | None) -> bool:
    """Whether it is a string, empty or not."""
    return raw is not None and bytes(raw).startswith(b'"')


def says_something(raw: Raw | None) -> bool:
    """Whether it is a string that is not empty."""
    return raw is not None and bytes(raw).startswith(b'"') and bytes(raw) != b'""'


def value_of(raw: Raw | None) -> object:
    """The decoded value; None where there is none."""
    return None if raw is None else msgspec.json.decode(raw)


def string_of(raw: Raw | None) -> str:
    """The string; empty where it is none."""
    value = value_of(raw) if is_text(raw) else ""
    return value if isinstance(value, str) else ""


def as_text(raw: Raw | None) -> Raw:
    """A JSON string: itself where it is one, else one that holds the value's JSON; else empty."""
    if raw is None or not is_told(raw):
        return EMPTY_TEXT
    return raw if is_text(raw) else Raw(encoded(bytes(raw).decode()))


def without(members: dict[str, Raw], *names: str) -> dict[str, Raw]:
    """The other members."""
    return {name: raw for name, raw in members.items() if name not in names}


def picked(members: dict[str, Raw], *names: str) -> dict[str, Raw]:
    """The members of these names, in that order, as far as they exist."""
    return {name: members[name] for name in names if name in members}
