"""What the mock upstream says in each protocol, made in advance so that an event costs it next to nothing."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

MARK = b'"@'
"""Stands before the time stamp in the text of every counted event, in all three protocols."""
STAMP_WIDTH = 16
"""Digits of the time stamp: microseconds of the machine's monotonic clock."""
WAIT_WIDTH = 8
"""After it, behind a slash: how long the mock let the first event wait for its turn, in microseconds."""

INPUT_TOKENS = 48
"""What the mock says that a request's prompt has; its output has a token for each counted event."""

PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}
END_MARKS = {
    "chat": b"data: [DONE]",
    "responses": b'"type":"response.completed"',
    "messages": b"event: message_stop",
}

_PLACE = "@" + "0" * STAMP_WIDTH + "/" + "0" * WAIT_WIDTH
_WORD = " and so"
_ASK = (
    "Explain in a few short paragraphs why the tides differ from coast to coast, and what a tide table says."
)
_BRIEF = "You are a helpful assistant. Answer briefly, and say when you are not sure."


class Script(Struct, frozen=True):
    """One answer as chunks of HTTP/1.1: written as they are, but for the time stamp between head and tail."""

    opening: bytes
    """Response head and the protocol's preamble."""
    deltas: tuple[tuple[bytes, bytes], ...]
    """Per counted event: what stands before and after its time stamp and wait."""
    closing: bytes
    """Finish, usage, end mark and the last chunk."""


def upstream_model(name: str) -> str:
    """The name by which the mock knows a workload: a dated one, unlike the public name, as providers do."""
    return f"mock-{name}-2026-01-01"


def ask(protocol: str, model: str) -> bytes:
    """A small, realistic request body for a stream."""
    body: dict[str, Any] = {"model": model, "stream": True}
    turn = [{"role": "user", "content": _ASK}]
    match protocol:
        case "chat":
            body |= {"stream_options": {"include_usage": True}, "temperature": 0.7, "max_tokens": 1024}
            body |= {"messages": [{"role": "system", "content": _BRIEF}, *turn]}
        case "messages":
            body |= {"max_tokens": 1024, "system": _BRIEF, "messages": turn}
        case _:
            body |= {"max_output_tokens": 1024, "store": False, "instructions": _BRIEF, "input": turn}
    return msgspec.json.encode(body)


def script(protocol: str, model: str, events: int, *, word: str = "") -> Script:
    """The answer of `model` with `events` counted events, and before them a `word` that is not counted.

    Where a converted answer repeats its whole text, that text begins with the word and not with a mark.
    """
    before, delta, after = _DIALECTS[protocol](model, events, word)
    pieces = []
    for number in range(events):
        head, tail = _chunk(delta(number)).split(_PLACE.encode())
        pieces.append((head + b"@", tail))
    opening = _HEAD + b"".join(_chunk(frame) for frame in before)
    closing = b"".join(_chunk(frame) for frame in after) + b"0\r\n\r\n"
    return Script(opening, tuple(pieces), closing)


_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n"
    b"x-request-id: req_0123456789abcdef\r\ntransfer-encoding: chunked\r\n\r\n"
)


def _chunk(payload: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(payload), payload)


def _frame(body: dict[str, Any], *, named: bool) -> bytes:
    event = b"event: %b\n" % body["type"].encode() if named else b""
    return event + b"data: " + msgspec.json.encode(body) + b"\n\n"


_Told = tuple[Sequence[bytes], Callable[[int], bytes], Sequence[bytes]]


