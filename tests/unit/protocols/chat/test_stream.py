"""A Chat stream on the diagonal: what each chunk means, and the little that is changed in it."""

import json
from typing import Any

import pytest
from tests.unit.protocols.frames import SEED, data, frame, frames, named, passed, watcher

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.protocols.base import Said, Watcher
from tidegate.protocols.cleaning import cleaner

CUT = Failure(kind=Kind.INTERRUPTED, message="cut")


def chat(**members: Any) -> Watcher:
    return watcher(Protocol.CHAT, **members)


def chunk(delta: dict[str, Any] | None, finish: str | None = None, index: int = 0, **more: Any) -> bytes:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return data({"id": "c1", "created": 5, "model": "public", "choices": [choice], **more})


def function(**members: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, **members}]}


@pytest.mark.parametrize(
    "delta",
    [
        {"content": "a"},
        {"content": " "},
        {"role": "assistant", "content": "a"},
        {"content": [{"type": "text", "text": "a"}]},
        {"refusal": "no"},
        {"reasoning_content": "hm"},
        {"reasoning": "hm"},
        {"reasoning": {"text": "hm"}},
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]},
        function(id="a", type="function", function={"name": "f", "arguments": ""}),
        function(function={"arguments": "{}"}),
        function(function={"name": "f", "arguments": {"a": 1}}),
        function(id="a", type="custom", custom={"name": "f", "input": ""}),
        {"function_call": {"name": "f", "arguments": ""}},
        {"annotations": [{"type": "url_citation"}]},
        {"audio": {"id": "a", "data": "QQ=="}},
        {"images": [{"type": "image_url"}]},
    ],
    ids=str,
)
def test_output_is_useful(delta: dict[str, Any]) -> None:
    assert chat().read(frame(chunk(delta))) is Said.OUTPUT


@pytest.mark.parametrize(
    "raw",
    [
        chunk({"role": "assistant"}),
        chunk({"role": "assistant", "content": ""}),
        chunk({"role": "assistant", "content": None, "refusal": None, "tool_calls": None}),
        chunk({}),
        chunk(None),
        chunk({"content": "", "tool_calls": [], "annotations": []}),
        chunk({"reasoning_content": ""}),
        chunk({}, ""),
        chunk({}, obfuscation="xyz"),
        data({"choices": [], "prompt_filter_results": []}),
        data({"type": "vendor.event"}),
        data({}),
    ],
)
def test_an_empty_delta_is_not(raw: bytes) -> None:
    reader = chat()
    assert passed(reader, raw) == ([Said.NOISE], raw)
    assert reader.text() == ""


@pytest.mark.parametrize("raw", [data(""), b"data:\n\n", b"data:  \ndata:\t\n\n", b"event: x\ndata:\n\n"])
def test_an_event_with_empty_data_is_dropped(raw: bytes) -> None:
    assert passed(chat(), raw) == ([Said.DROPPED], b"")


@pytest.mark.parametrize(
    "kind", ["message_stop", "response.completed", "response.incomplete", "ping", "keepalive"]
)
def test_another_protocol_s_end_marks_are_dropped(kind: str) -> None:
    assert passed(chat(), data({"type": kind})) == ([Said.DROPPED], b"")


@pytest.mark.parametrize("text", ["17", "[]", "null", '"x"', "<html>", '{"choices":[', "{'a':1}"])
def test_what_is_no_json_object_breaks_the_stream(text: str) -> None:
    reader = chat()
    assert reader.read(frame(data(text))) is Said.BROKEN
    assert reader.failure is not None
    assert reader.failure.kind is Kind.UPSTREAM


