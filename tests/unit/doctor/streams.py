"""Good streams of the fixtures, and what is found on them once they are spoilt."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from tests.unit.doctor.recordings import heard

from tidegate.core.protocol import Protocol
from tidegate.doctor.expectation import Expectation
from tidegate.doctor.probes import Probe, Streamed
from tidegate.doctor.report import StreamReport
from tidegate.doctor.verdicts import examined

CASES = Path(__file__).parents[2] / "fixtures" / "answers"
DONE = "[DONE]"
Events = list[Any]
Edit = Callable[[Events], None]


def good(protocol: Protocol, case: str) -> Events:
    """The data of each event."""
    lines = (CASES / case / f"{protocol.value}.sse").read_text(encoding="utf-8").splitlines()
    told = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    return [text if text == DONE else json.loads(text) for text in told]


def wire(protocol: Protocol, events: Events) -> bytes:
    """The events as bytes."""
    written = []
    for event in events:
        text = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
        named = protocol is not Protocol.CHAT and isinstance(event, dict) and "type" in event
        written.append((f"event: {event['type']}\n" if named else "") + f"data: {text}\n\n")
    return "".join(written).encode()


def report(protocol: Protocol, events: Events, expected: Expectation | None = None) -> StreamReport:
    """What is found on them."""
    probe = Probe(name="x", path="/", body=b"", wanted=Streamed(expected or Expectation()))
    return examined(protocol, probe, heard(wire(protocol, events)))


def found(protocol: Protocol, case: str, edit: Edit | None = None, **expected: Any) -> list[str]:
    """The rules that a good stream breaks once it is edited."""
    events = deepcopy(good(protocol, case))
    if edit is not None:
        edit(events)
    told = report(protocol, events, Expectation(**expected))
    return [finding.rule for finding in told.findings]


def put(number: int, path: str, value: Any) -> Edit:
    """Set a member of an event, e.g. `choices.0.delta`."""

    def edit(events: Events) -> None:
        place, last = _place(events[number], path)
        place[last] = value

    return edit


def drop(number: int, path: str = "") -> Edit:
    """Leave an event out, or a member of one."""

    def edit(events: Events) -> None:
        if not path:
            del events[number]
            return
        place, last = _place(events[number], path)
        del place[last]

    return edit


def again(number: int, at: int | None = None) -> Edit:
    """Repeat an event, at the end unless told."""

    def edit(events: Events) -> None:
        events.insert(len(events) if at is None else at, deepcopy(events[number]))

    return edit


def insert(at: int, event: Any) -> Edit:
    """Put an event of one's own in."""
    return lambda events: events.insert(at, event)


def both(*edits: Edit) -> Edit:
    """One after the other."""

    def edit(events: Events) -> None:
        for each in edits:
            each(events)

    return edit


def _place(event: Any, path: str) -> tuple[Any, Any]:
    *before, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in before:
        event = event[part]
    return event, last
