"""The shapes of a Messages event as a conversion reads them; every member may be missing."""

from typing import Any

import msgspec
from msgspec import Struct

from tidegate.protocols.reading import read


class Delta(Struct, gc=False):
    """The delta of `content_block_delta` and of `message_delta`."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    signature: str | None = None
    citation: Any = None
    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: Any = None


class Event(Struct, gc=False):
    """Any event; `type` tells which members mean something."""

    type: str | None = None
    index: int | None = None
    delta: Delta | None = None
    content_block: Any = None
    message: Any = None
    usage: Any = None
    error: Any = None


_EVENT = msgspec.json.Decoder(Event)


def parse(text: bytes) -> Event | None:
    """The event, leniently; None: no JSON object."""
    return read(_EVENT, Event, text)
