"""Checks how an endpoint refuses a request."""

import re
from collections.abc import Iterator

import msgspec

from tidegate.core.protocol import Protocol
from tidegate.doctor.findings import Finding
from tidegate.doctor.framing import shortened
from tidegate.doctor.http_checks import content_type
from tidegate.doctor.members import part, word
from tidegate.doctor.probes import Refused
from tidegate.doctor.recording import Head

_TRACE = re.compile(
    rb"Traceback \(most recent call last\)|(?:\n|\\n)\s+at [\w.$<>]+ ?\(|goroutine \d+ \["
    rb"|File \\?\"[^\"]+\\?\", line \d+"
)
_HTML = re.compile(rb"\s*(?:<!doctype html|<html|<head|<body)", re.IGNORECASE)


def check_refusal(head: Head, body: bytes, protocol: Protocol, wanted: Refused) -> Iterator[Finding]:
    """The answer to a request that must be refused."""
    if head.status == 200:
        message = "the request was not refused (a local server may not care)"
        yield Finding("error-not-refused", message, shortened(body))
        return
    if head.status != wanted.status:
        rule = "error-status-near" if head.status in wanted.near else "error-status"
        yield Finding(rule, f"the status is {head.status}, not {wanted.status}", shortened(body))
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
    for name in _missing(told, protocol):
        yield Finding("error-body", f"{name} is missing, or not what it should be", shown)
    if protocol is not Protocol.MESSAGES:
        for name in sorted({"param", "code"} - part(told, "error").keys()):
            yield Finding("error-members", f"error.{name} is missing (null where there is none)", shown)


def _missing(told: object, protocol: Protocol) -> Iterator[str]:
    if protocol is Protocol.MESSAGES and word(told, "type") != "error":
        yield "type"
    for name in ("message", "type"):
        if not word(part(told, "error"), name):
            yield f"error.{name}"
