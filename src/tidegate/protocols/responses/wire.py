"""The shapes of a Responses event that are read; every member may be missing."""

from typing import Any

import msgspec
from msgspec import Struct

from tidegate.protocols.reading import read


class Item(Struct, gc=False):
    """An output item, as far as it tells whether anything was said."""

    id: str | None = None
    type: str | None = None
    content: Any = None
    summary: Any = None
    encrypted_content: str | None = None
    name: str | None = None
    action: Any = None


class Part(Struct, gc=False):
    """A content or summary part."""

    text: str | None = None
    refusal: str | None = None


class Incomplete(Struct, gc=False):
    """Why a response ended early."""

    reason: str | None = None


class Response(Struct, gc=False):
    """The response object of a lifecycle event."""

    id: str | None = None
    model: str | None = None
    created_at: int | float | None = None
    status: str | None = None
    usage: Any = None
    tool_usage: Any = None
    service_tier: Any = None
    incomplete_details: Incomplete | None = None
    output: list[Item] | None = None


class Event(Struct, gc=False):
    """Any event; `type` tells which members mean something."""

    type: str | None = None
    sequence_number: int | None = None
    delta: Any = None
    text: str | None = None
    refusal: str | None = None
    arguments: str | None = None
    input: str | None = None
    item: Item | None = None
    part: Part | None = None
    response: Response | None = None
    error: Any = None


_EVENT = msgspec.json.Decoder(Event)


def parse(text: bytes) -> Event | None:
    """The event, leniently; None: no JSON object."""
    return read(_EVENT, Event, text)
