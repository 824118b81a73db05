"""Reads what a client got: events by the standard, and the exact form of everything between them."""

import json
import re
from dataclasses import dataclass
from typing import Any

KEEPALIVE = b": tidegate-keepalive\n"
_EVENT = re.compile(rb"(?:[^\r\n]+(?:\r\n|\n|\r(?!\n)))+(?:\r\n|\n|\r)")


@dataclass(frozen=True)
class Event:
    """One event; `raw` with its lines as they came, comments before it excluded."""

    raw: bytes
    name: str | None
    data: str
    id: str | None

    def json(self) -> Any:
        return json.loads(self.data)


@dataclass(frozen=True)
class Stream:
    """Events in order, and after how many events each keepalive comment stood."""

    events: list[Event]
    keepalives: list[int]

    def bytes(self) -> bytes:
        """The events without the comments between them."""
        return b"".join(event.raw for event in self.events)

    def json(self) -> list[Any]:
        return [event.json() for event in self.events if event.data != "[DONE]"]

    def names(self) -> list[str | None]:
        return [event.name for event in self.events]


def read(body: bytes, keepalive: bytes = KEEPALIVE) -> Stream:
    """Split a whole body; anything that is neither a whole event nor a keepalive line between two fails."""
    events: list[Event] = []
    keepalives: list[int] = []
    at = 0
    while at < len(body):
        if body.startswith(keepalive, at):
            keepalives.append(len(events))
            at += len(keepalive)
            continue
        match = _EVENT.match(body, at)
        assert match, f"neither an event nor a keepalive at byte {at}: {body[at : at + 200]!r}"
        events.append(_event(match.group()))
        at = match.end()
    return Stream(events, keepalives)


def _event(raw: bytes) -> Event:
    name: str | None = None
    identifier: str | None = None
    lines: list[str] = []
    for line in raw.splitlines():
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match field:
            case b"data":
                lines.append(value.decode())
            case b"event":
                name = value.decode()
            case b"id":
                identifier = value.decode()
            case b"":
                assert not line, f"a comment inside an event: {raw!r}"
            case _:
                raise AssertionError(f"a line that breaks clients: {line!r} in {raw!r}")
    assert lines, f"an event without data: {raw!r}"
    return Event(raw, name, "\n".join(lines), identifier)
