"""Edits a request's raw JSON for a channel of the same protocol, every byte outside the edits as it came."""

from collections.abc import Callable, Collection, Sequence

import msgspec

from tidegate.core import json_text
from tidegate.core.conversation import Loss, LossCode
from tidegate.core.failure import Failure
from tidegate.core.json_text import Edit, JsonError, Span
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked
from tidegate.protocols.request_body import value_at

CARRIER_PREFIX = "tgr1."
"""How the opaque values begin in which this gateway packs reasoning of a channel of another protocol."""

CARRIER_MARK = CARRIER_PREFIX.encode()
"""What a text that holds a carrier has somewhere in it."""

REASONING_PLACES = {
    Protocol.CHAT: "messages[].reasoning_details",
    Protocol.RESPONSES: "input[].reasoning",
    Protocol.MESSAGES: "messages[].thinking",
}
"""Where the callers of a protocol put the reasoning of earlier turns."""

REPAIRABLE_STATUSES = (400, 404)
"""The statuses of a refusal that may be about one thing which the request can do without."""

_WORDS_LIMIT = 4000
_QUOTES = str.maketrans("", "", "`'\"\\‘’“”")


def model_edits(asked: Asked, upstream_model: str) -> list[Edit]:
    """The model as the channel knows it; nothing where that is the caller's own name."""
    if upstream_model == asked.model:
        return []
    start, end = asked.members["model"]
    return [(start, end, msgspec.json.encode(upstream_model))]


def edited(asked: Asked, edits: Sequence[Edit]) -> bytes:
    """The caller's body with the edits made; without edits the very same bytes."""
    return json_text.replaced(asked.body, edits)


def without_member(asked: Asked, name: str) -> list[Edit]:
    """Take a top-level member out, if it is there."""
    if name not in asked.members:
        return []
    names = list(asked.members)
    opening = asked.body.index(b"{")
    return removals(asked.body, opening, list(asked.members.values()), {names.index(name)})


def removals(text: bytes, opening: int, parts: Sequence[Span], doomed: Collection[int]) -> list[Edit]:
    """Edits that take the parts with the numbers `doomed` out of an array or object, commas included.

    `opening` is the offset of its bracket, `parts` the spans of its elements or member values, in order.
    """
    edits = []
    leading = 0
    while leading in doomed:
        leading += 1
    if leading == len(parts) and leading:
        return [(opening + 1, parts[-1][1], b"")]
    if leading:
        edits.append((opening + 1, text.index(b",", parts[leading - 1][1]) + 1, b""))
    edits.extend(
        (parts[number - 1][1], parts[number][1], b"") for number in sorted(doomed) if number > leading
    )
    return edits


def members_at(text: bytes, span: Span) -> dict[str, Span]:
    """Members of an object inside the body; none where something else stands there, since only the upstream
    can say what that means."""
    try:
        return json_text.members(text, span)
    except JsonError:
        return {}


def elements_at(text: bytes, span: Span | None) -> list[Span]:
    """Elements of an array inside the body; none where something else stands there."""
    if span is None:
        return []
    try:
        return json_text.elements(text, span)
    except JsonError:
        return []


def without_elements(text: bytes, span: Span | None, doomed: Callable[[Span], bool]) -> list[Edit]:
    """Edits that take the elements for which `doomed` holds out of the array at `span`."""
    parts = elements_at(text, span)
    if span is None or not parts:
        return []
    numbers = {number for number, part in enumerate(parts) if doomed(part)}
    return removals(text, span[0], parts, numbers)


def without_parts(text: bytes, span: Span | None, edit: Callable[[Span], "list[Edit] | None"]) -> list[Edit]:
    """Edits inside the elements of the array at `span`; an element for which `edit` gives None goes whole."""
    parts = elements_at(text, span)
    if span is None or not parts:
        return []
    edits: list[Edit] = []
    doomed = set()
    for number, part in enumerate(parts):
        inner = edit(part)
        if inner is None:
            doomed.add(number)
        else:
            edits += inner
    return edits + removals(text, span[0], parts, doomed)


def may_hold_carriers(asked: Asked) -> bool:
    """A quick look at the whole body, so that ordinary requests are never taken apart."""
    return CARRIER_MARK in asked.body


def lost_carriers(asked: Asked, body: bytes) -> tuple[Loss, ...]:
    """What `body`, the request as it goes up, lacks of the reasoning in the history; told in the row only."""
    if not may_hold_carriers(asked) or body.count(CARRIER_MARK) == asked.body.count(CARRIER_MARK):
        return ()
    return (Loss(LossCode.DROPPED, REASONING_PLACES[asked.protocol], silent=True),)


def is_carrier(value: object) -> bool:
    """Whether an opaque value that came back from a caller is of this gateway's own making."""
    return isinstance(value, str) and value.startswith(CARRIER_PREFIX)


def dict_at(text: bytes, span: Span) -> dict[str, object]:
    """The decoded object at `span`; empty where something else stands there."""
    value = value_at(text, span)
    return value if isinstance(value, dict) else {}


def refusal_words(refusal: Failure) -> str | None:
    """All that an upstream said with its refusal, in lower case and without quotation marks, for a search.

    None for a status that no repair answers.
    """
    if refusal.status is not None and refusal.status not in REPAIRABLE_STATUSES:
        return None
    said = (refusal.code, refusal.param, refusal.message, refusal.detail)
    words = " ".join(word[:_WORDS_LIMIT] for word in said if word)
    return words.lower().translate(_QUOTES)
