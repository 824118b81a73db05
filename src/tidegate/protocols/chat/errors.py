"""Errors as Chat Completions tells them, and what a channel's errors mean."""

from collections.abc import Mapping

from tidegate.core.failure import Failure
from tidegate.core.protocol import Protocol
from tidegate.protocols import openai_errors, refusals
from tidegate.protocols.loose import encoded


def error_answer(failure: Failure, request_id: str) -> tuple[int, bytes]:
    """Status and JSON body of a refusal before the stream; the id travels in a header."""
    del request_id
    return openai_errors.error_answer(failure, Protocol.CHAT)


def error_event(failure: Failure) -> bytes:
    """The event that ends a stream in failure; nothing may follow it. Chat has no `event:` lines.

    `param` is there only where one is told (conversion.md §10).
    """
    words = openai_errors.event_words(failure, Protocol.CHAT)
    error: dict[str, object] = {"message": failure.message, "type": words.type}
    if words.param is not None:
        error["param"] = words.param
    error["code"] = words.code
    return b"data: " + encoded({"error": error}) + b"\n\n"


def read_refusal(status: int, headers: Mapping[str, str], body: bytes, now: float) -> Failure:
    """What an answer with a status other than 2xx means; see `refusals.read_refusal`."""
    return refusals.read_refusal(Protocol.CHAT, status, headers, body, now)


def read_error_event(payload: object) -> Failure:
    """What an error object in a chunk's or an answer's place means; `payload` is its decoded JSON."""
    return refusals.read_error_event(Protocol.CHAT, payload)
