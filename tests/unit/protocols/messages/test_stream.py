"""A Messages stream on the diagonal: what each event means, and the little that is changed in it."""

import json
from typing import Any

import pytest
from tests.unit.protocols.frames import data, frame, frames, named, passed, watcher

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.protocols.base import Said, Watcher
from tidegate.protocols.cleaning import cleaner

CUT = Failure(kind=Kind.INTERRUPTED, message="cut")


def messages(**members: Any) -> Watcher:
    return watcher(Protocol.MESSAGES, **members)


def start(usage: object = None, model: str = "public") -> bytes:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "usage": usage}
    return named({"type": "message_start", "message": message})


def block(kind: str, **members: Any) -> bytes:
    inner = {"type": kind, **members}
    return named({"type": "content_block_start", "index": 0, "content_block": inner})


def delta(kind: str, **members: Any) -> bytes:
    return named({"type": "content_block_delta", "index": 0, "delta": {"type": kind, **members}})


def message_delta(reason: str | None, usage: object = None) -> bytes:
    return named({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage})


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (start(), Said.OPENING),
        (named({"type": "message_start"}), Said.OPENING),
        (named({"type": "ping"}), Said.NOISE),
        (block("text", text=""), Said.OPENING),
        (block("text"), Said.OPENING),
        (block("text", text="a"), Said.OUTPUT),
        (block("thinking", thinking="", signature=""), Said.REASONING),
        (block("thinking", thinking="hm"), Said.OUTPUT),
        (block("thinking", thinking="", signature="s"), Said.OUTPUT),
        (block("redacted_thinking", data="x"), Said.OUTPUT),
        (block("tool_use", id="t", name="f", input={}), Said.OUTPUT),
        (block("server_tool_use", id="t", name="web_search", input={}), Said.OUTPUT),
        (block("mcp_tool_use", id="t", name="f", input={}), Said.OUTPUT),
        (block("web_search_tool_result", content=[]), Said.OUTPUT),
        (block("compaction", content=None), Said.OUTPUT),
        (block("hologram", text="a"), Said.NOISE),
        (named({"type": "content_block_start", "index": 0}), Said.NOISE),
        (delta("text_delta", text="a"), Said.OUTPUT),
        (delta("text_delta", text=""), Said.NOISE),
        (delta("thinking_delta", thinking="hm"), Said.OUTPUT),
        (delta("thinking_delta", thinking=""), Said.NOISE),
        (delta("signature_delta", signature="s"), Said.OUTPUT),
        (delta("signature_delta", signature=""), Said.NOISE),
        (delta("input_json_delta", partial_json="{"), Said.OUTPUT),
        (delta("input_json_delta", partial_json=""), Said.NOISE),
        (delta("citations_delta", citation={"type": "char_location"}), Said.OUTPUT),
        (delta("hologram_delta", beam=1), Said.NOISE),
        (named({"type": "content_block_delta", "index": 0}), Said.NOISE),
        (named({"type": "content_block_stop", "index": 0}), Said.OPENING),
        (message_delta("end_turn"), Said.OUTPUT),
        (message_delta(None, {"output_tokens": 1}), Said.OPENING),
        (named({"type": "message_delta"}), Said.OPENING),
        (named({"type": "hologram"}), Said.NOISE),
        (data({}), Said.NOISE),
    ],
)
def test_what_each_event_means(raw: bytes, said: Said) -> None:
    assert passed(messages(), raw) == ([said], raw)


def test_a_message_ends_only_after_it_has_begun() -> None:
    stop = named({"type": "message_stop"})
    assert passed(messages(), start() + stop) == ([Said.OPENING, Said.END], start() + stop)
    assert passed(messages(), block("text", text="a") + stop)[0] == [Said.OUTPUT, Said.END]
    assert passed(messages(), named({"type": "ping"}) + stop)[0] == [Said.NOISE, Said.BROKEN]


