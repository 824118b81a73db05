"""The error envelope that Chat Completions and Responses share."""

from msgspec import Struct

from tidegate.core.failure import Failure, Fault, Kind, fault
from tidegate.core.protocol import Protocol
from tidegate.protocols.loose import encoded

_REFUSED = "invalid_request_error"
_FAMILY = frozenset({Protocol.CHAT, Protocol.RESPONSES})
_CONVERSATION = {Protocol.CHAT: "messages", Protocol.RESPONSES: "input"}
"""What the two name the member that holds the conversation."""


class Form(Struct, frozen=True):
    """How a kind of failure is told before the stream."""

    status: int
    type: str
    code: str


class Words(Struct, frozen=True):
    """The machine-readable words of one error."""

    type: str
    code: str | None
    param: str | None


_FORMS = {
    Kind.INVALID_REQUEST: Form(400, _REFUSED, "invalid_request"),
    Kind.CONTEXT_LENGTH: Form(400, _REFUSED, "context_length_exceeded"),
    Kind.CONTENT_POLICY: Form(400, _REFUSED, "content_policy_violation"),
    Kind.UNSUPPORTED_PARAMETER: Form(400, _REFUSED, "unsupported_parameter"),
    Kind.UNSUPPORTED_VALUE: Form(400, _REFUSED, "unsupported_value"),
    Kind.RESPONSE_NOT_FOUND: Form(400, _REFUSED, "previous_response_not_found"),
    Kind.CLIENT_AUTH: Form(401, _REFUSED, "invalid_api_key"),
    Kind.PERMISSION: Form(403, "permission_error", "model_not_allowed"),
    Kind.BILLING: Form(402, "billing_error", "insufficient_balance"),
    Kind.MODEL_NOT_FOUND: Form(404, _REFUSED, "model_not_found"),
    Kind.ROUTE_NOT_FOUND: Form(404, _REFUSED, "not_found"),
    Kind.METHOD_NOT_ALLOWED: Form(405, _REFUSED, "method_not_allowed"),
    Kind.BODY_TIMEOUT: Form(408, _REFUSED, "request_timeout"),
    Kind.BODY_TOO_LARGE: Form(413, _REFUSED, "request_too_large"),
    Kind.HEADERS_TOO_LARGE: Form(431, _REFUSED, "headers_too_large"),
    Kind.RATE_LIMIT: Form(429, "rate_limit_error", "rate_limit_exceeded"),
    Kind.OVERLOADED: Form(503, "overloaded_error", "overloaded"),
    Kind.TIMEOUT: Form(504, "api_error", "upstream_timeout"),
    Kind.CHANNEL_AUTH: Form(502, "api_error", "upstream_auth_error"),
    Kind.UPSTREAM: Form(502, "api_error", "upstream_error"),
    Kind.INTERRUPTED: Form(502, "api_error", "stream_interrupted"),
    Kind.NO_CHANNEL: Form(503, "api_error", "no_available_channel"),
    Kind.DRAINING: Form(503, "api_error", "draining"),
    Kind.ACCOUNTING: Form(503, "api_error", "accounting_unavailable"),
    Kind.INTERNAL: Form(500, "api_error", "internal_error"),
}


def form(kind: Kind) -> Form:
    """Status, type and code of a kind."""
    return _FORMS[kind]


def error_answer(failure: Failure, protocol: Protocol) -> tuple[int, bytes]:
    """Status and body; `protocol` is the caller's. Only the request's own fault keeps an upstream's words."""
    refused = fault(failure.kind) is Fault.CLIENT
    status = failure.status if refused and failure.status is not None else _FORMS[failure.kind].status
    words = refusal_words(failure, protocol) if refused else _standard_words(failure.kind)
    error = {"message": failure.message, "type": words.type, "param": words.param, "code": words.code}
    return status, encoded({"error": error})


def refusal_words(failure: Failure, protocol: Protocol) -> Words:
    """The words for a fault of the request: an upstream's own where it speaks this family's language."""
    standard = _FORMS[failure.kind]
    if failure.origin in _FAMILY:
        code = _kept_code(failure, protocol)
        return Words(failure.type or standard.type, code, _param(failure, protocol))
    if failure.origin is not None:
        # The other family has no codes: a plain refusal has none to be translated.
        code = None if failure.kind is Kind.INVALID_REQUEST else standard.code
        return Words(standard.type, code, None)
    param = "model" if failure.kind is Kind.MODEL_NOT_FOUND else failure.param
    return Words(failure.type or standard.type, failure.code or standard.code, param)


def _kept_code(failure: Failure, protocol: Protocol) -> str | None:
    """The upstream's own code. A number is a status, which says less than the kind, if that is known."""
    code = failure.code
    if failure.kind is Kind.INVALID_REQUEST:
        return code
    if code is None:
        return None if failure.origin is protocol else _FORMS[failure.kind].code
    return _FORMS[failure.kind].code if code.isdigit() else code


def event_words(failure: Failure, protocol: Protocol) -> Words:
    """The words inside a stream: those of an upstream of the same protocol as they are, else by the kind."""
    if failure.origin is protocol and failure.type is not None:
        return Words(failure.type, failure.code, failure.param)
    return refusal_words(failure, protocol) if _is_refusal(failure) else _standard_words(failure.kind)


def _is_refusal(failure: Failure) -> bool:
    return fault(failure.kind) is Fault.CLIENT


def _standard_words(kind: Kind) -> Words:
    return Words(_FORMS[kind].type, _FORMS[kind].code, None)


def _param(failure: Failure, protocol: Protocol) -> str | None:
    """`messages[0]` is `input[0]` to the other protocol of the family."""
    param, origin = failure.param, failure.origin
    if param is None or origin is None or origin is protocol:
        return param
    theirs = _CONVERSATION[origin]
    rest = param.removeprefix(theirs)
    renames = param.startswith(theirs) and rest[:1] in ("", ".", "[")
    return _CONVERSATION[protocol] + rest if renames else param
