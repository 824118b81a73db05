"""The shapes of a Messages event that are read; every member may be missing."""

from typing import Any

import msgspec
from msgspec import Struct

from tidegate.protocols.reading import read


class Message(Struct, gc=False):
    """The message of `message_start`."""

    id: str | None = None
    model: str | None = None
    usage: Any = None


class Block(Struct, gc=False):
    """The block of `content_block_start`."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    name: str | None = None


class Delta(Struct, gc=False):
    """The delta of `content_block_delta` and of `message_delta`."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    signature: str | None = None
    stop_reason: str | None = None


class Event(Struct, gc=False):
    """Any event; `type` tells which members mean something."""

    type: str | None = None
    delta: Delta | None = None
    content_block: Block | None = None
    message: Message | None = None
    usage: Any = None
    error: Any = None


_EVENT = msgspec.json.Decoder(Event)


def parse(text: bytes) -> Event | None:
    """The event, leniently; None: no JSON object."""
    return read(_EVENT, Event, text)
