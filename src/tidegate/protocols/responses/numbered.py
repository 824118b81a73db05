"""Writes numbered events about the items of a Responses stream."""

import msgspec
from msgspec import Struct

Object = dict[str, object]

json_text = msgspec.json.Encoder().encode
"""Compact JSON in UTF-8."""


class Events:
    """Numbers the events of one stream from 0 without a gap."""

    __slots__ = ("_number",)

    def __init__(self) -> None:
        self._number = 0

    @property
    def begun(self) -> bool:
        """Whether there has been an event."""
        return self._number > 0

    def event(self, kind: str, members: Object) -> bytes:
        """The event of this type with these members."""
        return self.raw(kind, json_text(members)[1:-1])

    def raw(self, kind: str, members: bytes) -> bytes:
        """The same with members as JSON text, without the braces."""
        name = kind.encode()
        return b'event: %b\ndata: {"type":"%b",%b%b}\n\n' % (name, name, self.number(), members)

    def number(self) -> bytes:
        """The next number as a member."""
        number = self._number
        self._number = number + 1
        return b'"sequence_number":%d,' % number


class Place(Struct, frozen=True):
    """Where an item stands."""

    id: str
    index: int

    def members(self, **more: object) -> Object:
        """As every event of the item tells it."""
        return {"item_id": self.id, "output_index": self.index, **more}


class Delta:
    """Writes the deltas of one part, which differ in one string only."""

    __slots__ = ("_after", "_before", "_events", "_middle")

    def __init__(self, events: Events, kind: str, place: Object, after: bytes = b"") -> None:
        self._events = events
        self._before = f'event: {kind}\ndata: {{"type":"{kind}",'.encode()
        self._middle = json_text(place)[1:-1] + b',"delta":'
        self._after = after + b"}\n\n"

    def event(self, text: str) -> bytes:
        """The delta with this text."""
        return self._before + self._events.number() + self._middle + json_text(text) + self._after


def opened(events: Events, place: Place, item: Object) -> bytes:
    """The event that opens an item."""
    return events.event("response.output_item.added", {"output_index": place.index, "item": item})


def closed(events: Events, place: Place, item: Object, before: bytes) -> tuple[bytes, bytes]:
    """The events `before` and the one that makes an item final, and the item as JSON text."""
    text = json_text(item)
    done = events.raw("response.output_item.done", b'"output_index":%d,"item":%b' % (place.index, text))
    return before + done, text
