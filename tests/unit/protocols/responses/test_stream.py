"""A Responses stream on the diagonal: what each event means, and the little that is changed in it."""

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


def responses(**members: Any) -> Watcher:
    return watcher(Protocol.RESPONSES, **members)


def event(kind: str, number: int | None = 0, **members: Any) -> bytes:
    numbered = {} if number is None else {"sequence_number": number}
    return named({"type": f"response.{kind}", **numbered, **members})


def lifecycle(kind: str, number: int = 0, **members: Any) -> bytes:
    response = {"id": "resp_1", "object": "response", "created_at": 5, "model": "public", **members}
    return event(kind, number, response=response)


def added(kind: str, **members: Any) -> bytes:
    return event("output_item.added", 3, output_index=0, item={"id": "item_1", "type": kind, **members})


def done(kind: str, **members: Any) -> bytes:
    return event("output_item.done", 3, output_index=0, item={"id": "item_1", "type": kind, **members})


TEXT = [{"type": "output_text", "text": "a"}]
EMPTY = [{"type": "output_text", "text": ""}]


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (lifecycle("created"), Said.OPENING),
        (lifecycle("queued"), Said.OPENING),
        (lifecycle("in_progress"), Said.OPENING),
        (added("message", content=[]), Said.OPENING),
        (added("message", content=EMPTY), Said.OPENING),
        (added("message", content=TEXT), Said.OUTPUT),
        (added("message", content="a"), Said.OUTPUT),
        (added("reasoning", summary=[]), Said.REASONING),
        (added("reasoning", summary=[{"type": "summary_text", "text": "hm"}]), Said.OUTPUT),
        (added("function_call", name="f", arguments=""), Said.OUTPUT),
        (added("custom_tool_call", name="f", input=""), Said.OUTPUT),
        (added("web_search_call"), Said.OUTPUT),
        (added("file_search_call"), Said.OUTPUT),
        (added("computer_call"), Said.OUTPUT),
        (added("code_interpreter_call"), Said.OUTPUT),
        (added("image_generation_call"), Said.OUTPUT),
        (added("mcp_call"), Said.OUTPUT),
        (added("local_shell_call"), Said.OUTPUT),
        (added("apply_patch_call"), Said.OUTPUT),
        (added("hologram"), Said.NOISE),
        (event("output_item.added"), Said.NOISE),
        (event("output_item.added", item={"type": None}), Said.NOISE),
        (event("content_part.added", part={"type": "output_text", "text": ""}), Said.OPENING),
        (event("content_part.added", part={"type": "output_text", "text": "a"}), Said.OUTPUT),
        (event("content_part.added"), Said.OPENING),
        (event("reasoning_summary_part.added", part={"text": ""}), Said.OPENING),
        (event("output_text.delta", delta="a"), Said.OUTPUT),
        (event("output_text.delta", delta=""), Said.NOISE),
        (event("output_text.delta"), Said.NOISE),
        (event("refusal.delta", delta="no"), Said.OUTPUT),
        (event("reasoning_text.delta", delta="hm"), Said.OUTPUT),
        (event("reasoning_summary_text.delta", delta="hm"), Said.OUTPUT),
        (event("function_call_arguments.delta", delta="{"), Said.OUTPUT),
        (event("custom_tool_call_input.delta", delta="x"), Said.OUTPUT),
        (event("audio.delta", delta="QQ=="), Said.OUTPUT),
        (event("audio.transcript.delta", delta="a"), Said.OUTPUT),
        (event("output_text.annotation.added", annotation={}), Said.OUTPUT),
        (event("output_text.done", text="a"), Said.OUTPUT),
        (event("output_text.done", text=""), Said.OPENING),
        (event("refusal.done", refusal="no"), Said.OUTPUT),
        (event("audio.done"), Said.OPENING),
        (event("content_part.done", part={"text": "a"}), Said.OUTPUT),
        (event("content_part.done", part={"refusal": "no"}), Said.OUTPUT),
        (event("function_call_arguments.done", arguments="{}"), Said.OUTPUT),
        (event("web_search_call.in_progress"), Said.OUTPUT),
        (event("web_search_call.searching"), Said.OUTPUT),
        (event("image_generation_call.partial_image", partial_image_b64="QQ=="), Said.OUTPUT),
        (event("code_interpreter_call_code.delta", delta="x"), Said.OUTPUT),
        (event("code_interpreter_call_code.done", code="x"), Said.OUTPUT),
        (event("mcp_list_tools.in_progress"), Said.OUTPUT),
        (event("mcp_call_arguments.done", arguments="{}"), Said.OUTPUT),
        (event("mcp_call.failed"), Said.OUTPUT),
        (event("shell_call_output_content.delta", delta={"stdout": "x"}), Said.OUTPUT),
        (done("message", content=TEXT), Said.OUTPUT),
        (done("message", content=[]), Said.OPENING),
        (done("reasoning", summary=[], encrypted_content="x"), Said.OUTPUT),
        (done("reasoning", summary=[]), Said.OPENING),
        (done("function_call", name="f"), Said.OUTPUT),
        (done("hologram"), Said.NOISE),
        (event("output_item.done"), Said.NOISE),
        (event("compaction.compacting"), Said.NOISE),
        (event("hologram"), Said.NOISE),
        (named({"type": "ping"}), Said.NOISE),
        (data({}), Said.NOISE),
        (lifecycle("completed"), Said.END),
        (lifecycle("incomplete"), Said.END),
        (lifecycle("done"), Said.END),
        (event("completed"), Said.END),
    ],
)
def test_what_each_event_means(raw: bytes, said: Said) -> None:
    assert passed(responses(), raw) == ([said], raw)