@pytest.mark.parametrize(
    ("choices", "events", "expected"),
    [
        (1, [chunk({}, "stop")], [Said.FINISH]),
        (1, [chunk({"content": "a"}, "stop")], [Said.FINISH]),
        (
            1,
            [chunk({}, "stop"), chunk({"content": "b"}), chunk({}, "stop")],
            [Said.FINISH, Said.OUTPUT, Said.OUTPUT],
        ),
        (2, [chunk({}, "stop"), chunk({}, "length", 1)], [Said.OUTPUT, Said.FINISH]),
        (
            2,
            [chunk({}, "stop", 1), chunk({"content": "a"}), data("[DONE]")],
            [Said.OUTPUT, Said.OUTPUT, Said.BROKEN],
        ),
        (2, [chunk({}, "stop"), data("[DONE]")], [Said.OUTPUT, Said.BROKEN]),
        (1, [chunk({"content": "a"}, None, 1), chunk({}, "stop")], [Said.OUTPUT, Said.OUTPUT]),
        (1, [data("[DONE]")], [Said.BROKEN]),
        (1, [chunk({"content": "a"}), data("[DONE]")], [Said.OUTPUT, Said.BROKEN]),
        (1, [chunk({}, ""), data("[DONE]")], [Said.NOISE, Said.END]),
        (1, [chunk({}, ""), chunk({}), data("[DONE]")], [Said.NOISE, Said.NOISE, Said.END]),
        (1, [chunk({}, "stop"), chunk({}, ""), data("[DONE]")], [Said.FINISH, Said.NOISE, Said.END]),
        (1, [chunk({}, "eos"), data("[DONE]")], [Said.FINISH, Said.END]),
        (1, [chunk({}, "stop"), data("[DONE] extra")], [Said.FINISH, Said.END]),
        (1, [chunk({}, "stop"), chunk({}, "error")], [Said.FINISH, Said.BROKEN]),
        (1, [chunk({}, "error")], [Said.BROKEN]),
        (1, [chunk({"content": "a"}), chunk({}, "network_error")], [Said.OUTPUT, Said.BROKEN]),
        (1, [chunk({"content": "a"}), chunk({}, "abort")], [Said.OUTPUT, Said.BROKEN]),
        (1, [chunk({}, "insufficient_system_resource")], [Said.BROKEN]),
    ],
)
def test_finishes(choices: int, events: list[bytes], expected: list[Said]) -> None:
    assert passed(chat(choices=choices), b"".join(events))[0] == expected


@pytest.mark.parametrize(
    ("reason", "incomplete"),
    [
        ("stop", False),
        ("length", True),
        ("max_tokens", True),
        ("tool_calls", False),
        ("content_filter", False),
    ],
)
def test_the_finish_reason_is_kept(reason: str, incomplete: bool) -> None:
    reader = chat()
    passed(reader, chunk({}, reason))
    assert (reader.finish_reason, reader.incomplete) == (reason, incomplete)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_several_choices_the_first_tells_its_reason_and_any_may_be_cut(order: tuple[int, int]) -> None:
    reasons = {0: "stop", 1: "length"}
    reader = chat(choices=2)
    passed(reader, b"".join(chunk({}, reasons[index], index) for index in order))
    assert (reader.finish_reason, reader.incomplete) == ("stop", True)


def test_an_empty_finish_reason_counts_as_stop_once_the_end_mark_comes() -> None:
    reader = chat()
    passed(reader, chunk({}, "") + data("[DONE]"))
    assert reader.finish_reason == "stop"


USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}
COUNTS = Usage(input=5, cache_read=4, cache_write=0, output=3)


@pytest.mark.parametrize(
    "raw",
    [
        data({"id": "c", "choices": [], "usage": USAGE}),
        data({"id": "c", "choices": None, "usage": USAGE}),
        data({"id": "c", "usage": USAGE}),
    ],
)
def test_a_usage_chunk_is_counted_and_passed_on_only_to_those_who_asked(raw: bytes) -> None:
    asking, silent = chat(wants_usage=True), chat()
    assert passed(asking, raw) == ([Said.NOISE], raw)
    assert passed(silent, raw) == ([Said.DROPPED], b"")
    assert asking.usage == silent.usage == COUNTS
    assert not asking.owes_usage


def test_usage_inside_a_chunk_with_choices_stays_there_and_the_last_told_counts() -> None:
    reader = chat()
    raw = chunk({"content": "a"}, usage={**USAGE, "completion_tokens": 1}) + chunk({}, "stop", usage=USAGE)
    raw += chunk({"content": ""}, usage=None) + chunk({}, usage={})
    assert passed(reader, raw)[1] == raw
    assert reader.usage == COUNTS


