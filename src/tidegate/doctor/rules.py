"""Every rule that an endpoint is examined for, with where it comes from."""

from enum import Enum

from msgspec import Struct


class Severity(Enum):
    """How bad a departure is."""

    ERROR = "error"
    """It breaks the protocol: some client fails, or loses something."""
    WARNING = "warning"
    """It is tolerated, and yet known to hurt."""
    NOTE = "note"
    """Worth knowing, and no fault."""


class Rule(Struct, frozen=True):
    """One rule; `source` names the document that it comes from."""

    id: str
    severity: Severity
    source: str


_HTTP = "RFC 9110 (HTTP semantics)"
_WIRE = "RFC 9112 (HTTP/1.1)"
_CACHE = "RFC 9111 (HTTP caching)"
_SSE = "WHATWG HTML, server-sent events"
_JSON = "RFC 8259 (JSON)"
_PROXY = "nginx, ngx_http_proxy_module"
_CHAT = "OpenAI, Chat Completions streaming"
_RESPONSES = "OpenAI, Responses streaming events"
_MESSAGES = "Anthropic, Messages streaming"
_STREAMS = "the protocol's streaming reference"
_ANSWERS = "the protocol's reference"
_ERRORS = "the protocol's error reference"
_SDK = "the official SDKs"
_TIME = "what streaming is for"

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

RULES: tuple[Rule, ...] = (
    # the connection and the head
    Rule("unreachable", _E, _HTTP),
    Rule("connection", _E, _WIRE),
    Rule("stalled", _E, _TIME),
    Rule("too-large", _E, _STREAMS),
    Rule("credential", _E, _ERRORS),
    Rule("status", _E, _HTTP),
    Rule("content-type", _E, _SSE),
    Rule("cache-control", _W, _CACHE),
    Rule("accel-buffering", _N, _PROXY),
    Rule("content-encoding", _W, _HTTP),
    Rule("content-length", _W, _TIME),
    Rule("body-form", _E, _STREAMS),
    # the bytes
    Rule("byte-order-mark", _E, _SDK),
    Rule("utf-8", _E, _SSE),
    Rule("line-ends", _W, _SDK),
    Rule("space-after-colon", _W, _SDK),
    Rule("unknown-line", _W, _SSE),
    Rule("last-blank-line", _E, _SSE),
    Rule("event-without-data", _W, _SDK),
    Rule("comment-inside", _W, _SDK),
    Rule("retry-line", _W, _SDK),
    Rule("id-line", _N, _SDK),
    Rule("data-lines", _W, _SDK),
    Rule("event-name-missing", _E, _SDK),
    Rule("event-name-unexpected", _E, _SDK),
    Rule("event-name-mismatch", _E, _STREAMS),
    # every event
    Rule("not-json", _E, _JSON),
    Rule("not-an-object", _E, _STREAMS),
    Rule("event-type", _E, _STREAMS),
    Rule("unknown-event", _N, _STREAMS),
    Rule("error-event", _E, _STREAMS),
    Rule("error-form", _E, _ERRORS),
    Rule("end-mark", _E, _STREAMS),
    Rule("after-end", _E, _STREAMS),
    Rule("foreign-end-mark", _W, _STREAMS),
    Rule("finish", _E, _STREAMS),
    Rule("finish-word", _W, _ANSWERS),
    Rule("empty-answer", _W, _ANSWERS),
    # Chat Completions
    Rule("chat-object", _E, _CHAT),
    Rule("chat-members", _E, _CHAT),
    Rule("chat-same", _W, _CHAT),
    Rule("chat-role", _W, _CHAT),
    Rule("chat-choices-empty", _W, _SDK),
    Rule("chat-choice-index", _E, _CHAT),
    Rule("chat-delta", _E, _CHAT),
    Rule("chat-after-finish", _E, _CHAT),
    # Responses
    Rule("responses-first", _E, _RESPONSES),
    Rule("responses-in-progress", _W, _RESPONSES),
    Rule("responses-sequence", _E, _RESPONSES),
    Rule("responses-id", _E, _RESPONSES),
    Rule("responses-members", _E, _RESPONSES),
    Rule("responses-item", _E, _RESPONSES),
    Rule("responses-part", _E, _RESPONSES),
    Rule("responses-text", _E, _RESPONSES),
    Rule("responses-output", _E, _RESPONSES),
    Rule("responses-status", _E, _RESPONSES),
    # Messages
    Rule("messages-first", _E, _MESSAGES),
    Rule("messages-start", _E, _MESSAGES),
    Rule("messages-block", _E, _MESSAGES),
    Rule("messages-delta", _E, _MESSAGES),
    Rule("messages-signature", _W, _MESSAGES),
    # calls of tools
    Rule("tool-call-index", _E, _SDK),
    Rule("tool-call-id", _E, _ANSWERS),
    Rule("tool-call-name", _E, _ANSWERS),
    Rule("tool-call-repeated", _E, _SDK),
    Rule("tool-arguments", _E, _ANSWERS),
    Rule("tool-finish", _W, _ANSWERS),
    Rule("tool-finish-forced", _N, _ANSWERS),
    Rule("tool-refused", _N, _ANSWERS),
    # usage and limits
    Rule("usage-missing", _E, _ANSWERS),
    Rule("usage-unasked", _W, _CHAT),
    Rule("usage-place", _W, _CHAT),
    Rule("usage-form", _E, _ANSWERS),
    Rule("usage-sum", _E, _ANSWERS),
    Rule("usage-overlap", _E, _ANSWERS),
    Rule("usage-zero", _W, _ANSWERS),
    Rule("limit-ignored", _W, _ANSWERS),
    Rule("limit-finish", _E, _ANSWERS),
    # time
    Rule("unflushed", _E, _TIME),
    Rule("lumps", _W, _TIME),
    Rule("slow-first-byte", _W, _TIME),
    Rule("silence", _N, _TIME),
    # answers that are not streamed
    Rule("whole-form", _E, _ANSWERS),
    # refusals
    Rule("error-status", _E, _ERRORS),
    Rule("error-status-near", _W, _ERRORS),
    Rule("error-body", _E, _ERRORS),
    Rule("error-members", _W, _ERRORS),
    Rule("error-html", _E, _ERRORS),
    Rule("error-trace", _E, _ERRORS),
    Rule("error-not-refused", _N, _ERRORS),
)
_BY_ID = {known.id: known for known in RULES}


def rule(identifier: str) -> Rule:
    """The rule of this id, which must be one."""
    return _BY_ID[identifier]
