"""Every rule that an endpoint is examined for, with where it comes from."""

from enum import Enum

from msgspec import Struct


class Severity(Enum):
    """How bad a departure is."""

    ERROR = "error"
    """It breaks the protocol: some client will fail, or lose something."""
    WARNING = "warning"
    """It is allowed or tolerated, and yet known to hurt."""
    NOTE = "note"
    """Worth knowing, and no fault."""


class Rule(Struct, frozen=True):
    """One rule; `source` is the document that it comes from."""

    id: str
    severity: Severity
    source: str


_HTTP = "RFC 9110, HTTP semantics"
_WIRE = "RFC 9112, HTTP/1.1 message framing"
_CACHE = "RFC 9111, HTTP caching"
_SSE = "WHATWG HTML, server-sent events"
_JSON = "RFC 8259, JSON"
_PROXY = "nginx, ngx_http_proxy_module: buffering"
_CHAT = "OpenAI, Chat Completions: streaming"
_ANSWER = "the protocol's reference: the answer object"
_STREAM = "the protocol's reference: streaming"
_SDK = "behaviour of the official SDKs"
_ERRORS = "the protocol's reference: errors"
_USAGE = "the protocol's reference: usage"

_ERROR, _WARNING, _NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

RULES: tuple[Rule, ...] = (
    Rule("connection", _ERROR, _WIRE),
    Rule("stalled", _ERROR, _STREAM),
    Rule("status", _ERROR, _HTTP),
    Rule("content-type", _ERROR, _SSE),
    Rule("body-form", _ERROR, _STREAM),
    Rule("not-json", _ERROR, _JSON),
    Rule("end-mark", _ERROR, _STREAM),
)
_BY_ID = {known.id: known for known in RULES}


def rule(identifier: str) -> Rule:
    """The rule of this id, which must be one."""
    return _BY_ID[identifier]