@pytest.mark.parametrize(
    "raw",
    [
        data({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": USAGE}]}),
        chunk({}, "stop", x_groq={"id": "req_1", "usage": USAGE}),
    ],
    ids=["in the choice", "x_groq"],
)
def test_usage_told_beside_the_protocol_s_place_is_counted_and_shown_to_those_who_asked(raw: bytes) -> None:
    reader = chat(wants_usage=True)
    assert passed(reader, chunk({"content": "a"}) + raw)[0] == [Said.OUTPUT, Said.FINISH]
    assert reader.usage == COUNTS
    assert reader.owes_usage
    assert json.loads(frames(reader.closing(reader.usage))[0].data)["usage"]["total_tokens"] == 12
    later = data({"choices": [], "usage": {**USAGE, "completion_tokens": 4}})
    passed(reader, later)
    assert not reader.owes_usage
    assert reader.usage == Usage(input=5, cache_read=4, cache_write=0, output=4)


def test_an_estimated_usage_chunk_is_written_only_where_one_is_owed() -> None:
    estimate = Usage(input=7, output=2)
    reader = chat(wants_usage=True)
    passed(reader, chunk({"content": "a"}) + chunk({}, "stop") + data("[DONE]"))
    assert reader.owes_usage
    first, last = frames(reader.closing(estimate))
    told = json.loads(first.data)
    assert told["usage"]["total_tokens"] == 9
    assert (told["id"], told["created"], told["model"], told["choices"]) == ("c1", 5, "public", [])
    assert last.data == b"[DONE]"
    assert reader.closing(None) == b"data: [DONE]\n\n"
    assert chat().closing(estimate) == b"data: [DONE]\n\n"


def test_an_estimated_usage_chunk_of_an_upstream_that_tells_no_id_has_one_of_ours() -> None:
    reader = chat(wants_usage=True)
    passed(reader, data({"created": 1e300, "choices": [{"finish_reason": "stop"}]}))
    told = json.loads(frames(reader.closing(Usage(input=1, output=1)))[0].data)
    assert (told["id"], told["created"]) == ("chatcmpl-" + SEED.id, SEED.now)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"data: [DONE]\n\n", b"data: [DONE]\n\n"),
        (b"data:[DONE]\r\n\r\n", b"data:[DONE]\r\n\r\n"),
        (b"data: [DONE]", b"data: [DONE]\n\n"),
        (b"event: done\ndata: [DONE]\n\n", b"data: [DONE]\n\n"),
        (b": x\ndata: [DONE]\n\n", b"data: [DONE]\n\n"),
    ],
)
def test_the_end_mark_keeps_its_bytes_unless_they_would_break_a_client(raw: bytes, expected: bytes) -> None:
    reader = chat()
    passed(reader, chunk({}, "stop"))
    assert passed(reader, raw) == ([Said.END], b"")
    assert reader.closing(None) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b'data: {"model":"up","choices":[]}\n\n', b'data: {"model":"public","choices":[]}\n\n'),
        (b'data:{"model" : "up" }\r\n\r\n', b'data:{"model" : "public" }\r\n\r\n'),
        (b'id: 4\ndata: {"model":"up"}\n\n', b'id: 4\ndata: {"model":"public"}\n\n'),
        (b'event: x\ndata: {"model":"up"}\n\n', b'data: {"model":"public"}\n\n'),
        (b'event: x\nid: 4\ndata: {"a":1.50}\n\n', b'id: 4\ndata: {"a":1.50}\n\n'),
        (b': c\ndata: {"a":1.50}\nretry: 5\n\n', b'data: {"a":1.50}\n\n'),
        (b'data: {"a": "\xff"}\n\n', 'data: {"a": "\ufffd"}\n\n'.encode()),
        (b'data: {"model":"up",\ndata: "a":1.50}\n\n', b'data: {"model":"public",\ndata: "a":1.50}\n\n'),
        (b'data: {"a":1.50}', b'data: {"a":1.50}\n\n'),
        (b'data: {"model":null}\n\n', b'data: {"model":null}\n\n'),
        (b'data: {"model":7}\n\n', b'data: {"model":7}\n\n'),
    ],
)
def test_only_the_permitted_edits_are_made(raw: bytes, expected: bytes) -> None:
    assert passed(chat(), raw)[1] == expected


