"""The shapes of a Responses event as a conversion reads them; every member may be missing."""

from typing import Any

import msgspec
from msgspec import Struct

from tidegate.protocols.reading import read


class Event(Struct, gc=False):
    """Any event; `type` tells which members mean something. Items and responses stay as they came."""

    type: str | None = None
    output_index: int | None = None
    content_index: int | None = None
    summary_index: int | None = None
    item_id: str | None = None
    delta: Any = None
    logprobs: list[Any] | None = None
    text: str | None = None
    refusal: str | None = None
    arguments: Any = None
    input: Any = None
    annotation: Any = None
    part: Any = None
    item: Any = None
    response: Any = None
    error: Any = None


_EVENT = msgspec.json.Decoder(Event)


def parse(text: bytes) -> Event | None:
    """The event, leniently; None: no JSON object."""
    return read(_EVENT, Event, text)
