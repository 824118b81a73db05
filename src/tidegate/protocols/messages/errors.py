"""Errors as Messages tells them, and what a channel's errors mean."""

import re
from collections.abc import Mapping

from msgspec import Struct

from tidegate.core.failure import Failure, Fault, Kind, fault
from tidegate.core.protocol import Protocol
from tidegate.protocols import refusals
from tidegate.protocols.failures import default_message
from tidegate.protocols.loose import encoded

_REFUSED = "invalid_request_error"


class Form(Struct, frozen=True):
    """How a kind of failure is told."""

    status: int
    type: str


_FORMS = {
    Kind.INVALID_REQUEST: Form(400, _REFUSED),
    Kind.CONTEXT_LENGTH: Form(400, _REFUSED),
    Kind.CONTENT_POLICY: Form(400, _REFUSED),
    Kind.UNSUPPORTED_PARAMETER: Form(400, _REFUSED),
    Kind.UNSUPPORTED_VALUE: Form(400, _REFUSED),
    Kind.RESPONSE_NOT_FOUND: Form(400, _REFUSED),
    Kind.CLIENT_AUTH: Form(401, "authentication_error"),
    Kind.PERMISSION: Form(403, "permission_error"),
    Kind.BILLING: Form(402, "billing_error"),
    Kind.MODEL_NOT_FOUND: Form(404, "not_found_error"),
    Kind.ROUTE_NOT_FOUND: Form(404, "not_found_error"),
    Kind.METHOD_NOT_ALLOWED: Form(405, _REFUSED),
    Kind.BODY_TIMEOUT: Form(408, "timeout_error"),
    Kind.BODY_TOO_LARGE: Form(413, "request_too_large"),
    Kind.HEADERS_TOO_LARGE: Form(431, _REFUSED),
    Kind.RATE_LIMIT: Form(429, "rate_limit_error"),
    Kind.OVERLOADED: Form(529, "overloaded_error"),
    Kind.TIMEOUT: Form(504, "timeout_error"),
    Kind.CHANNEL_AUTH: Form(502, "api_error"),
    Kind.UPSTREAM: Form(502, "api_error"),
    Kind.INTERRUPTED: Form(502, "api_error"),
    Kind.NO_CHANNEL: Form(503, "api_error"),
    Kind.DRAINING: Form(503, "api_error"),
    Kind.ACCOUNTING: Form(503, "api_error"),
    Kind.INTERNAL: Form(500, "api_error"),
}
_TOO_LONG = "prompt is too long: "
_NO_MODEL = re.compile(r"The model `([^`]+)` does not exist\.")
_ABOUT_MEMBER = re.compile(r"`([^`]+)` (.+?)\.?", re.DOTALL)
_MAXIMUM = re.compile(r"maximum context length (?:is|of) (\d{1,12}) tokens", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,12}")


def form(kind: Kind) -> Form:
    """Status and type of a kind."""
    return _FORMS[kind]


def error_answer(failure: Failure, request_id: str) -> tuple[int, bytes]:
    """Status and JSON body of a refusal before the stream."""
    standard = _FORMS[failure.kind]
    if fault(failure.kind) is not Fault.CLIENT:
        return standard.status, encoded(_envelope(failure, standard.type) | {"request_id": request_id})
    status = standard.status if failure.status is None else failure.status
    body = _envelope(failure, _own_type(failure) or _type_of_status(status, standard))
    return status, encoded(body | {"request_id": request_id})


def error_event(failure: Failure) -> bytes:
    """The event that ends a stream in failure; nothing may follow it. SDKs look for its `event:` line."""
    body = _envelope(failure, _own_type(failure) or _FORMS[failure.kind].type)
    return b"event: error\ndata: " + encoded(body) + b"\n\n"


def read_refusal(status: int, headers: Mapping[str, str], body: bytes, now: float) -> Failure:
    """What an answer with a status other than 2xx means; see `refusals.read_refusal`."""
    return refusals.read_refusal(Protocol.MESSAGES, status, headers, body, now)


def read_error_event(payload: object) -> Failure:
    """What an `error` event, or one in an answer's place, means; `payload` is its decoded JSON."""
    return refusals.read_error_event(Protocol.MESSAGES, payload)


def _envelope(failure: Failure, type_: str) -> dict[str, object]:
    error: dict[str, object] = {"type": type_, "message": _spoken(failure)}
    details = _details(failure)
    return {"type": "error", "error": error | {"details": details} if details else error}


def _details(failure: Failure) -> dict[str, object]:
    """What SDKs act on: they send a conversation whole again where they read that it cannot be continued."""
    if failure.kind is Kind.UNSUPPORTED_PARAMETER and failure.param == "thread":
        return {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
    return dict(failure.details) if failure.origin is Protocol.MESSAGES else {}


def _own_type(failure: Failure) -> str | None:
    """An upstream's own type, if it is in this protocol's words."""
    return failure.type if failure.origin is Protocol.MESSAGES else None


def _type_of_status(status: int, standard: Form) -> str:
    """A 404 that a server of the other family answered is no plain `invalid_request_error` here."""
    return "not_found_error" if status == 404 else standard.type


def _spoken(failure: Failure) -> str:
    """The message as this protocol's clients know it: they have no codes and match on phrases."""
    message = failure.message
    match failure.kind:
        case Kind.CONTEXT_LENGTH if failure.origin is not Protocol.MESSAGES:
            return _too_long(message)
        case Kind.CLIENT_AUTH if message == default_message(Kind.CLIENT_AUTH):
            return "invalid x-api-key"
        case Kind.MODEL_NOT_FOUND if (found := _NO_MODEL.fullmatch(message)) is not None:
            return "model: " + found.group(1)
        case Kind.UNSUPPORTED_PARAMETER | Kind.UNSUPPORTED_VALUE:
            found = _ABOUT_MEMBER.fullmatch(message)
            return message if found is None else f"{found.group(1)}: {found.group(2)}"
        case _:  # every other message is said alike everywhere
            return message


def _too_long(message: str) -> str:
    """Clients recognise a full context by the phrase alone, and read the two numbers behind it."""
    if message.startswith(_TOO_LONG):
        return message
    found = _MAXIMUM.search(message)
    if found is None:
        return _TOO_LONG + message
    maximum = int(found.group(1))
    wanted = next((int(each) for each in _NUMBER.findall(message) if int(each) > maximum), None)
    return _TOO_LONG + (message if wanted is None else f"{wanted} tokens > {maximum} maximum")
