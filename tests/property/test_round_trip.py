"""What an encoder writes, the decoder of the same protocol reads; only declared losses are missing."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.event_sequences import NAMES, answers, reasoning_of
from tests.unit.protocols.decoded import decode
from tests.unit.protocols.encoding import encoder, written

from tidegate.core.events import (
    CallDelta,
    CallKind,
    CallOpened,
    Closed,
    Event,
    Finished,
    RefusalOpened,
    Stop,
    TextDelta,
    TextOpened,
)
from tidegate.core.protocol import Protocol
from tidegate.protocols.reading import load

CROSS = [(up, client) for up in Protocol for client in Protocol if up is not client]
LIMITS = (Stop.LENGTH, Stop.CONTEXT)
Calls = list[tuple[str, Any]]


@pytest.mark.parametrize(("upstream", "client"), CROSS)
@settings(deadline=None)
@given(data=st.data())
def test_an_answer_comes_back(upstream: Protocol, client: Protocol, data: st.DataObject) -> None:
    events = data.draw(answers(upstream))
    again = decode(client, written(encoder(client, upstream, names=NAMES), events))
    first, last = events[-1], again[-1]
    assert isinstance(first, Finished)
    assert isinstance(last, Finished)
    assert reasoning(again) == reasoning(events)
    called, expected = calls(again), calls(events, renamed=True)
    assert [name for name, _ in called] == [name for name, _ in expected]
    inputs = [(given, told) for (_, given), (_, told) in zip(called, expected, strict=True)]
    assert all(None in pair or pair[0] == pair[1] for pair in inputs)
    if not first.explanation:  # told as a refusal beside the answer
        assert texts(client, again) == texts(client, events)
    if first.stop in LIMITS:
        assert last.stop in LIMITS
    elif calls(events) and first.stop in (Stop.END, Stop.TOOL_CALLS):
        assert last.stop is Stop.TOOL_CALLS


def joined(words: list[str]) -> str:
    """Line breaks stand between what was apart."""
    return "".join(words).replace("\n", "")


def reasoning(events: list[Event]) -> str:
    return joined(reasoning_of(events))


def texts(client: Protocol, events: list[Event]) -> list[str]:
    """Text and refusals: apart in Chat, in their order in Responses, all of it text in Messages."""
    text: list[str] = []
    refused: list[str] = []
    where = text
    for event in events:
        if isinstance(event, TextOpened | RefusalOpened):
            where = refused if isinstance(event, RefusalOpened) and client is Protocol.CHAT else text
        elif isinstance(event, TextDelta):
            where.append(event.text)
    return [joined(text), joined(refused)]


def calls(events: list[Event], *, renamed: bool = False) -> Calls:
    """Names, and the inputs of functions: of a call that was cut, and of a custom tool, only the name."""
    found: Calls = []
    said: list[str] = []
    is_function = False
    for event in events:
        match event:
            case CallOpened():
                tool = NAMES.get(event.name) if renamed else None
                is_function = event.kind is CallKind.FUNCTION and (tool is None or tool.kind is event.kind)
                found.append((event.name if tool is None else tool.name, None))
                said = []
            case CallDelta():
                said.append(event.text)
            case Closed() if found and found[-1][1] is None and is_function and not event.cut:
                found[-1] = (found[-1][0], load("".join(said).encode()) or {})
                is_function = False
            case _:  # not of a call
                pass
    return found