@pytest.mark.parametrize(
    "raw",
    [
        data("[DONE]"),
        data(""),
        b"event: x\ndata: \n\n",
        named({"type": "keepalive"}),
        named({"type": "message_stop"}),
    ],
)
def test_another_protocol_s_marks_are_dropped(raw: bytes) -> None:
    assert passed(responses(), raw) == ([Said.DROPPED], b"")


@pytest.mark.parametrize("text", ["17", "[]", "null", "<html>", '{"type":'])
def test_what_is_no_json_object_breaks_the_stream(text: str) -> None:
    reader = responses()
    assert reader.read(frame(data(text))) is Said.BROKEN
    assert reader.failure is not None
    assert reader.failure.kind is Kind.UPSTREAM


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b'data: {"type":"a"}\n\n', b'event: a\ndata: {"type":"a"}\n\n'),
        (b'event: b\ndata: {"type":"a"}\n\n', b'event: a\ndata: {"type":"a"}\n\n'),
        (b'event: a\ndata: {"x":1.50}\n\n', None),
        (b'id: 3\nevent:a\r\ndata:{"type":"a"}\r\n\r\n', None),
        (b'id: 3\ndata: {"type":"a"}\n\n', b'event: a\nid: 3\ndata: {"type":"a"}\n\n'),
        (b'event: a\n: c\nretry: 4\ndata: {"x" :1}\n\n', b'event: a\ndata: {"x" :1}\n\n'),
        (b'event: a\ndata: {"x":\ndata: 1}\n\n', None),
        (b'event: a\ndata: {"x":"\xff"}\n\n', 'event: a\ndata: {"x":"\ufffd"}\n\n'.encode()),
        (b'event: a\ndata: {"type":"a"}', b'event: a\ndata: {"type":"a"}\n\n'),
        (b'event: a\ndata: {"type":"x\\ndata: y"}\n\n', b'data: {"type":"x\\ndata: y"}\n\n'),
        (b'data: {"type":"\\ud800"}\n\n', 'event: \ufffd\ndata: {"type":"\\ud800"}\n\n'.encode()),
    ],
)
def test_only_the_permitted_edits_are_made(raw: bytes, expected: bytes | None) -> None:
    assert passed(responses(), raw)[1] == (raw if expected is None else expected)


