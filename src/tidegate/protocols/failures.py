"""What every dialect says of a failure in the same way: the standard sentence, the headers."""

import math

from tidegate.core.failure import Failure, Fault, Kind, fault

_MESSAGES = {
    Kind.INVALID_REQUEST: "The request is not valid.",
    Kind.CONTEXT_LENGTH: "The request exceeds the context length of the model.",
    Kind.CONTENT_POLICY: "The request was rejected by the safety system.",
    Kind.UNSUPPORTED_PARAMETER: "A parameter of the request is not supported by this model.",
    Kind.UNSUPPORTED_VALUE: "A value in the request is not supported by this model.",
    Kind.RESPONSE_NOT_FOUND: "The previous response was not found.",
    Kind.CLIENT_AUTH: "Incorrect API key provided.",
    Kind.PERMISSION: "This key may not use the model.",
    Kind.BILLING: "The balance does not cover this request.",
    Kind.MODEL_NOT_FOUND: "The model does not exist.",
    Kind.ROUTE_NOT_FOUND: "There is nothing at this address.",
    Kind.METHOD_NOT_ALLOWED: "This address does not accept the method.",
    Kind.BODY_TIMEOUT: "The request body did not arrive in time.",
    Kind.BODY_TOO_LARGE: "Request exceeds the maximum size.",
    Kind.HEADERS_TOO_LARGE: "The request headers exceed the maximum size.",
    Kind.RATE_LIMIT: "Rate limit reached for requests.",
    Kind.OVERLOADED: "Overloaded",
    Kind.TIMEOUT: "upstream timed out",
    Kind.CHANNEL_AUTH: "Upstream rejected the channel credentials.",
    Kind.UPSTREAM: "The upstream failed to answer the request.",
    Kind.INTERRUPTED: "upstream failed after the response had started",
    Kind.NO_CHANNEL: "No channel is available for this model.",
    Kind.DRAINING: "The server is shutting down.",
    Kind.ACCOUNTING: "The server cannot book the request now.",
    Kind.INTERNAL: "The server had an internal error.",
}
_ASKS_FOR_PATIENCE = frozenset(
    {Kind.RATE_LIMIT, Kind.OVERLOADED, Kind.NO_CHANNEL, Kind.DRAINING, Kind.ACCOUNTING}
)
_DEFAULT_RETRY_AFTER = 2.0
_MOVES_ON_FREE_OF_BLAME = frozenset({409, 425})


def default_message(kind: Kind) -> str:
    """The sentence for a caller where nobody has better words."""
    return _MESSAGES[kind]


def failed(kind: Kind, detail: str | None = None) -> Failure:
    """A failure in the standard words; `detail` is for the operator."""
    return Failure(kind=kind, message=_MESSAGES[kind], detail=detail)


def error_headers(failure: Failure) -> list[tuple[str, str]]:
    """The headers that go with an error answer: `retry-after` in whole seconds, and an upstream's hints."""
    headers = []
    wait = failure.retry_after
    if wait is None and failure.kind in _ASKS_FOR_PATIENCE:
        wait = _DEFAULT_RETRY_AFTER
    if wait is not None:
        headers.append(("retry-after", str(math.ceil(wait))))
    if failure.retry_after_ms is not None:
        headers.append(("retry-after-ms", failure.retry_after_ms))
    if failure.should_retry is not None:
        headers.append(("x-should-retry", failure.should_retry))
    if failure.allow is not None:
        headers.append(("allow", failure.allow))
    return headers


def counts_against_channel(status: int | None, failure: Failure) -> bool:
    """Whether a failed attempt is held against the channel; `status` is the upstream's, None where none came.

    The request's own faults are not, and neither are 409 and 425, which only tell of bad timing.
    """
    return status not in _MOVES_ON_FREE_OF_BLAME and fault(failure.kind) is not Fault.CLIENT
