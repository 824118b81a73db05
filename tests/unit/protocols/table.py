"""The error forms as callers must see them, and the failures behind them."""

import json
from typing import Any

from tests.unit.protocols.answers import FIXTURES

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.failures import failed

FAILURES = [
    Failure(
        kind=Kind.INVALID_REQUEST,
        message="messages: at least one message is required",
        status=400,
        origin=Protocol.CHAT,
        type="invalid_request_error",
    ),
    failed(Kind.CLIENT_AUTH),
    failed(Kind.CHANNEL_AUTH),
    failed(Kind.BILLING),
    Failure(kind=Kind.PERMISSION, message="This key may not use model MODEL_ID."),
    Failure(kind=Kind.MODEL_NOT_FOUND, message="The model `MODEL_ID` does not exist."),
    failed(Kind.BODY_TOO_LARGE),
    failed(Kind.RATE_LIMIT),
    Failure(
        kind=Kind.CONTEXT_LENGTH,
        message="This model's maximum context length is 200000 tokens, but the request has 210000.",
        status=400,
        origin=Protocol.CHAT,
        code="context_length_exceeded",
        param="messages",
    ),
    failed(Kind.CONTENT_POLICY),
    Failure(kind=Kind.UPSTREAM, message="The server had an error while processing your request."),
    failed(Kind.OVERLOADED),
    failed(Kind.TIMEOUT),
    Failure(kind=Kind.NO_CHANNEL, message="No channel is available for model MODEL_ID."),
    Failure(
        kind=Kind.UNSUPPORTED_PARAMETER,
        message="`n` greater than 1 cannot be served by this model.",
        param="n",
    ),
]


def rows(protocol: str) -> list[tuple[Failure, int, Any, dict[str, str]]]:
    """Failure, status, body and headers of each row of the table."""
    table = json.loads((FIXTURES / "answers" / "errors.json").read_text().replace("{{req_1}}", "req_1"))
    return [
        (failure, row[protocol]["status"], row[protocol]["body"], row.get("headers", {}))
        for failure, row in zip(FAILURES, table, strict=True)
    ]