@pytest.mark.parametrize("kind", ["created", "in_progress", "completed", "incomplete", "queued"])
def test_the_model_is_renamed_in_the_response_alone(kind: str) -> None:
    raw = lifecycle(kind, instructions='"model":"up"', model="up", output=[{"model": "up"}])
    expected = lifecycle(kind, instructions='"model":"up"', model="public", output=[{"model": "up"}])
    assert passed(responses(), raw)[1] == expected
    unnamed = raw.split(b"\n", 1)[1].replace(b"\n\n", b"\r\n\r\n")
    assert passed(responses(), unnamed)[1] == expected
    other = event("output_text.delta", delta="a", model="up")
    assert passed(responses(), other)[1] == other


@pytest.mark.parametrize(
    ("raw", "reason", "incomplete"),
    [
        (lifecycle("completed", status="completed"), "completed", False),
        (
            lifecycle("incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "max_output_tokens",
            True,
        ),
        (lifecycle("incomplete", incomplete_details={"reason": "content_filter"}), "content_filter", False),
        (lifecycle("incomplete", incomplete_details=None), "incomplete", True),
        (lifecycle("done", status="incomplete"), "incomplete", True),
        (event("completed"), "completed", False),
    ],
)
def test_how_it_ended(raw: bytes, reason: str, incomplete: bool) -> None:
    reader = responses()
    passed(reader, raw)
    assert (reader.finish_reason, reader.incomplete) == (reason, incomplete)


def test_searches_stand_beside_the_usage() -> None:
    reader = responses()
    searched = {"web_search": {"num_requests": 2}}
    passed(reader, lifecycle("completed", usage={"input_tokens": 5, "output_tokens": 3}, tool_usage=searched))
    assert reader.usage is not None
    assert (reader.usage.input, reader.usage.web_searches) == (5, 2)


def test_usage_stands_in_the_terminal_event() -> None:
    reader = responses()
    passed(reader, lifecycle("created", usage=None))
    assert reader.usage is None
    told = {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 3}
    passed(reader, lifecycle("completed", usage=told))
    assert reader.usage is not None
    assert (reader.usage.input, reader.usage.cache_read, reader.usage.output) == (5, 4, 3)
    assert not reader.owes_usage
    assert reader.closing(Usage(input=1)) == b""


def failed(reader: Watcher) -> list[dict[str, Any]]:
    found = frames(reader.error_event(CUT))
    values = [json.loads(each.data) for each in found]
    assert [each.event for each in found] == [value["type"].encode() for value in values]
    return values


def test_the_gateway_s_own_error_goes_on_with_id_and_number_of_the_stream() -> None:
    reader = responses()
    raw = lifecycle("created", 0) + event("output_text.delta", 7, delta="a") + event("hologram", None)
    passed(reader, raw + data("[DONE]"))
    [last] = failed(reader)
    assert (last["type"], last["sequence_number"]) == ("response.failed", 8)
    response = last["response"]
    assert (response["id"], response["created_at"], response["model"]) == ("resp_1", 5, "public")
    assert (response["status"], response["output"]) == ("failed", [])
    assert response["error"] == {"code": "server_error", "message": "cut"}


def test_without_an_opening_it_opens_first() -> None:
    first, last = failed(responses())
    assert [first["type"], last["type"]] == ["response.created", "response.failed"]
    assert [first["sequence_number"], last["sequence_number"]] == [0, 1]
    assert first["response"]["id"] == last["response"]["id"] == "resp_" + SEED.id
    assert first["response"]["created_at"] == SEED.now


@pytest.mark.parametrize("number", ["-1", "1e400", "123456789012345678901234567890", '"7"', "null", "1.5"])
@pytest.mark.parametrize("created", ["1e400", "-1", "123456789012345678901234567890", "null", "[]"])
def test_hostile_numbers_do_not_spoil_the_error(number: str, created: str) -> None:
    reader = responses()
    response = f'{{"id":"resp_\\ud800","created_at":{created}}}'
    passed(reader, data(f'{{"type":"response.created","sequence_number":{number},"response":{response}}}'))
    [last] = failed(reader)
    assert last["sequence_number"] == 0
    assert last["response"]["created_at"] == SEED.now
    assert last["response"]["id"] == "resp_\ufffd"


FAILED = {
    "type": "response.failed",
    "sequence_number": 4,
    "response": {"id": "r", "error": {"code": "rate_limit_exceeded", "message": "boom"}},
}


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (named(FAILED), Kind.RATE_LIMIT),
        (
            named({"type": "error", "code": "server_error", "message": "boom", "sequence_number": 4}),
            Kind.UPSTREAM,
        ),
        (
            named({"type": "error", "error": {"code": "rate_limit_exceeded", "message": "boom"}}),
            Kind.RATE_LIMIT,
        ),
    ],
)
def test_errors_in_this_protocol_s_forms_keep_their_bytes(raw: bytes, kind: Kind) -> None:
    reader = responses()
    assert passed(reader, raw) == ([Said.ERROR], raw)
    assert reader.failure is not None
    assert reader.failure.kind is kind
    assert passed(responses(), raw.split(b"\n", 1)[1])[1] == raw, "a missing name is supplied"


