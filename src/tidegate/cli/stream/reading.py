"""Reads the events of a stream into what there is to show."""

import json
from collections.abc import Iterator, Mapping
from typing import Protocol as Interface
from typing import assert_never

from tidegate.cli.stream.said import Counted, Failed, Piece, Unreadable
from tidegate.core.protocol import Protocol
from tidegate.core.sse import Frame
from tidegate.core.usage import Usage

Object = Mapping[str, object]


class Reader(Interface):
    """Reads one stream; remembers what later events refer to."""

    def read(self, frame: Frame) -> tuple[Piece, ...]:
        """What the event has to show, in order. An event it does not know shows nothing."""


def reader(protocol: Protocol) -> Reader:
    """A fresh reader for one stream of `protocol`."""
    from tidegate.cli.stream.chat import ChatReader
    from tidegate.cli.stream.messages import MessagesReader
    from tidegate.cli.stream.responses import ResponsesReader

    match protocol:
        case Protocol.CHAT:
            return ChatReader()
        case Protocol.RESPONSES:
            return ResponsesReader()
        case Protocol.MESSAGES:
            return MessagesReader()
        case _ as never:
            assert_never(never)


def parse(frame: Frame) -> Object | Unreadable:
    """The JSON object of an event."""
    try:
        value = json.loads(frame.data)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else Unreadable(frame.data.decode(errors="replace"))


def kind_of(frame: Frame, event: Object) -> object:
    """The type of an event that names it in its data or, failing that, in its event line."""
    return event.get("type") or (frame.event or b"").decode(errors="replace")


def failed(error: object) -> Failed:
    """An error object in any of the forms that providers write."""
    match error:
        case str():
            return Failed("error", error)
        case dict():
            kind = error.get("code") or error.get("type") or "error"
            message = error.get("message") or json.dumps(error, ensure_ascii=False)
            return Failed(str(kind), str(message))
        case _:  # whatever else a server may write there
            return Failed("error", json.dumps(error, ensure_ascii=False))


def counted(usage: Usage) -> Iterator[Counted]:
    """The counts, if any was told."""
    if usage != Usage():
        yield Counted(usage)


def part(value: object, name: str) -> Object:
    """The object that is the member `name` of `value`; empty where there is none."""
    inner = value.get(name) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def word(value: object) -> str:
    """A text member; empty where there is none."""
    return value if isinstance(value, str) else ""


def arguments(value: object) -> str:
    """Arguments as text, also where a server sends them as a JSON value; empty where there are none."""
    if isinstance(value, str):
        return value
    return "" if value is None or value == {} else json.dumps(value, ensure_ascii=False)


def rest(total: int | None, *parts: int | None) -> int | None:
    """What remains of an overlapping total once its parts are counted on their own."""
    return None if total is None else max(0, total - sum(part or 0 for part in parts))
