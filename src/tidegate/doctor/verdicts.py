"""Puts together what is found on one answer."""

from collections.abc import Iterator

import msgspec

from tidegate.core.protocol import Protocol
from tidegate.doctor.framing import Event, framed, shortened
from tidegate.doctor.probes import Probe
from tidegate.doctor.recording import Close, Head, Recording
from tidegate.doctor.report import Finding, StreamReport

_TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed", "error"})


def examined(protocol: Protocol, probe: Probe, recording: Recording) -> StreamReport:
    """Everything that is found on the answer to a probe."""
    stream = framed(recording)
    told = [event for event in stream.events if event.data]
    return StreamReport(
        name=probe.name,
        status=None if recording.head is None else recording.head.status,
        first_byte_ms=None if not recording.pieces else recording.pieces[0].at * 1000,
        first_event_ms=told[0].at * 1000 if told else None,
        total_ms=recording.ended_at * 1000,
        events=len(told),
        findings=tuple(_findings(protocol, recording, told)),
    )


def _findings(protocol: Protocol, recording: Recording, events: list[Event]) -> Iterator[Finding]:
    match recording.close:
        case Close.BROKEN:
            yield Finding(rule="connection", message=f"the connection broke: {recording.trouble}")
        case Close.TOO_LATE:
            yield Finding(rule="stalled", message="the answer did not end in time")
        case Close.WHOLE | Close.TOO_LARGE:
            pass
    if recording.head is None:
        return
    if recording.head.status != 200:
        yield Finding(
            rule="status",
            message=f"answered with status {recording.head.status}",
            event=shortened(recording.body),
        )
        return
    yield from _form(recording.head, recording, events)
    yield from _ends(protocol, events)


def _form(head: Head, recording: Recording, events: list[Event]) -> Iterator[Finding]:
    content_type = (head.header("content-type") or "").partition(";")[0].strip().lower()
    if content_type != "text/event-stream":
        told = content_type or "none"
        yield Finding(rule="content-type", message=f"the content type is {told}, not text/event-stream")
    if not events:
        yield Finding(
            rule="body-form", message="the body holds no event", event=shortened(recording.body) or None
        )


def _ends(protocol: Protocol, events: list[Event]) -> Iterator[Finding]:
    last: str | None = None
    for event in events:
        if event.data == "[DONE]":
            last = "[DONE]"
            continue
        try:
            read = msgspec.json.decode(event.data or "")
        except msgspec.DecodeError as error:
            yield Finding(rule="not-json", message=f"the data is no JSON: {error}", event=event.shown)
            continue
        last = read.get("type") if isinstance(read, dict) else None
    match protocol:
        case Protocol.CHAT if last != "[DONE]":
            yield Finding(rule="end-mark", message="the stream ends without [DONE]")
        case Protocol.RESPONSES if last not in _TERMINAL:
            yield Finding(rule="end-mark", message="the stream ends without a terminal event")
        case Protocol.MESSAGES if last not in ("message_stop", "error"):
            yield Finding(rule="end-mark", message="the stream ends without message_stop")
        case Protocol.CHAT | Protocol.RESPONSES | Protocol.MESSAGES:
            pass
