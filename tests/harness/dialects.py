"""The three protocols as a test sees them: requests, good streams, whole answers, errors."""

from dataclasses import dataclass
from typing import Any, Protocol

from tests.harness import notation as n
from tests.harness.client import Reply
from tests.harness.notation import Json
from tests.harness.sse import Event, Stream

FAILED = "upstream failed after the response had started"
TIMED_OUT = "upstream timed out after the response had started"


@dataclass(frozen=True)
class Script:
    """A good upstream stream in three parts: not useful yet, one delta a piece, the end."""

    opening: list[bytes]
    deltas: list[bytes]
    closing: list[bytes]

    @property
    def all(self) -> list[bytes]:
        return self.opening + self.deltas + self.closing

    def bytes(self) -> bytes:
        return b"".join(self.all)


@dataclass(frozen=True)
class Refusal:
    """A row of the table of errors: OpenAI status, type and code, then Anthropic status and type."""

    status: int
    type: str
    code: str
    messages_status: int
    messages_type: str


AUTH = Refusal(401, "invalid_request_error", "invalid_api_key", 401, "authentication_error")
NOT_ALLOWED = Refusal(403, "permission_error", "model_not_allowed", 403, "permission_error")
NO_MODEL = Refusal(404, "invalid_request_error", "model_not_found", 404, "not_found_error")
NO_ROUTE = Refusal(404, "invalid_request_error", "not_found", 404, "not_found_error")
WRONG_METHOD = Refusal(405, "invalid_request_error", "method_not_allowed", 405, "invalid_request_error")
BAD_REQUEST = Refusal(400, "invalid_request_error", "invalid_request", 400, "invalid_request_error")
UNSUPPORTED = Refusal(400, "invalid_request_error", "unsupported_parameter", 400, "invalid_request_error")
NO_RESPONSE = Refusal(400, "invalid_request_error", "previous_response_not_found", 400, "-")
SLOW_BODY = Refusal(408, "invalid_request_error", "request_timeout", 408, "timeout_error")
TOO_LARGE = Refusal(413, "invalid_request_error", "request_too_large", 413, "request_too_large")
BIG_HEADERS = Refusal(431, "invalid_request_error", "headers_too_large", 431, "invalid_request_error")
RATE_LIMIT = Refusal(429, "rate_limit_error", "rate_limit_exceeded", 429, "rate_limit_error")
UPSTREAM = Refusal(502, "api_error", "upstream_error", 502, "api_error")
CHANNEL_AUTH = Refusal(502, "api_error", "upstream_auth_error", 502, "api_error")
OVERLOADED = Refusal(503, "overloaded_error", "overloaded", 529, "overloaded_error")
NO_CHANNEL = Refusal(503, "api_error", "no_available_channel", 503, "api_error")
TIMEOUT = Refusal(504, "api_error", "upstream_timeout", 504, "timeout_error")


class Side(Protocol):
    """One protocol. `tag` begins the model names of its channels; usage of good answers is `COUNTS`."""

    name: str
    tag: str
    path: str
    upstream_path: str
    """Below the channel's base URL."""

    def request(self, model: str, *, stream: bool = True, **extra: Any) -> Json: ...
    def script(self, model: str = "up", pieces: tuple[str, ...] = ("Hel", "lo")) -> Script: ...
    def whole(self, model: str = "up", text: str = "Hello") -> Json: ...
    def text(self, stream: Stream) -> str: ...
    def whole_text(self, answer: Any) -> str: ...
    def is_end(self, event: Event) -> bool: ...
    def error_of(self, event: Event) -> Json | None: ...
    def stream_error(self, refusal: Refusal) -> Json: ...
    def check_interrupted(self, stream: Stream, message: str = FAILED) -> None: ...
    def error_body(self, message: str, type: str, code: str | None = None) -> Json: ...
    def error_event(self, message: str = "boom") -> bytes: ...


FRESH, CACHED, OUTPUT = 10, 3, 7
"""The usage that every good answer tells."""


class _OpenAI:
    def error_body(self, message: str, type: str, code: str | None = None) -> Json:
        """An error as this protocol's provider writes it."""
        return {"error": {"message": message, "type": type, "param": None, "code": code}}


