"""Reads the data of each event, and passes what can be read to the checks of a protocol."""

from collections.abc import Iterator, Sequence
from typing import Protocol as Interface

import msgspec

from tidegate.doctor.expectation import Summary
from tidegate.doctor.findings import Finding, at
from tidegate.doctor.framing import Event
from tidegate.doctor.members import Object, word

DONE = "[DONE]"


class Reader(Interface):
    """Follows one stream of a protocol."""

    def see(self, event: Event, told: Object) -> Iterator[Finding]:
        """The next event, whose data is the object `told`."""

    def see_done(self, event: Event) -> Iterator[Finding]:
        """The next event, whose data is `[DONE]`."""

    def end(self) -> Iterator[Finding]:
        """The stream is over."""

    def summary(self) -> Summary:
        """What it said, once it is over."""


def read_events(events: Sequence[Event], reader: Reader, *, ended: bool = True) -> Iterator[Finding]:
    """Everything that the events show, one after the other, and what their end shows.

    `ended` False: whoever read them stopped, so that nothing can be missing.
    """
    for event in events:
        if event.data is None or not event.data.strip():
            continue
        if event.data.strip() == DONE:
            yield from reader.see_done(event)
            continue
        try:
            told = msgspec.json.decode(event.data)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            yield at(event, "not-json", f"its data is no JSON ({error})")
            continue
        if not isinstance(told, dict):
            yield at(event, "not-an-object", "its data is no JSON object")
            continue
        yield from _check_type(event, told)
        yield from reader.see(event, told)
    if ended:
        yield from reader.end()


def _check_type(event: Event, told: Object) -> Iterator[Finding]:
    """A name and a type that contradict each other; where there is no type, the name says nothing wrong."""
    kind = word(told, "type")
    if event.name is not None and kind and event.name != kind:
        yield at(event, "event-name-mismatch", f"the event line says {event.name}, the type is {kind}")
