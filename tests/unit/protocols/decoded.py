"""Upstream streams as events, and the grammar that events must keep (`core/events.py`)."""

from pathlib import Path
from typing import Any, TypeAlias

from tidegate.core.events import (
    CallDelta,
    CallOpened,
    Cited,
    Closed,
    Event,
    Failed,
    Finished,
    ReasoningDelta,
    ReasoningOpened,
    RefusalOpened,
    Searched,
    Started,
    TextDelta,
    TextOpened,
    UsageTold,
)
from tidegate.core.failure import Kind
from tidegate.core.protocol import Protocol
from tidegate.core.sse import Framer
from tidegate.protocols.chat.decoder import ChatDecoder
from tidegate.protocols.conversion import Decoder
from tidegate.protocols.messages.decoder import MessagesDecoder
from tidegate.protocols.responses.decoder import ResponsesDecoder

PAIRS = Path(__file__).parents[2] / "fixtures" / "pairs"
Said: TypeAlias = tuple[Any, ...]


def decoder(protocol: Protocol) -> Decoder:
    match protocol:
        case Protocol.CHAT:
            return ChatDecoder()
        case Protocol.MESSAGES:
            return MessagesDecoder()
        case Protocol.RESPONSES:
            return ResponsesDecoder()


def decode(protocol: Protocol, raw: bytes, size: int | None = None) -> list[Event]:
    """The events of a whole upstream body that comes in chunks of `size` bytes; their grammar is checked."""
    reader = decoder(protocol)
    framer = Framer(1 << 24)
    size = size or max(len(raw), 1)
    frames = [frame for at in range(0, len(raw), size) for frame in framer.feed(raw[at : at + size])]
    last = framer.end()
    events = [event for frame in frames for event in reader.decode(frame)]
    if last is not None:
        events.extend(reader.decode(last))
    events.extend(reader.finish())
    check(events)
    assert not [event for frame in frames for event in reader.decode(frame)] or not is_over(events)
    return events


def is_over(events: list[Event]) -> bool:
    return bool(events) and isinstance(events[-1], Finished | Failed)


_FITTING = {
    TextOpened: TextDelta | Cited,
    RefusalOpened: TextDelta,
    ReasoningOpened: ReasoningDelta,
    CallOpened: CallDelta,
}


def check(events: list[Event]) -> None:
    """Started first, one block open at a time, deltas that fit it, nothing after the end."""
    opened: Any = None
    for number, event in enumerate(events):
        match event:
            case Failed():
                assert number == len(events) - 1, "nothing follows a failure"
            case Started():
                assert number == 0, "an answer starts once, and first"
            case TextOpened() | RefusalOpened() | ReasoningOpened() | CallOpened():
                assert opened is None, "one block at a time"
                opened = event
            case Closed():
                assert opened is not None, "only what is open can be closed"
                assert event.opaque is None or isinstance(opened, ReasoningOpened)
                opened = None
            case UsageTold():
                pass
            case Searched():
                assert opened is None, "searches stand between blocks"
            case Finished():
                assert number == len(events) - 1, "nothing follows the end"
                assert opened is None, "an answer ends between blocks"
            case _:
                assert opened is not None, "a delta stands in a block"
                assert isinstance(event, _FITTING[type(opened)]), "a delta fits its block"
                assert isinstance(event, Cited) or event.text, "an empty delta says nothing"
        assert number > 0 or isinstance(event, Started | Failed)
    ids = [event.id for event in events if isinstance(event, CallOpened)]
    assert len(ids) == len(set(ids)), "no two calls have one id"


def told(events: list[Event]) -> list[Said]:
    """What was said, block by block, however many deltas it took: short enough for a table."""
    said: list[Said] = []
    for event in events:
        match event:
            case TextOpened():
                said.append(("text", ""))
            case RefusalOpened():
                said.append(("refusal", ""))
            case ReasoningOpened():
                said.append(("reasoning", ""))
            case CallOpened():
                said.append((event.kind.value, event.id, event.name, ""))
            case TextDelta() | ReasoningDelta() | CallDelta():
                said[-1] = (*said[-1][:-1], said[-1][-1] + event.text)
            case Closed():
                said[-1] = (*said[-1], *(["cut"] if event.cut else []))
            case Searched():
                said.append(("search", event.id, event.query))
            case Finished():
                said.append((event.stop,))
            case Failed():
                said.append((event.failure.kind,))
            case _:  # neither blocks nor ends
                pass
    return said


def broken(events: list[Event]) -> str:
    """Why the stream cannot be meant."""
    assert isinstance(events[-1], Failed), events
    assert events[-1].failure.kind is Kind.UPSTREAM
    return events[-1].failure.detail or events[-1].failure.message