class Chat(_OpenAI):
    name, tag = "chat", "chat"
    path = "/v1/chat/completions"
    upstream_path = "/v1/chat/completions"

    def request(self, model: str, *, stream: bool = True, **extra: Any) -> Json:
        """Asks for usage in a stream, unless `stream_options` is given (None leaves it out)."""
        messages = [{"role": "user", "content": "Say hello."}]
        if stream:
            extra = {"stream_options": {"include_usage": True}} | extra
        extra = {name: value for name, value in extra.items() if (name, value) != ("stream_options", None)}
        return {"model": model, "stream": stream, "messages": messages, **extra}

    def script(self, model: str = "up", pieces: tuple[str, ...] = ("Hel", "lo")) -> Script:
        return Script(
            [n.k({"role": "assistant", "content": ""}, model=model)],
            [n.k({"content": piece}, model=model) for piece in pieces],
            [n.k({}, "stop", model=model), n.u(CHAT_USAGE, model), n.DONE],
        )

    def whole(self, model: str = "up", text: str = "Hello") -> Json:
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": model,
            "choices": [choice],
            "usage": CHAT_USAGE,
        }

    def text(self, stream: Stream) -> str:
        choices = [choice for value in stream.json() for choice in value.get("choices") or ()]
        return "".join(choice["delta"].get("content") or "" for choice in choices)

    def whole_text(self, answer: Any) -> str:
        return str(answer["choices"][0]["message"]["content"])

    def is_end(self, event: Event) -> bool:
        return event.data == "[DONE]"

    def error_of(self, event: Event) -> Json | None:
        return None if event.data == "[DONE]" else event.json().get("error")

    def stream_error(self, refusal: Refusal) -> Json:
        return {"type": refusal.type, "code": refusal.code}

    def check_interrupted(self, stream: Stream, message: str = FAILED) -> None:
        last = stream.events[-1]
        error = {"message": message, "type": "api_error", "code": "stream_interrupted"}
        assert last.name is None
        assert last.json() == {"error": error}
        assert not any(self.is_end(event) for event in stream.events)

    def error_event(self, message: str = "boom") -> bytes:
        return n.data({"error": {"message": message, "type": "server_error", "code": None}})


class Responses(_OpenAI):
    name, tag = "responses", "resp"
    path = "/v1/responses"
    upstream_path = "/v1/responses"

    def request(self, model: str, *, stream: bool = True, **extra: Any) -> Json:
        return {"model": model, "stream": stream, "input": "Say hello.", **extra}

    def script(self, model: str = "up", pieces: tuple[str, ...] = ("Hel", "lo")) -> Script:
        whole = "".join(pieces)
        opening = [n.created(model), n.in_progress(model), n.added(n.message_item()), n.part_added()]
        deltas = [n.text_delta(piece) for piece in pieces]
        output = [n.message_item(whole, "completed")]
        final = n.response("completed", model=model, output=output, usage=RESPONSES_USAGE)
        events = n.r(*opening, *deltas, *n.text_done(whole), ("response.completed", final))
        start, end = len(opening), len(opening) + len(deltas)
        return Script(events[:start], events[start:end], events[end:])

    def whole(self, model: str = "up", text: str = "Hello") -> Json:
        output = [n.message_item(text, "completed")]
        answer = n.response("completed", model=model, output=output, usage=RESPONSES_USAGE)
        response: Json = answer["response"]
        return response

    def text(self, stream: Stream) -> str:
        deltas = [value for value in stream.json() if value["type"] == "response.output_text.delta"]
        return "".join(delta["delta"] for delta in deltas)

    def whole_text(self, answer: Any) -> str:
        return str(answer["output"][0]["content"][0]["text"])

    def is_end(self, event: Event) -> bool:
        return event.json()["type"] in ("response.completed", "response.incomplete")

    def error_of(self, event: Event) -> Json | None:
        value = event.json()
        match value["type"]:
            case "response.failed":
                error: Json = value["response"]["error"]
                return error
            case "error":
                return dict(value)
            case _:
                return None

    def stream_error(self, refusal: Refusal) -> Json:
        limited = refusal.type == "rate_limit_error"
        return {"code": "rate_limit_exceeded" if limited else "server_error"}

    def check_interrupted(self, stream: Stream, message: str = FAILED) -> None:
        values = stream.json()
        last = values[-1]
        before = values[-2]
        assert stream.events[-1].name == last["type"] == "response.failed"
        assert last["sequence_number"] == before["sequence_number"] + 1
        response = last["response"]
        assert response["id"] == values[0]["response"]["id"]
        assert response["object"] == "response"
        assert response["status"] == "failed"
        assert response["output"] == []
        assert response["error"] == {"code": "server_error", "message": message}

    def error_event(self, message: str = "boom") -> bytes:
        error = {"code": "server_error", "message": message}
        return n.r(("response.failed", n.response("failed", error=error)), start=5)[0]


