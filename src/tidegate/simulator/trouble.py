"""The errors a provider answers with, in the words of each protocol."""

from enum import Enum
from typing import Any

import msgspec
from msgspec import Struct

from tidegate.core.protocol import Protocol


class Kind(Enum):
    """Why a provider refuses; the value is the name that `error=` takes."""

    INVALID = "invalid"
    CONTEXT = "context"
    POLICY = "policy"
    AUTH = "auth"
    BILLING = "billing"
    PERMISSION = "permission"
    NOT_FOUND = "not_found"
    MODEL = "model"
    TIMEOUT = "timeout"
    CONFLICT = "conflict"
    TOO_LARGE = "too_large"
    RATE_LIMIT = "rate_limit"
    QUOTA = "quota"
    SERVER = "server"
    OVERLOADED = "overloaded"


class ErrorForm(Enum):
    """The shape of an error inside a stream; a shape that a protocol does not know is its usual one."""

    USUAL = "usual"
    """chat: an `error` object; responses: `response.failed`; messages: `event: error`."""
    FLAT = "flat"
    """responses: `error` with code, message and param at the top, as published."""
    NESTED = "nested"
    """responses: `error` with an `error` object, as seen in practice."""
    TEXT = "text"
    """chat: `error` is a bare text."""
    CHUNK = "chunk"
    """chat: a chunk that also carries `error`, with finish reason `error`."""


class Trouble(Struct, frozen=True):
    """One error; `status` is the HTTP status where there still is one to choose.

    `code` is set where an OpenAI code differs from the usual one of the kind.
    """

    kind: Kind
    status: int
    message: str
    param: str | None = None
    code: str | None = None


class Words(Struct, frozen=True):
    """What the three protocols call one kind of error."""

    status: int
    openai_type: str
    openai_code: str | None
    anthropic_type: str
    responses_code: str
    message: str


_INVALID = "invalid_request_error"
_WORDS = {
    Kind.INVALID: Words(400, _INVALID, None, _INVALID, "invalid_prompt", "The request is invalid."),
    Kind.CONTEXT: Words(
        400,
        _INVALID,
        "context_length_exceeded",
        _INVALID,
        "context_length_exceeded",
        "prompt is too long: 210000 tokens > 200000 maximum",
    ),
    Kind.POLICY: Words(
        400,
        _INVALID,
        "content_policy_violation",
        _INVALID,
        "invalid_prompt",
        "The request was rejected by the safety system.",
    ),
    Kind.AUTH: Words(
        401,
        _INVALID,
        "invalid_api_key",
        "authentication_error",
        "server_error",
        "Incorrect API key provided.",
    ),
    Kind.BILLING: Words(
        402,
        "billing_error",
        "billing_error",
        "billing_error",
        "insufficient_quota",
        "The account has no credit.",
    ),
    Kind.PERMISSION: Words(
        403, _INVALID, "permission_denied", "permission_error", "server_error", "This key may not do that."
    ),
    Kind.NOT_FOUND: Words(404, _INVALID, "not_found", "not_found_error", "server_error", "Not found."),
    Kind.MODEL: Words(
        404, _INVALID, "model_not_found", "not_found_error", "server_error", "model: no such model here"
    ),
    Kind.TIMEOUT: Words(
        408, _INVALID, "request_timeout", "timeout_error", "server_error", "The request timed out."
    ),
    Kind.CONFLICT: Words(
        409, _INVALID, "conflict", "conflict_error", "server_error", "The request conflicts."
    ),
    Kind.TOO_LARGE: Words(
        413, _INVALID, "request_too_large", "request_too_large", "invalid_prompt", "The request is too large."
    ),
    Kind.RATE_LIMIT: Words(
        429,
        "rate_limit_error",
        "rate_limit_exceeded",
        "rate_limit_error",
        "rate_limit_exceeded",
        "Rate limit reached for requests.",
    ),
    Kind.QUOTA: Words(
        429,
        "insufficient_quota",
        "insufficient_quota",
        "rate_limit_error",
        "insufficient_quota",
        "You exceeded your current quota.",
    ),
    Kind.SERVER: Words(
        500,
        "server_error",
        None,
        "api_error",
        "server_error",
        "The server had an error while processing your request.",
    ),
    Kind.OVERLOADED: Words(
        503,
        "service_unavailable_error",
        "server_is_overloaded",
        "overloaded_error",
        "server_is_overloaded",
        "Overloaded",
    ),
}
_BY_STATUS = {
    **{words.status: kind for kind, words in reversed(_WORDS.items())},
    404: Kind.MODEL,
    422: Kind.INVALID,
    504: Kind.TIMEOUT,
    529: Kind.OVERLOADED,
}


def words_of(kind: Kind) -> Words:
    """The names of `kind` in the protocols."""
    return _WORDS[kind]


def trouble_of(
    protocol: Protocol, *, kind: Kind | None, status: int | None, message: str | None = None
) -> Trouble:
    """The error that a kind, a status or both name; where one is not told it follows from the other."""
    if kind is None:
        other = Kind.SERVER if status is None or status >= 500 else Kind.INVALID
        kind = other if status is None else _BY_STATUS.get(status, other)
    words = _WORDS[kind]
    return Trouble(kind, status or status_of(protocol, kind), message or words.message)


def status_of(protocol: Protocol, kind: Kind) -> int:
    """The status that goes with a kind: Anthropic's overload is 529 and its time-out 504."""
    match protocol, kind:
        case Protocol.MESSAGES, Kind.OVERLOADED:
            return 529
        case Protocol.MESSAGES, Kind.TIMEOUT:
            return 504
        case _:  # every other pair has the table's own status
            return _WORDS[kind].status


def error_object(protocol: Protocol, trouble: Trouble) -> dict[str, Any]:
    """The inner `error` object of the protocol."""
    words = _WORDS[trouble.kind]
    match protocol:
        case Protocol.CHAT | Protocol.RESPONSES:
            return {
                "message": trouble.message,
                "type": words.openai_type,
                "param": trouble.param,
                "code": trouble.code or words.openai_code,
            }
        case Protocol.MESSAGES:
            return {"type": words.anthropic_type, "message": trouble.message}


def envelope(protocol: Protocol, trouble: Trouble, request_id: str) -> bytes:
    """The JSON body of a refusal before any output."""
    error = error_object(protocol, trouble)
    match protocol:
        case Protocol.CHAT | Protocol.RESPONSES:
            return msgspec.json.encode({"error": error})
        case Protocol.MESSAGES:
            return msgspec.json.encode({"type": "error", "error": error, "request_id": request_id})
