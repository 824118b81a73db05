"""The closed list of things that can go wrong with a request, and whose fault each is."""

from enum import Enum
from typing import assert_never

from msgspec import Struct

from tidegate.core.protocol import Protocol


class Kind(Enum):
    """What went wrong. The value is the label in logs and metrics."""

    INVALID_REQUEST = "invalid_request"
    CONTEXT_LENGTH = "context_length"
    CONTENT_POLICY = "content_policy"
    UNSUPPORTED_PARAMETER = "unsupported_parameter"
    UNSUPPORTED_VALUE = "unsupported_value"
    RESPONSE_NOT_FOUND = "previous_response_not_found"
    CLIENT_AUTH = "client_auth"
    PERMISSION = "permission"
    BILLING = "billing"
    MODEL_NOT_FOUND = "model_not_found"
    ROUTE_NOT_FOUND = "route_not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    BODY_TIMEOUT = "body_timeout"
    BODY_TOO_LARGE = "body_too_large"
    HEADERS_TOO_LARGE = "headers_too_large"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    TIMEOUT = "timeout"
    CHANNEL_AUTH = "channel_auth"
    UPSTREAM = "upstream"
    INTERRUPTED = "interrupted"
    NO_CHANNEL = "no_channel"
    DRAINING = "draining"
    ACCOUNTING = "accounting"
    INTERNAL = "internal"


class Fault(Enum):
    """Who has to act for the same request to succeed."""

    CLIENT = "client"
    UPSTREAM = "upstream"
    GATEWAY = "gateway"


class Failure(Struct, frozen=True, kw_only=True):
    """One thing that went wrong, told in words that a caller may read.

    `message` holds no secret and no host. `type`, `code` and `param` are an upstream's own words in the
    vocabulary of `origin`, kept on the same provider family; without `origin` the kind decides. `details` are
    members for programs that Messages alone has beside them. `status` is that of an upstream that refused the
    request itself.
    `retry_after` is in seconds. `retry_after_ms` and `should_retry` are an upstream's headers, verbatim.
    `allow` is the value of the header of that name for a wrong method.
    """

    kind: Kind
    message: str
    status: int | None = None
    type: str | None = None
    code: str | None = None
    param: str | None = None
    details: tuple[tuple[str, object], ...] = ()
    origin: Protocol | None = None
    retry_after: float | None = None
    retry_after_ms: str | None = None
    should_retry: str | None = None
    allow: str | None = None
    detail: str | None = None
    """What only the operator may read (the row of the attempt, the log): still without secrets."""


class TidegateError(Exception):
    """Carries a failure across I/O code; caught once at each border."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def fault(kind: Kind) -> Fault:
    """Whose fault a kind of failure is; the request's own faults are never tried on another channel."""
    match kind:
        case (
            Kind.INVALID_REQUEST
            | Kind.CONTEXT_LENGTH
            | Kind.CONTENT_POLICY
            | Kind.UNSUPPORTED_PARAMETER
            | Kind.UNSUPPORTED_VALUE
            | Kind.RESPONSE_NOT_FOUND
            | Kind.CLIENT_AUTH
            | Kind.PERMISSION
            | Kind.BILLING
            | Kind.MODEL_NOT_FOUND
            | Kind.ROUTE_NOT_FOUND
            | Kind.METHOD_NOT_ALLOWED
            | Kind.BODY_TIMEOUT
            | Kind.BODY_TOO_LARGE
            | Kind.HEADERS_TOO_LARGE
        ):
            return Fault.CLIENT
        case (
            Kind.RATE_LIMIT
            | Kind.OVERLOADED
            | Kind.TIMEOUT
            | Kind.CHANNEL_AUTH
            | Kind.UPSTREAM
            | Kind.INTERRUPTED
        ):
            return Fault.UPSTREAM
        case Kind.NO_CHANNEL | Kind.DRAINING | Kind.ACCOUNTING | Kind.INTERNAL:
            return Fault.GATEWAY
        case _ as never:
            assert_never(never)