RENAMED = [
    '{"id":"c","model":"up","choices":[{"delta":{"content":"a"}}]}',
    '{"id":"c","model":"up","choices":[{"delta":{"content":"\\"model\\":\\"up\\""}}]}',
    '{"id":"c","model":"up","x":{"model":"up"},"choices":[]}',
    '{"id":"c","x":{"model":"up"},"model":"up"}',
    '{"id":"c","x":{"model":"up"},"model":"up","y":"\\"model\\":\\"up\\""}',
    '{"x\\"model": "up","model":"up"}',
    '{"choices":[{"delta":{"content":"up"}}],"model":"up"}',
    '{"mod\\u0065l":"up","choices":[]}',
    '{"model":"u\\u0070","choices":[]}',
    '{"model":"a/b-2024","choices":[]}',
    '{"id":"c","model":"up"}',
    '{"id":"c","model":"up","usage":{"prompt_tokens":1},"choices":[]}',
    '{"id":"c","model":"public","choices":[{"delta":{"content":"b"}}]}',
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("first", RENAMED)
@pytest.mark.parametrize("then", RENAMED)
def test_the_model_alone_is_renamed_whatever_chunk_came_before(first: str, then: str, end: str) -> None:
    """The beginning that chunks share is remembered, and must never be mistaken for another."""
    reader = chat(wants_usage=True)
    for text in (first, then, first):
        raw = f"data: {text}{end}{end}".encode()
        expected = {**json.loads(text), "model": "public"}
        out = passed(reader, raw)[1]
        assert json.loads(frame(out).data) == expected
        assert out.endswith((end * 2).encode())
        assert len(out) - len("public") == len(raw) - len(model_text(text)), "no other byte has changed"


def model_text(text: str) -> str:
    for written in ("u\\u0070", "a/b-2024", "public"):
        if f'"{written}"' in text:
            return written
    return "up"


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (data({"error": {"message": "boom", "type": "rate_limit_error"}}), Kind.RATE_LIMIT),
        (data({"error": "boom"}), Kind.UPSTREAM),
        (named({"type": "error", "error": {"type": "overloaded_error", "message": "boom"}}), Kind.OVERLOADED),
        (named({"type": "error", "code": "server_error", "message": "boom"}), Kind.UPSTREAM),
        (data({"type": "error", "code": "server_error", "message": "boom"}), Kind.UPSTREAM),
        (b"event: error\n" + data({"message": "boom"}), Kind.UPSTREAM),
        (
            named({"type": "response.failed", "response": {"error": {"code": "x", "message": "boom"}}}),
            Kind.UPSTREAM,
        ),
        (chunk({"content": ""}, "error", error={"code": 429, "message": "boom"}), Kind.RATE_LIMIT),
        (
            data({"object": "error", "message": "boom", "type": "BadRequestError", "code": 429}),
            Kind.RATE_LIMIT,
        ),
    ],
)
def test_errors_of_every_shape_are_told_as_clients_read_them(raw: bytes, kind: Kind) -> None:
    reader = chat()
    said, out = passed(reader, raw)
    assert said == [Said.ERROR]
    assert reader.failure is not None
    assert reader.failure.kind is kind
    told = frame(out)
    assert told.event is None
    assert json.loads(told.data)["error"]["message"] == "boom"


def test_an_error_in_the_usual_form_keeps_its_bytes() -> None:
    raw = b'data: { "error": {"message":"boom","type":"server_error","code":1.50} , "x":[] }\r\n\r\n'
    assert passed(chat(), raw)[1] == raw
    raw = chunk({}, "error", error={"message": "boom"})
    assert passed(chat(), raw.replace(b'"public"', b'"up"'))[1] == raw


def test_an_error_is_cleaned_in_every_form() -> None:
    clean = cleaner(secrets=("upstream-credential-1",))
    for error in ({"message": "bad upstream-credential-1 key"}, "bad upstream-credential-1 key"):
        out = passed(watcher(Protocol.CHAT, clean), data({"error": error}))[1]
        assert b"credential" not in out
        assert "bad [redacted] key" in json.loads(frame(out).data)["error"]["message"]
    twice = data('{"error":{"message":"upstream-credential-1","message":"also upstream-credential-1 here"}}')
    out = passed(watcher(Protocol.CHAT, clean), twice)[1]
    assert b"credential" not in out
    assert json.loads(frame(out).data)["error"]["message"]


def test_the_gateway_s_own_error() -> None:
    [told] = frames(chat().error_event(CUT))
    assert told.event is None
    assert json.loads(told.data) == {
        "error": {"message": "cut", "type": "api_error", "code": "stream_interrupted"}
    }


def test_all_output_is_text_for_an_estimate() -> None:
    reader = chat()
    raw = chunk({"reasoning_content": "r"}) + chunk({"content": "c"}) + chunk({"refusal": "no"})
    raw += chunk(function(function={"name": "f", "arguments": '{"a":'})) + chunk({"reasoning": "h"})
    passed(reader, raw + chunk({"content": "öX"}).replace(b"X", b"\\ud800"))
    assert reader.text() == 'rcnof{"a":hö\ufffd'


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (chunk({"content": "c", **function(function={"name": "f", "arguments": "{}"})}), "cf{}"),
        (chunk({"content": "c", "reasoning_content": "r"}), "cr"),
        (chunk({"content": [{"type": "text", "text": "c"}]}), "c"),
        (chunk({"function_call": {"name": "f", "arguments": "{}"}}), "f{}"),
        (chunk(function(type="custom", custom={"name": "f", "input": "x"})), "fx"),
        (chunk({"audio": {"transcript": "t", "data": "QUFB"}}), "t"),
        (data({"choices": [{"message": {"content": "c"}, "finish_reason": "stop"}]}), "c"),
    ],
)
def test_rarer_output_is_text_for_an_estimate_too(raw: bytes, text: str) -> None:
    reader = chat()
    assert passed(reader, raw)[0] in ([Said.OUTPUT], [Said.FINISH])
    assert reader.text() == text


def test_a_chat_stream_leaves_nothing_to_remember() -> None:
    reader = chat(stores=True)
    passed(reader, chunk({"content": "a"}) + chunk({}, "stop"))
    assert reader.ids == []