@pytest.mark.parametrize(
    "raw",
    [
        data({"error": {"message": "boom", "type": "server_error"}}),
        data({"error": "boom"}),
        named({"type": "error", "error": "boom"}),
        b"event: error\n" + data({"error": {"message": "boom"}}),
        data({"object": "chat.completion.chunk", "error": {"message": "boom"}}),
    ],
)
def test_errors_in_other_forms_become_a_failed_response(raw: bytes) -> None:
    reader = responses()
    passed(reader, lifecycle("created", 0) + event("output_text.delta", 6, delta="a"))
    said, out = passed(reader, raw)
    assert said == [Said.ERROR]
    told = frame(out)
    value = json.loads(told.data)
    assert (told.event, value["sequence_number"]) == (b"response.failed", 7)
    assert value["response"]["id"] == "resp_1"
    assert value["response"]["error"] == {"code": "server_error", "message": "boom"}


def test_an_error_is_cleaned_and_renamed() -> None:
    clean = cleaner(secrets=("upstream-credential-1",))
    error = {"code": "server_error", "message": "bad upstream-credential-1 key"}
    raw = named({"type": "response.failed", "response": {"model": "up", "tools": [], "error": error}})
    expected = raw.replace(b"upstream-credential-1", b"[redacted]").replace(b'"up"', b'"public"')
    assert passed(watcher(Protocol.RESPONSES, clean), raw)[1] == expected
    out = passed(watcher(Protocol.RESPONSES, clean), data({"error": error}))[1]
    assert b"credential" not in out
    assert b"bad [redacted] key" in out


def test_ids_are_noted_once_and_only_if_the_upstream_stores_them() -> None:
    raw = lifecycle("created") + added("message") + done("message") + added("hologram", id="item_2")
    raw += lifecycle("completed", output=[{"id": "item_1"}, {"id": "item_3"}, {"type": "x"}])
    storing, other = responses(stores=True), responses()
    passed(storing, raw)
    passed(other, raw)
    assert storing.ids == ["resp_1", "item_1", "item_2", "item_3"]
    assert other.ids == []


def test_all_output_is_text_for_an_estimate() -> None:
    reader = responses()
    raw = event("reasoning_summary_text.delta", delta="r") + event("output_text.delta", delta="a")
    raw += added("function_call", name="f") + event("function_call_arguments.delta", delta="{}")
    raw += event("code_interpreter_call_code.delta", delta="c") + event("web_search_call.searching")
    passed(reader, raw + event("output_text.done", text="a"))
    assert reader.text() == "raf{}c"
