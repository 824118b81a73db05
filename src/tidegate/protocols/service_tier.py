"""The service tier: the one that a caller asks for, and the one that an upstream says it served at."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.protocols.base import Asked
from tidegate.protocols.reading import read
from tidegate.protocols.request_body import value_at

_LONGEST = 64
_STANDARD = "standard"


class _Tiered(Struct, gc=False):
    service_tier: Any = None


_TIERED = msgspec.json.Decoder(_Tiered)


def asked_tier(asked: Asked) -> str | None:
    """The request's tier; None where it has none, or no text, which the upstream may judge.

    On Messages a `speed` other than the standard one is a tier of that name: it has a price of its own too.
    """
    speed = _member(asked, "speed") if asked.protocol is Protocol.MESSAGES else None
    return _member(asked, "service_tier") if speed in (None, _STANDARD) else speed


def _member(asked: Asked, name: str) -> str | None:
    span = asked.members.get(name)
    return None if span is None else _tier(value_at(asked.body, span))


def tier_of_message(usage: Mapping[str, object]) -> object:
    """What the `usage` object of Messages tells: the speed if it is not the standard one, else the tier."""
    speed, tier = _tier(usage.get("speed")), usage.get("service_tier")
    return tier or speed if speed in (None, _STANDARD) else speed


def tier_in(text: bytes) -> object:
    """The member `service_tier` of a JSON object. Few events are worth it, so only those are read twice."""
    found = read(_TIERED, _Tiered, text) if b'"service_tier"' in text else None
    return None if found is None else found.service_tier


def with_tier(usage: Usage | None, told: object) -> Usage | None:
    """The usage with the tier that stands beside it. Without counts a tier says nothing."""
    tier = _tier(told)
    return usage if usage is None or tier is None else replace(usage, service_tier=tier)


def _tier(value: object) -> str | None:
    """A name longer than any provider's is none; asking for it is no reason to keep it."""
    return value if isinstance(value, str) and 0 < len(value) <= _LONGEST else None
