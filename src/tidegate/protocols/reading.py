"""Reads upstream JSON into typed shapes without being stricter than the protocols' own clients."""

from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Struct

from tidegate.core import json_text

T = TypeVar("T", bound=Struct)


def read(decoder: "msgspec.json.Decoder[T]", shape: type[T], text: bytes) -> T | None:
    """`text` as `shape`; members of unexpected types count as absent. None: no JSON object.

    Lone surrogate escapes are accepted, as U+FFFD: servers that cut text at UTF-16 units send them.
    """
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, RecursionError):
        found: T | None = salvage(load(text), shape)
        return found


def load(text: bytes) -> Any:
    """`text` as plain values whose strings can be encoded; None: no JSON, or nested too deep to be read."""
    try:
        return json_text.load(text)
    except json_text.JsonError:
        return None


def salvage(value: Any, shape: Any) -> Any:
    """As much of `value` as fits `shape`: what does not fit is left at its default."""
    try:
        return msgspec.convert(value, shape)
    except (msgspec.ValidationError, RecursionError):
        pass
    if get_origin(shape) in (Union, UnionType):
        kinds = [kind for kind in get_args(shape) if kind is not NoneType]
        return next((found for kind in kinds if (found := salvage(value, kind)) is not None), None)
    if get_origin(shape) is list and isinstance(value, list):
        [kind] = get_args(shape)
        return [found for each in value if (found := salvage(each, kind)) is not None]
    if isinstance(shape, type) and issubclass(shape, Struct) and isinstance(value, dict):
        members = {
            field.name: salvage(value[field.encode_name], field.type)
            for field in msgspec.structs.fields(shape)
            if value.get(field.encode_name) is not None
        }
        return shape(**{name: member for name, member in members.items() if member is not None})
    return None
