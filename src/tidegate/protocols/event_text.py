"""Writes events as every client reads them."""

from collections.abc import Mapping

from tidegate.protocols.loose import encoded

DONE = b"data: [DONE]\n\n"


def data_event(payload: Mapping[str, object]) -> bytes:
    """An event without a name."""
    return b"data: " + encoded(payload) + b"\n\n"


def named_event(payload: Mapping[str, object]) -> bytes:
    """An event named after its `type`."""
    return b"event: " + str(payload["type"]).encode() + b"\ndata: " + encoded(payload) + b"\n\n"
