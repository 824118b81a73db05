"""Checks how the bytes of a stream make up events."""

from collections.abc import Iterator

from tidegate.core.protocol import Protocol
from tidegate.doctor.findings import Finding, at
from tidegate.doctor.framing import Event, EventStream, shortened

_FIELDS = frozenset({b"data", b"event", b"id", b"retry"})
_NAMES = {b"\n": "LF", b"\r\n": "CR LF", b"\r": "CR"}


def check_framing(stream: EventStream, protocol: Protocol) -> Iterator[Finding]:
    """What is odd about the stream as a whole, and about each event."""
    if stream.has_mark:
        message = "the body begins with a byte order mark: some clients lose the first event"
        yield Finding("byte-order-mark", message)
    if stream.bad_bytes is not None:
        yield Finding("utf-8", "the body holds bytes that are no UTF-8", shortened(stream.bad_bytes))
    if stream.line_ends - {b"\n"}:
        ends = ", ".join(sorted(_NAMES[end] for end in stream.line_ends))
        yield Finding("line-ends", f"lines end with {ends}: hand-written parsers look for LF LF")
    for event in stream.events:
        yield from _check_lines(event)
        if event.data and event.data.strip() not in ("", "[DONE]"):
            yield from _check_name(event, protocol)


def _check_lines(event: Event) -> Iterator[Finding]:
    if not event.closed:
        yield at(event, "last-blank-line", "no blank line closes it, so clients drop it")
    if _has_comment_inside(event):
        yield at(event, "comment-inside", "a comment stands between its lines")
    fields = [line.partition(b":") for line in event.lines if not line.startswith(b":")]
    yield from _check_fields(event, [field for field, _, _ in fields])
    if any(colon and value and not value.startswith(b" ") for _, colon, value in fields):
        yield at(event, "space-after-colon", "no space after the colon: hand-written parsers look for one")


def _check_fields(event: Event, names: list[bytes]) -> Iterator[Finding]:
    if event.data is None or not event.data.strip():
        yield at(event, "event-without-data", "it has no data: some clients read it as an empty text")
    if b"retry" in names:
        yield at(event, "retry-line", "a retry line: clients would repeat the request, or fail at it")
    if b"id" in names:
        yield at(event, "id-line", "an id line: clients keep it, and some then read blank lines as events")
    if names.count(b"data") > 1:
        yield at(event, "data-lines", "its data is on several lines: hand-written parsers read them singly")
    if not _FIELDS.issuperset(names):
        yield at(event, "unknown-line", "a line that no field begins, which is lost")


def _has_comment_inside(event: Event) -> bool:
    """A comment before the first field is merged into the event by every parser, and harms none."""
    comments = [line.startswith(b":") for line in event.lines]
    return True in comments[comments.index(False) :] if False in comments else False


def _check_name(event: Event, protocol: Protocol) -> Iterator[Finding]:
    match protocol:
        case Protocol.CHAT if event.name not in (None, "error"):
            message = f"an event line ({event.name}): some clients then wrap the data"
            yield at(event, "event-name-unexpected", message)
        case Protocol.MESSAGES | Protocol.RESPONSES if event.name is None:
            yield at(event, "event-name-missing", "it has no event line: some clients skip it")
        case Protocol.CHAT | Protocol.RESPONSES | Protocol.MESSAGES:
            pass