class Messages:
    name, tag = "messages", "msgs"
    path = "/v1/messages"
    upstream_path = "/v1/messages"

    def request(self, model: str, *, stream: bool = True, **extra: Any) -> Json:
        messages = [{"role": "user", "content": "Say hello."}]
        return {"model": model, "stream": stream, "max_tokens": 100, "messages": messages, **extra}

    def script(self, model: str = "up", pieces: tuple[str, ...] = ("Hel", "lo")) -> Script:
        return Script(
            [n.ms({**MESSAGES_USAGE, "output_tokens": 1}, model=model), n.bs(0, "text"), n.ping],
            [n.bd(0, n.text(piece)) for piece in pieces],
            [n.be(0), n.md("end_turn", {"output_tokens": OUTPUT}), n.me],
        )

    def whole(self, model: str = "up", text: str = "Hello") -> Json:
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": MESSAGES_USAGE,
        }

    def text(self, stream: Stream) -> str:
        deltas = [value["delta"] for value in stream.json() if value["type"] == "content_block_delta"]
        return "".join(delta.get("text", "") for delta in deltas)

    def whole_text(self, answer: Any) -> str:
        return str(answer["content"][0]["text"])

    def is_end(self, event: Event) -> bool:
        return event.name == "message_stop"

    def error_of(self, event: Event) -> Json | None:
        value = event.json()
        return value["error"] if value["type"] == "error" else None

    def stream_error(self, refusal: Refusal) -> Json:
        return {"type": refusal.messages_type}

    def check_interrupted(self, stream: Stream, message: str = FAILED) -> None:
        last = stream.events[-1]
        assert last.name == "error"
        assert last.json() == {"type": "error", "error": {"type": "api_error", "message": message}}
        assert not any(self.is_end(event) for event in stream.events)

    def error_body(self, message: str, type: str, code: str | None = None) -> Json:
        return {"type": "error", "error": {"type": type, "message": message}, "request_id": "req_up"}

    def error_event(self, message: str = "boom") -> bytes:
        return n.aerr("api_error", message)


CHAT_USAGE: Json = {
    "prompt_tokens": FRESH + CACHED,
    "completion_tokens": OUTPUT,
    "total_tokens": FRESH + CACHED + OUTPUT,
    "prompt_tokens_details": {"cached_tokens": CACHED},
}
RESPONSES_USAGE: Json = {
    "input_tokens": FRESH + CACHED,
    "input_tokens_details": {"cached_tokens": CACHED, "cache_write_tokens": 0},
    "output_tokens": OUTPUT,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": FRESH + CACHED + OUTPUT,
}
MESSAGES_USAGE: Json = {
    "input_tokens": FRESH,
    "cache_read_input_tokens": CACHED,
    "cache_creation_input_tokens": 0,
    "output_tokens": OUTPUT,
}

CHAT, RESPONSES, MESSAGES = Chat(), Responses(), Messages()
SIDES: tuple[Side, ...] = (CHAT, RESPONSES, MESSAGES)


def check_refusal(side: Side, reply: Reply, refusal: Refusal) -> Json:
    """The whole form of an error before the stream; returns the `error` object."""
    messages = side.name == "messages"
    assert reply.status == (refusal.messages_status if messages else refusal.status), reply.body
    error = check_error_form(side, reply)
    if messages:
        assert error["type"] == refusal.messages_type
    else:
        assert (error["type"], error["code"]) == (refusal.type, refusal.code)
    if reply.status in (429, 503, 529):
        assert float(reply.header("retry-after") or "-1") >= 0
    return error


def check_error_form(side: Side, reply: Reply) -> Json:
    """The envelope of the protocol: exactly its members, a readable message, its request id."""
    assert (reply.header("content-type") or "").startswith("application/json")
    assert reply.header("x-request-id")
    body = reply.json()
    error: Json = body["error"]
    if side.name == "messages":
        assert set(body) == {"type", "error", "request_id"}
        assert body["type"] == "error"
        assert body["request_id"] == reply.header("request-id")
        assert {"type", "message"} <= set(error)
    else:
        assert set(body) == {"error"}
        assert set(error) == {"message", "type", "param", "code"}
    assert isinstance(error["message"], str)
    assert error["message"]
    return error
