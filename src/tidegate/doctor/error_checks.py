"""Checks how an endpoint refuses a request."""

import re
from collections.abc import Iterator

import msgspec

from tidegate.core.protocol import Protocol
from tidegate.doctor.findings import Finding
from tidegate.doctor.framing import shortened
from tidegate.doctor.http_checks import content_type
from tidegate.doctor.members import part, word
from tidegate.doctor.recording import Head

_TRACE = re.compile(
    rb"Traceback \(most recent call last\)|(?:\n|\\n)\s+at [\w.$<>]+ ?\(|goroutine \d+ \["
    rb"|File \\?\"[^\"]+\\?\", line \d+"
)
_HTML = re.compile(rb"\s*(?:<!doctype html|<html|<head|<body)", re.IGNORECASE)


def check_refusal(head: Head, body: bytes, protocol: Protocol, wanted: tuple[int, ...]) -> Iterator[Finding]:
    """The answer to a request that must be refused, with one of the `wanted` statuses."""
    if head.status == 200:
        message = "the request was not refused (a local server may not care)"
        yield Finding("error-not-refused", message, shortened(body))
        return
    if head.status not in wanted:
        expected = " or ".join(map(str, wanted))
        yield Finding("error-status", f"the status is {head.status}, not {expected}", shortened(body))
    yield from check_error_body(head, body, protocol)


def check_error_body(head: Head, body: bytes, protocol: Protocol) -> Iterator[Finding]:
    """The body of a refusal, whatever its status."""
    shown = shortened(body)
    if _TRACE.search(body):
        yield Finding("error-trace", "the body shows the inside of a program", shown)
    if _HTML.match(body):
        yield Finding("error-html", "the body is a page of HTML, not JSON", shown)
        return
    try:
        told = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        yield Finding("error-body", "the body is no JSON", shown or None)
        return
    if content_type(head) != "application/json":
        yield Finding("content-type", "a JSON body without content-type: application/json", shown)
    error = part(told, "error")
    if protocol is Protocol.MESSAGES and word(told, "type") != "error":
        yield Finding("error-body", "type is not error", shown)
    for name in _missing(error, protocol):
        yield Finding("error-body", f"error.{name} is missing, or no text", shown)


def _missing(error: dict[str, object], protocol: Protocol) -> Iterator[str]:
    for name in ("message", "type"):
        if not word(error, name):
            yield name
    if protocol is Protocol.MESSAGES:
        return
    for name in ("param", "code"):
        if name not in error:
            yield f"{name} (null where there is none)"