@pytest.mark.parametrize(
    "raw",
    [
        data("[DONE]"),
        b"event: done\ndata: [DONE]\n\n",
        data(""),
        b"event: ping\ndata:  \n\n",
        named({"type": "keepalive"}),
        named({"type": "done"}),
        named({"type": "response.completed"}),
        named({"type": "response.created"}),
    ],
)
def test_another_protocol_s_marks_are_dropped(raw: bytes) -> None:
    assert passed(messages(), raw) == ([Said.DROPPED], b"")


@pytest.mark.parametrize("text", ["17", "[]", "null", "<html>", '{"type":'])
def test_what_is_no_json_object_breaks_the_stream(text: str) -> None:
    reader = messages()
    assert reader.read(frame(data(text))) is Said.BROKEN
    assert reader.failure is not None
    assert reader.failure.kind is Kind.UPSTREAM


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b'data: {"type":"ping"}\n\n', b'event: ping\ndata: {"type":"ping"}\n\n'),
        (b'data:{"type":"ping"}\r\n\r\n', b'event: ping\ndata: {"type":"ping"}\n\n'),
        (b'event: other\ndata: {"type":"ping"}\n\n', b'event: ping\ndata: {"type":"ping"}\n\n'),
        (b'event: ping\ndata: {"a":1.50}\n\n', b'event: ping\ndata: {"a":1.50}\n\n'),
        (b'event:ping\r\ndata:{"type":"ping"}\r\nid: 3\r\n\r\n', None),
        (b'id: 3\ndata: {"type":"ping"}\n\n', b'event: ping\nid: 3\ndata: {"type":"ping"}\n\n'),
        (b'event: ping\n: c\nretry: 4\ndata: {"a" :1}\n\n', b'event: ping\ndata: {"a" :1}\n\n'),
        (b'event: ping\ndata: {"a":\ndata: 1}\n\n', None),
        (b'event: ping\ndata: {"a":"\xff"}\n\n', 'event: ping\ndata: {"a":"\ufffd"}\n\n'.encode()),
        (b'event: ping\ndata: {"type":"ping"}', b'event: ping\ndata: {"type":"ping"}\n\n'),
        (b'data: {"type":"x\\ndata: y"}\n\n', None),
        (b'event: e\ndata: {"type":"x\\ndata: y"}\n\n', b'data: {"type":"x\\ndata: y"}\n\n'),
    ],
)
def test_only_the_permitted_edits_are_made(raw: bytes, expected: bytes | None) -> None:
    assert passed(messages(), raw)[1] == (raw if expected is None else expected)


def test_the_model_is_renamed_in_message_start_alone() -> None:
    payload = b'{"type":"message_start", "message":{"id":1.0, "model":"up-2024" },"model":"up"}'
    raw = b"event: message_start\ndata: " + payload + b"\r\n\r\n"
    assert passed(messages(), raw)[1] == raw.replace(b'"up-2024"', b'"public"')
    assert passed(messages(), start(model="public"))[1] == start(model="public")
    other = named(
        {"type": "content_block_delta", "model": "up", "delta": {"type": "text_delta", "text": "a"}}
    )
    assert passed(messages(), other)[1] == other
    unnamed = start(model="up").split(b"\n", 1)[1]
    assert passed(messages(), unnamed)[1] == start(model="public")


@pytest.mark.parametrize(
    ("told", "counts"),
    [
        (
            [{"input_tokens": 10, "cache_read_input_tokens": 3, "output_tokens": 1}, {"output_tokens": 7}],
            Usage(input=10, cache_read=3, output=7),
        ),
        (
            [{"input_tokens": 0, "output_tokens": 1}, {"input_tokens": 9, "output_tokens": 7}],
            Usage(input=9, output=7),
        ),
        (
            [{"input_tokens": 10, "output_tokens": 1}, {"output_tokens": 5}, {"output_tokens": 7}],
            Usage(input=10, output=7),
        ),
        ([None, {"output_tokens": 7}], Usage(output=7)),
        ([None, None], None),
        ([{"input_tokens": "x"}, []], None),
    ],
)
def test_counts_are_cumulative_and_the_first_output_count_is_no_count(
    told: list[object], counts: Usage | None
) -> None:
    reader = messages()
    passed(reader, start(told[0]))
    if counts is not None and counts.input == 10:
        assert reader.usage is not None
        assert reader.usage.output is None, "what message_start tells of output is not what was produced"
    passed(reader, b"".join(message_delta("end_turn", usage) for usage in told[1:]))
    assert reader.usage == counts
    assert not reader.owes_usage


