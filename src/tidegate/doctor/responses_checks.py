"""Checks the order and the members of a Responses stream."""

from collections.abc import Iterator

from tidegate.core.protocol import Protocol
from tidegate.doctor.expectation import Expectation, Summary
from tidegate.doctor.findings import Finding, at
from tidegate.doctor.framing import Event
from tidegate.doctor.items import Items
from tidegate.doctor.members import Object, count, elements, part, word
from tidegate.doctor.usage_checks import check_usage

TERMINAL = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
}
_LIFECYCLE = frozenset({"response.created", "response.queued", "response.in_progress", *TERMINAL})
_MEMBERS: dict[str, tuple[type, ...]] = {
    "id": (str,),
    "created_at": (int, float),
    "model": (str,),
    "output": (list,),
    "parallel_tool_calls": (bool,),
    "tool_choice": (str, dict),
    "tools": (list,),
    "status": (str,),
}


def odd_members(response: Object) -> Iterator[str]:
    """What a response object lacks, or has in another form."""
    if response.get("object") != "response":
        yield "object is not response"
    for name, kinds in _MEMBERS.items():
        value = response.get(name)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            yield f"{name} is missing, or of the wrong kind"
        elif value == "":
            yield f"{name} is empty"


class ResponsesReader:
    """Follows one stream."""

    def __init__(self, expected: Expectation) -> None:
        self._expected = expected
        self._items = Items()
        self._next = 0
        self._begun: set[str] = set()
        self._id = ""
        self._last: Object = {}
        self._ended: str | None = None

    def see_done(self, event: Event) -> Iterator[Finding]:
        """An end mark of another protocol."""
        yield at(event, "foreign-end-mark", "[DONE] belongs to Chat Completions")

    def see(self, event: Event, told: Object) -> Iterator[Finding]:
        """An event with a type."""
        kind = word(told, "type")
        if kind == "keepalive":  # some servers number it, others do not
            if "sequence_number" in told:
                yield from self._check_number(event, told)
            return
        if self._ended is not None:
            yield at(event, "after-end", "it comes after the end of the stream")
        yield from self._check_beginning(event, kind)
        yield from self._check_number(event, told)
        if kind in _LIFECYCLE:
            yield from self._see_response(event, kind, part(told, "response"))
        elif kind == "error" or (not kind and told.get("error")):
            self._ended = "error"
            yield from _check_error(event, told)
        elif not kind:
            yield at(event, "event-type", "its data has no type")
        else:
            yield from self._see_item(event, kind, told)

    def end(self) -> Iterator[Finding]:
        """What is missing."""
        if self._ended is None:
            yield Finding("end-mark", "the stream ends without a terminal event (response.completed)")
        if self._ended in (None, "error", "response.failed"):
            return
        yield from self._items.end(elements(self._last, "output"), cut=self._ended != "response.completed")
        usage = self._last.get("usage")
        if isinstance(usage, dict):
            yield from check_usage(usage, Protocol.RESPONSES, spoken=self._items.spoken > 0)
            yield from _check_details(usage)
        else:
            yield Finding("usage-missing", "the terminal event tells no usage")

    def summary(self) -> Summary:
        """What it said."""
        reason = word(part(self._last, "incomplete_details"), "reason")
        return Summary(
            spoken=self._items.spoken,
            calls=self._items.calls,
            stop=reason or (None if self._ended is None else TERMINAL.get(self._ended)),
            failed=self._ended in ("error", "response.failed"),
            output_tokens=count(part(self._last, "usage"), "output_tokens"),
            heard=tuple(self._items.heard),
        )

    def _check_beginning(self, event: Event, kind: str) -> Iterator[Finding]:
        if not self._begun and kind != "response.created":
            yield at(event, "responses-first", f"the stream begins with {kind or 'no type'}")
        elif kind in self._begun and kind == "response.created":
            yield at(event, "responses-first", "a second response.created")
        elif kind in self._begun and kind == "response.in_progress":
            yield at(event, "responses-in-progress", "it comes again, or after an item")
        self._begun.add(kind)

    def _check_number(self, event: Event, told: Object) -> Iterator[Finding]:
        number = count(told, "sequence_number")
        if number != self._next:
            yield at(event, "responses-sequence", f"its sequence_number is {number}, not {self._next}")
        self._next = (self._next if number is None else number) + 1

    def _see_response(self, event: Event, kind: str, response: Object) -> Iterator[Finding]:
        for odd in odd_members(response):
            yield at(event, "responses-members", f"response.{odd}")
        identifier = word(response, "id")
        if self._id and identifier != self._id:
            yield at(event, "responses-id", f"response.id is {identifier}, before it was {self._id}")
        self._id = self._id or identifier
        if kind in TERMINAL:
            self._ended, self._last = kind, response
            yield from _check_terminal(event, kind, response)
        elif word(response, "status") not in ("queued", "in_progress"):
            yield at(event, "responses-status", f"response.status is {response.get('status')!r}")

    def _see_item(self, event: Event, kind: str, told: Object) -> Iterator[Finding]:
        if "response.in_progress" not in self._begun:
            self._begun.add("response.in_progress")
            yield at(event, "responses-in-progress", "no response.in_progress came before it")
        yield from self._items.see(event, kind, told)


def _check_terminal(event: Event, kind: str, response: Object) -> Iterator[Finding]:
    if response.get("status") != TERMINAL[kind]:
        message = f"response.status is {response.get('status')!r} in {kind}"
        yield at(event, "responses-status", message)
    if kind == "response.incomplete" and not word(part(response, "incomplete_details"), "reason"):
        yield at(event, "responses-status", "response.incomplete_details tells no reason")
    if kind == "response.failed":
        error = part(response, "error")
        yield at(event, "error-event", f"the stream ends with an error: {word(error, 'message')}"[:300])
        if not word(error, "message") or not word(error, "code"):
            yield at(event, "error-form", "response.error is no object with code and message")


def _check_error(event: Event, told: Object) -> Iterator[Finding]:
    nested = told.get("error")
    error = nested if isinstance(nested, dict) else told
    yield at(event, "error-event", f"the stream ends with an error: {word(error, 'message')}"[:300])
    if not word(error, "message") or "code" not in error:
        yield at(event, "error-form", "error has no code and message")


def _check_details(usage: Object) -> Iterator[Finding]:
    for details, name in (
        ("input_tokens_details", "cached_tokens"),
        ("output_tokens_details", "reasoning_tokens"),
    ):
        if count(part(usage, details), name) is None:
            yield Finding("usage-form", f"{details}.{name} is no whole number", str(usage)[:500])
