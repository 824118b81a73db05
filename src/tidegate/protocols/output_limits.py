"""The output limit of a caller's request: read where one is given, set where the balance covers no more."""

import math

from tidegate.core import json_text
from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked, Dialect
from tidegate.protocols.request_body import value_at

_NAMES = {
    Protocol.CHAT: ("max_completion_tokens", "max_tokens"),
    Protocol.RESPONSES: ("max_output_tokens",),
    Protocol.MESSAGES: ("max_tokens",),
}


LEAST_ON_RESPONSES = 16
"""Responses takes no smaller limit; a converted request with a smaller one goes up with this."""


def limit_name(protocol: Protocol) -> str:
    """The member by which a protocol's callers limit the output."""
    return _NAMES[protocol][0]


def asked_limit(asked: Asked) -> int | None:
    """The most tokens that one choice may have by the caller's word; None: no usable word of theirs.

    Of two limits the larger one counts: not every upstream knows both. Below zero often means "none".
    """
    spans = (asked.members.get(name) for name in _NAMES[asked.protocol])
    given = (_limit(value_at(asked.body, span)) for span in spans if span is not None)
    return max((limit for limit in given if limit is not None), default=None)


def _limit(value: object) -> int | None:
    match value:
        case bool():
            return None
        case int() | float() if 0 <= value < math.inf:
            return math.ceil(value)
        case _:
            return None


def with_limit(dialect: Dialect, asked: Asked, limit: int, name: str | None = None) -> Asked:
    """The request with an output limit, under the member `name` or that of its protocol."""
    member = name or limit_name(asked.protocol)
    text = str(limit).encode()
    span = asked.members.get(member)
    if span is None:
        after = asked.members["model"][1]
        edit = (after, after, f',"{member}":'.encode() + text)
    else:
        edit = (*span, text)
    read = dialect.read_request(json_text.replaced(asked.body, [edit]))
    return asked if isinstance(read, Failure) else read