@pytest.mark.parametrize(
    ("reason", "incomplete"),
    [
        ("end_turn", False),
        ("max_tokens", True),
        ("model_context_window_exceeded", True),
        ("stop_sequence", False),
        ("tool_use", False),
        ("refusal", False),
    ],
)
def test_the_last_stop_reason_counts(reason: str, incomplete: bool) -> None:
    reader = messages()
    passed(reader, message_delta("pause_turn") + message_delta(reason) + message_delta(None))
    assert (reader.finish_reason, reader.incomplete) == (reason, incomplete)


ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "boom"}}


@pytest.mark.parametrize(
    ("raw", "kind", "type_"),
    [
        (named(ERROR), Kind.OVERLOADED, "overloaded_error"),
        (data(ERROR), Kind.OVERLOADED, "overloaded_error"),
        (
            data({"error": {"message": "boom", "type": "server_error", "code": 500}}),
            Kind.UPSTREAM,
            "api_error",
        ),
        (data({"error": "boom"}), Kind.UPSTREAM, "api_error"),
        (
            named({"type": "error", "code": "rate_limit_exceeded", "message": "boom"}),
            Kind.RATE_LIMIT,
            "rate_limit_error",
        ),
        (named({"type": "error", "error": "boom"}), Kind.UPSTREAM, "api_error"),
        (b"event: message\n" + data({"error": {"message": "boom"}}), Kind.UPSTREAM, "api_error"),
        (b"event: error\n" + data({"message": "boom"}), Kind.UPSTREAM, "api_error"),
        (
            named({"type": "response.failed", "response": {"error": {"code": "x", "message": "boom"}}}),
            Kind.UPSTREAM,
            "api_error",
        ),
    ],
)
def test_errors_of_every_shape_are_told_as_clients_read_them(raw: bytes, kind: Kind, type_: str) -> None:
    reader = messages()
    said, out = passed(reader, raw)
    assert said == [Said.ERROR]
    assert reader.failure is not None
    assert reader.failure.kind is kind
    told = frame(out)
    assert told.event == b"error"
    assert json.loads(told.data) == {"type": "error", "error": {"type": type_, "message": "boom"}}


def test_an_error_in_the_usual_form_keeps_its_bytes() -> None:
    payload = b'{"error":{"message":"boom","type":"api_error"}, "type":"error","x":1.50}'
    raw = b"event: error\r\ndata: " + payload + b"\r\n\r\n"
    assert passed(messages(), raw)[1] == raw


def test_an_error_is_cleaned_in_every_form() -> None:
    clean = cleaner(secrets=("upstream-credential-1",))
    said = "bad upstream-credential-1 key"
    shapes = [{"type": "error", "error": {"type": "api_error", "message": said}}, {"error": said}]
    for shape in shapes:
        out = passed(watcher(Protocol.MESSAGES, clean), data(shape))[1]
        assert json.loads(frame(out).data)["error"]["message"] == "bad [redacted] key"


def test_the_gateway_s_own_error_and_nothing_at_the_end() -> None:
    reader = messages()
    [told] = frames(reader.error_event(CUT))
    assert told.event == b"error"
    assert json.loads(told.data) == {"type": "error", "error": {"type": "api_error", "message": "cut"}}
    assert reader.closing(None) == reader.closing(Usage(input=1, output=1)) == b""


def test_all_output_is_text_for_an_estimate() -> None:
    reader = messages(stores=True)
    raw = block("thinking", thinking="t") + delta("thinking_delta", thinking="h") + block("text", text="x")
    raw += (
        delta("text_delta", text="y")
        + block("tool_use", name="f")
        + delta("input_json_delta", partial_json="{}")
    )
    passed(reader, raw + delta("signature_delta", signature="secret"))
    assert reader.text() == "thxyf{}"
    assert reader.ids == []
