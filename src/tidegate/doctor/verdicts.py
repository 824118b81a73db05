"""Puts together what is found on one answer."""

from collections.abc import Iterator
from http import HTTPStatus

from msgspec import structs

from tidegate.core.protocol import Protocol
from tidegate.doctor.chat_checks import ChatReader
from tidegate.doctor.error_checks import check_error_body, check_refusal
from tidegate.doctor.expectation import Expectation, Summary
from tidegate.doctor.findings import Finding, bounded
from tidegate.doctor.flow_checks import check_flow
from tidegate.doctor.framing import EventStream, framed, shortened
from tidegate.doctor.framing_checks import check_framing
from tidegate.doctor.http_checks import TOO_LARGE, check_close, check_stream_head, check_time
from tidegate.doctor.messages_checks import MessagesReader
from tidegate.doctor.probes import Probe, Refused, Streamed, Whole
from tidegate.doctor.recording import Close, Head, Recording
from tidegate.doctor.report import StreamReport
from tidegate.doctor.responses_checks import ResponsesReader
from tidegate.doctor.told import Reader, read_events
from tidegate.doctor.whole_checks import check_whole, whole_summary

_LIMIT_STOPS = frozenset({"length", "max_tokens", "max_output_tokens"})
_SILENT_STOPS = _LIMIT_STOPS | {"refusal", "content_filter", "failed", "pause_turn", "compaction"}
"""Reasons to stop that leave nothing to say, or hide what was said."""
_UNWELCOME = frozenset({401, 402, 403})
"""Status of an answer to somebody who may not ask, whatever is asked."""
_CANNOT = frozenset({400, 404, 422, 501})
_LEEWAY = 4
"""How many times the allowed tokens an answer must have before the limit counts as ignored."""


def examined(
    protocol: Protocol, probe: Probe, recording: Recording, short_took: float | None = None
) -> StreamReport:
    """Everything that is found on the answer to a probe.

    `short_took` is how many seconds a short answer took, where one was heard before.
    """
    stream = framed(recording) if isinstance(probe.wanted, Streamed) else None
    told = () if stream is None else tuple(event for event in stream.events if event.data)
    return StreamReport(
        name=probe.name,
        status=None if recording.head is None else recording.head.status,
        first_byte_ms=recording.pieces[0].at * 1000 if recording.pieces else None,
        first_event_ms=told[0].at * 1000 if told else None,
        total_ms=recording.ended_at * 1000,
        events=len(told),
        findings=tuple(bounded(_findings(protocol, probe, recording, stream, short_took))),
    )


def _findings(
    protocol: Protocol,
    probe: Probe,
    recording: Recording,
    stream: EventStream | None,
    short_took: float | None,
) -> Iterator[Finding]:
    yield from check_close(recording)
    head, whole = recording.head, recording.close is Close.WHOLE
    if head is None:
        return
    match probe.wanted:
        case Refused() as wanted:
            if whole:
                yield from check_refusal(head, recording.body, protocol, wanted)
        case Streamed(expected) | Whole(expected) if head.status != 200:
            yield _refused(head, recording.body, expected)
            yield from check_error_body(head, recording.body, protocol)
        case Streamed(expected):
            stream = stream or framed(recording)
            yield from _stream_findings(protocol, expected, head, recording, stream, short_took)
        case Whole(expected):
            if whole:
                yield from _whole_findings(protocol, expected, head, recording.body)


def says_all(probe: Probe, recording: Recording, *, first: bool) -> bool:
    """Whether every other request would come to the same; `first`: it was the first request."""
    if recording.close is Close.UNREACHED:
        return True
    if recording.head is None:
        return first and recording.close is Close.TOO_LATE
    if isinstance(probe.wanted, Refused):
        return False
    status = recording.head.status
    return status in _UNWELCOME or (first and status == HTTPStatus.NOT_FOUND)


def _refused(head: Head, body: bytes, expected: Expectation) -> Finding:
    """A good request that was refused; that a server cannot call tools is no fault."""
    if head.status in _UNWELCOME:
        message = f"the credential, or what it may use, is refused with {head.status}"
        return Finding("credential", message, shortened(body) or None)
    if expected.tool is not None and head.status in _CANNOT and b"tool" in body.lower():
        return Finding(
            "tool-refused", f"a request with tools is answered with {head.status}", shortened(body)
        )
    where = head.header("location")
    elsewhere = f" (to {shortened(where.encode())})" if where and 300 <= head.status < 400 else ""
    return Finding("status", f"answered with status {head.status}{elsewhere}", shortened(body) or None)


def _whole_findings(protocol: Protocol, expected: Expectation, head: Head, body: bytes) -> Iterator[Finding]:
    yield from check_whole(head, body, protocol)
    yield from _check_said(whole_summary(body, protocol), expected)


def _stream_findings(
    protocol: Protocol,
    expected: Expectation,
    head: Head,
    recording: Recording,
    stream: EventStream,
    short_took: float | None,
) -> Iterator[Finding]:
    yield from check_stream_head(head, long=expected.long)
    whole = recording.close is Close.WHOLE
    if not whole:  # where it was cut, nothing can be said of the event that was on its way
        stream = structs.replace(stream, events=tuple(event for event in stream.events if event.closed))
    told = [event for event in stream.events if event.data]
    if not told and not stream.cut:
        if whole:
            what = "no event" if recording.body else "nothing"
            yield Finding("body-form", f"the body holds {what}", shortened(recording.body) or None)
        return
    yield from check_framing(stream, protocol)
    if stream.cut:
        yield TOO_LARGE
    if stream.cut or recording.close is Close.TOO_LARGE:
        return
    reader = _reader(protocol, expected)
    yield from read_events(stream.events, reader, ended=recording.close is not Close.TOO_LATE)
    yield from check_time(recording)
    if expected.long:
        yield from check_flow(reader.summary().heard, recording.pieces, short_took)
    if recording.close is not Close.TOO_LATE:
        yield from _check_said(reader.summary(), expected)


def _reader(protocol: Protocol, expected: Expectation) -> Reader:
    match protocol:
        case Protocol.CHAT:
            return ChatReader(expected)
        case Protocol.RESPONSES:
            return ResponsesReader(expected)
        case Protocol.MESSAGES:
            return MessagesReader(expected)


def _check_said(said: Summary, expected: Expectation) -> Iterator[Finding]:
    """Whether the answer is what was asked for."""
    if said.failed:
        return
    if said.stop is not None and said.stop not in _SILENT_STOPS and not said.spoken:
        yield Finding("empty-answer", "it ends well, but holds no text and no call that clients can read")
    if expected.tool is not None and expected.tool not in said.calls:
        yield Finding("tool-refused", f"the tool {expected.tool} was to be called, and was not")
    if expected.limit is not None:
        yield from _check_limit(said, expected.limit)


def _check_limit(said: Summary, limit: int) -> Iterator[Finding]:
    output = said.output_tokens
    if output is not None and output > limit * _LEEWAY:
        yield Finding("limit-ignored", f"{output} output tokens came where {limit} were allowed")
    elif output is not None and output < limit:
        return  # it was shorter by itself
    elif said.stop is not None and said.stop not in _LIMIT_STOPS:
        message = f"the limit of {limit} tokens cut the answer, but it tells {said.stop}"
        yield Finding("limit-finish", message)
