"""Says what differs between two config files, for the audit log, without any secret."""

from collections.abc import Iterable, Mapping
from enum import Enum

from msgspec import Struct

from tidegate.config import Config
from tidegate.core.secret import Secret
from tidegate.storage.audit import SET

Changes = dict[str, tuple[object, object]]

_APART = ("keys", "warnings")
"""What of a config is no section and no list of named things."""


def config_changes(before: Config, after: Config) -> Changes:
    """Settings that stand once by their place; of channels and the like the names.

    A name in both lists has changed, one in the first is gone, one in the second is new.
    """
    changes: Changes = {}
    for section in (name for name in Config.__struct_fields__ if name not in _APART):
        old, new = getattr(before, section), getattr(after, section)
        if isinstance(new, tuple):
            changes |= _of_named(section, _named(old), _named(new))
        else:
            changes |= _of_section(section, old, new)
    return changes | _of_named("keys", _keys(before), _keys(after))


def _of_section(section: str, before: Struct, after: Struct) -> Changes:
    pairs = {
        f"{section}.{field}": (getattr(before, field), getattr(after, field))
        for field in after.__struct_fields__
    }
    return {place: (_plain(old), _plain(new)) for place, (old, new) in pairs.items() if old != new}


def _of_named(section: str, before: Mapping[str, object], after: Mapping[str, object]) -> Changes:
    gone = sorted(name for name, value in before.items() if after.get(name) != value)
    come = sorted(name for name, value in after.items() if before.get(name) != value)
    return {section: (gone, come)} if gone or come else {}


def _named(things: Iterable[Struct]) -> dict[str, object]:
    return {str(getattr(thing, "name", "")): thing for thing in things}


def _keys(config: Config) -> dict[str, object]:
    return {key.name: (digest, key) for digest, key in config.keys.items()}


def _plain(value: object) -> object:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Secret():
            return SET if value else None
        case Enum():
            return value.value
        case Mapping():
            return {str(name): _plain(inner) for name, inner in value.items()}
        case tuple():
            return [_plain(inner) for inner in value]
        case _:  # networks, addresses
            return str(value)
