"""Errors as Responses tells them, and what a channel's errors mean."""

from collections.abc import Mapping

from tidegate.core.failure import Failure, Fault, Kind, fault
from tidegate.core.protocol import Protocol
from tidegate.protocols import openai_errors, refusals
from tidegate.protocols.loose import encoded

_STREAM_CODES = {
    Kind.CONTEXT_LENGTH: "context_length_exceeded",
    Kind.RATE_LIMIT: "rate_limit_exceeded",
}


def error_answer(failure: Failure, request_id: str) -> tuple[int, bytes]:
    """Status and JSON body of a refusal before the stream; the id travels in a header."""
    del request_id
    return openai_errors.error_answer(failure, Protocol.RESPONSES)


def failed_event(
    failure: Failure, *, sequence_number: int, response_id: str, model: str, created_at: int, opened: bool
) -> bytes:
    """The event that ends a stream in failure, with the next number; nothing may follow it.

    SDKs accept no event before `response.created`, so that goes first where nothing has been `opened`.
    """
    response: dict[str, object] = {
        "id": response_id,
        "object": "response",
        "created_at": created_at,
        "status": "failed",
        "error": {"code": stream_code(failure), "message": failure.message},
        "incomplete_details": None,
        "model": model,
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None,
    }
    if opened:
        return _event("response.failed", sequence_number, response)
    created = response | {"status": "in_progress", "error": None}
    return _event("response.created", sequence_number, created) + _event(
        "response.failed", sequence_number + 1, response
    )


def stream_code(failure: Failure) -> str:
    """The code inside a stream: an upstream's own in this protocol's words, else by the kind."""
    if failure.origin is Protocol.RESPONSES and failure.status is None and failure.code is not None:
        return failure.code
    refused = fault(failure.kind) is Fault.CLIENT
    return _STREAM_CODES.get(failure.kind, "invalid_prompt" if refused else "server_error")


def read_refusal(status: int, headers: Mapping[str, str], body: bytes, now: float) -> Failure:
    """What an answer with a status other than 2xx means; see `refusals.read_refusal`."""
    return refusals.read_refusal(Protocol.RESPONSES, status, headers, body, now)


def read_error_event(payload: object) -> Failure:
    """What `response.failed` or `error`, or an error in an answer's place, means; `payload` decoded."""
    return refusals.read_error_event(Protocol.RESPONSES, payload)


def _event(name: str, number: int, response: dict[str, object]) -> bytes:
    body = {"type": name, "sequence_number": number, "response": response}
    return b"event: " + name.encode() + b"\ndata: " + encoded(body) + b"\n\n"
