"""Requests, and what upstreams say, in the words of the protocols."""

import json
from typing import Any

from tests.unit.exchange.scene import FakeCall, Play

from tidegate.core.failure import Failure

ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "one two three"}]}
STREAM = {**ASK, "stream": True}
WITH_USAGE = {**STREAM, "stream_options": {"include_usage": True}}
MESSAGES = {**ASK, "max_tokens": 9}
RESPONSES: dict[str, Any] = {"model": "m", "input": "one two three"}
DONE = b"data: [DONE]\n\n"


def event(value: dict[str, Any]) -> bytes:
    name = f"event: {value['type']}\n" if "type" in value else ""
    return f"{name}data: {json.dumps(value)}\n\n".encode()


def chunk(delta: dict[str, Any], finish: str | None = None, **members: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return event({"id": "c1", "model": "m", "choices": [choice], **members})


ROLE = chunk({"role": "assistant", "content": ""})
HELLO = chunk({"content": "hello there"})
STOP = chunk({}, "stop")
USAGE = event(
    {"id": "c1", "model": "m", "choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
)
WHOLE: dict[str, Any] = {
    "id": "c1",
    "object": "chat.completion",
    "model": "m",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "hello there"}, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 7, "completion_tokens": 2},
}


def says(*events: bytes, end: bool = True) -> Play:
    """Accept, and say the events in one read each."""

    def play(call: FakeCall) -> None:
        call.head()
        call.body(*events)
        if end:
            call.end()

    return play


def breaks(failure: Failure, *events: bytes) -> Play:
    """Accept if there is something to say, then break."""

    def play(call: FakeCall) -> None:
        if events:
            call.head()
            call.body(*events)
        call.fail(failure)

    return play


def refuses(status: int, message: str = "no", **headers: str) -> Play:
    """Answer with an error."""
    body = json.dumps({"error": {"message": message, "type": "invalid_request_error", "code": None}})
    return lambda call: call.answer(status, body.encode(), **headers)


def answers(value: object) -> Play:
    """Answer with JSON."""
    return lambda call: call.answer(200, json.dumps(value).encode())
