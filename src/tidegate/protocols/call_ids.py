"""Ids of tool calls as every upstream takes them (conversion.md §8.7)."""

import re
from hashlib import sha256

_LEGAL = re.compile(r"[A-Za-z0-9_-]{1,64}")


def call_id(id_: str) -> str:
    """The id itself where every protocol takes it, else one made of its hash, for call and result alike."""
    if _LEGAL.fullmatch(id_):
        return id_
    return "call_" + sha256(id_.encode()).hexdigest()[:24]