def _chat(model: str, events: int, word: str) -> _Told:
    shell = {
        "id": "chatcmpl-CJ7dN2mQ4pXb8sYtVw1uRk5aE0hGz",
        "object": "chat.completion.chunk",
        "created": 1767225600,
        "model": model,
        "service_tier": "default",
        "system_fingerprint": "fp_560af6e559",
    }

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _frame({**shell, "choices": [choice], "usage": None}, named=False)

    usage = {
        "prompt_tokens": INPUT_TOKENS,
        "completion_tokens": events,
        "total_tokens": INPUT_TOKENS + events,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }
    return (
        [
            chunk({"role": "assistant", "content": "", "refusal": None}),
            *([chunk({"content": word})] * bool(word)),
        ],
        lambda _: chunk({"content": _PLACE + _WORD}),
        [
            chunk({}, "stop"),
            _frame({**shell, "choices": [], "usage": usage}, named=False),
            b"data: [DONE]\n\n",
        ],
    )


def _messages(model: str, events: int, word: str) -> _Told:
    usage = {"input_tokens": INPUT_TOKENS, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    message: dict[str, Any] = {
        "id": "msg_01XFDUDYJgAACzvnptvVoYEL",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1, "service_tier": "standard"},
    }
    block = {"type": "text", "text": ""}
    stop = {"stop_reason": "end_turn", "stop_sequence": None}

    def frame(kind: str, **members: Any) -> bytes:
        return _frame({"type": kind, **members}, named=True)

    def said(text: str) -> bytes:
        return frame("content_block_delta", index=0, delta={"type": "text_delta", "text": text})

    opening = [
        frame("message_start", message=message),
        frame("content_block_start", index=0, content_block=block),
    ]
    return (
        [*opening, *([said(word)] * bool(word))],
        lambda _: said(_PLACE + _WORD),
        [
            frame("content_block_stop", index=0),
            frame("message_delta", delta=stop, usage={**usage, "output_tokens": events}),
            frame("message_stop"),
        ],
    )


def _responses(model: str, events: int, word: str) -> _Told:
    item_id = "msg_68e0f1c2a5b48193a7d4"
    shell = {
        "id": "resp_68e0f1c2a4d08193b3c1",
        "object": "response",
        "created_at": 1767225600,
        "error": None,
        "incomplete_details": None,
        "model": model,
        "instructions": _BRIEF,
        "max_output_tokens": 1024,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "store": False,
        "tool_choice": "auto",
        "tools": [],
        "metadata": {},
    }
    place = {"item_id": item_id, "output_index": 0, "content_index": 0}
    text = word + (_PLACE.replace("@", "") + _WORD) * events
    first = 4 + bool(word)

    def frame(kind: str, number: int, **members: Any) -> bytes:
        return _frame({"type": f"response.{kind}", "sequence_number": number, **members}, named=True)

    def delta(number: int, said: str = _PLACE + _WORD) -> bytes:
        return frame("output_text.delta", number + first, **place, delta=said, logprobs=[])

    def part(words: str) -> dict[str, Any]:
        return {"type": "output_text", "text": words, "annotations": [], "logprobs": []}

    def item(status: str, *parts: dict[str, Any]) -> dict[str, Any]:
        return {"id": item_id, "type": "message", "status": status, "role": "assistant", "content": parts}

    usage = {
        "input_tokens": INPUT_TOKENS,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": events,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": INPUT_TOKENS + events,
    }
    going = {**shell, "status": "in_progress", "output": [], "usage": None}
    done = {**shell, "status": "completed", "output": [item("completed", part(text))], "usage": usage}
    last = events + first
    return (
        [
            frame("created", 0, response=going),
            frame("in_progress", 1, response=going),
            frame("output_item.added", 2, output_index=0, item=item("in_progress")),
            frame("content_part.added", 3, **place, part=part("")),
            *([delta(-1, word)] * bool(word)),
        ],
        delta,
        [
            frame("output_text.done", last, **place, text=text, logprobs=[]),
            frame("content_part.done", last + 1, **place, part=part(text)),
            frame("output_item.done", last + 2, output_index=0, item=item("completed", part(text))),
            frame("completed", last + 3, response=done),
        ],
    )


_DIALECTS: dict[str, Callable[[str, int, str], _Told]] = {
    "chat": _chat,
    "messages": _messages,
    "responses": _responses,
}
