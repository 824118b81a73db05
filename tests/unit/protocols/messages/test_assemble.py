"""A complete stream of Messages as one answer."""

import json
from typing import Any

import pytest
from anthropic.types import Message
from tests.unit.protocols.answers import asked, names, odd, said, stream, told, whole

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.messages.assemble import assemble

ASKED = asked(Protocol.MESSAGES)
START = {"type": "message_start", "message": {"id": "m", "content": [], "usage": {"input_tokens": 0}}}
END = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}
STOP = {"type": "message_stop"}


def events(*payloads: object) -> bytes:
    return "".join(f"data: {json.dumps(payload)}\n\n" for payload in payloads).encode()


def opened(index: int, block: object) -> object:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **member: object) -> object:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **member}}


def answer(body: bytes | Failure) -> Any:
    assert isinstance(body, bytes)
    return json.loads(body)


def failure(body: bytes | Failure) -> Failure:
    assert isinstance(body, Failure)
    return body


@pytest.mark.parametrize("name", names("messages", "sse"))
def test_recorded_streams_say_what_the_whole_answers_say(name: str) -> None:
    body = assemble(ASKED, stream("messages", name))
    found = told(answer(body))
    found["usage"].pop("service_tier", None)
    expected = said(whole("messages", name))
    expected["usage"].pop("service_tier", None)
    assert found == expected
    Message.model_validate(answer(body))


def test_a_sparse_stream_is_read() -> None:
    found = answer(assemble(ASKED, odd("messages-sparse") + events(STOP)))
    assert found["content"] == [
        {"type": "text", "text": "Hello"},
        {"type": "mystery", "x": 1},
        {"type": "tool_use", "id": "toolu_a", "name": "get_weather", "input": {"city": "Paris"}},
    ]
    assert (found["stop_reason"], found["type"]) == ("tool_use", "message")
    assert found["usage"] == {"input_tokens": 8, "output_tokens": 6, "cache_read_input_tokens": 4}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", Kind.UPSTREAM),
        (odd("messages-sparse"), Kind.UPSTREAM),
        (odd("messages-cut"), Kind.UPSTREAM),
        (odd("messages-error"), Kind.OVERLOADED),
        (events({"error": {"message": "m", "type": "rate_limit_error"}}), Kind.RATE_LIMIT),
        (events(STOP), Kind.UPSTREAM),
        (events(END, STOP), Kind.UPSTREAM),
        (events(START, delta(0, "input_json_delta", partial_json="{}"), END, STOP), Kind.UPSTREAM),
        (events(START) + b"data: {\n\n" + events(STOP), Kind.UPSTREAM),
        (b"data: {}\n" * 20_000 + b"\n", Kind.UPSTREAM),
    ],
)
def test_what_says_no_answer_fails(body: bytes, kind: Kind) -> None:
    assert failure(assemble(ASKED, body)).kind is kind


def test_text_and_thinking_begin_a_block_where_the_upstream_has_not() -> None:
    said = [delta(0, "thinking_delta", thinking="t"), delta(1, "text_delta", text="He")]
    body = events(START, *said, delta(1, "text_delta", text="llo"), END, STOP)
    assert answer(assemble(ASKED, body))["content"] == [
        {"type": "thinking", "signature": "", "thinking": "t"},
        {"type": "text", "text": "Hello"},
    ]


def call(*fragments: str, given: object = None) -> bytes | Failure:
    block = {"type": "tool_use", "id": "a", "name": "f", "input": given or {}}
    parts = [delta(0, "input_json_delta", partial_json=each) for each in fragments]
    return assemble(ASKED, events(START, opened(0, block), *parts, END, STOP))


@pytest.mark.parametrize(
    ("fragments", "given", "found"),
    [
        (["", '{"x":', "1}"], None, {"x": 1}),
        ([""], None, {}),
        ([], {"y": 2}, {"y": 2}),
        (["", ""], {"y": 2}, {"y": 2}),
    ],
)
def test_tool_input(fragments: list[str], given: object, found: object) -> None:
    assert answer(call(*fragments, given=given))["content"][0]["input"] == found


def test_cut_tool_input_is_never_told_as_another() -> None:
    assert "not JSON" in (failure(call('{"cmd":"ls')).detail or "")


def test_tool_input_keeps_its_numbers() -> None:
    body = call('{"x":1.0e2}')
    assert isinstance(body, bytes)
    assert b'{"x":1.0e2}' in body


def test_thinking_and_citations() -> None:
    body = assemble(
        ASKED,
        events(
            START,
            opened(0, {"type": "thinking", "thinking": "", "signature": ""}),
            delta(0, "thinking_delta", thinking="a"),
            delta(0, "thinking_delta", thinking="b"),
            delta(0, "signature_delta", signature="s"),
            opened(1, {"type": "text", "text": "", "citations": []}),
            delta(1, "text_delta", text="x"),
            delta(1, "citations_delta", citation={"url": "u"}),
            delta(1, "odd_delta", odd="x"),
            END | {"context_management": {"applied_edits": []}},
            STOP,
        ),
    )
    found = answer(body)
    assert found["content"] == [
        {"type": "thinking", "thinking": "ab", "signature": "s"},
        {"type": "text", "text": "x", "citations": [{"url": "u"}]},
    ]
    assert found["context_management"] == {"applied_edits": []}


def test_missing_indices_mean_the_last_block_and_a_second_start_says_nothing_new() -> None:
    body = assemble(
        ASKED,
        events(
            START,
            START | {"message": {"id": "other", "usage": {"input_tokens": 4}}},
            {"type": "content_block_start", "content_block": {"type": "text", "text": "a"}},
            {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "b"}},
            {"type": "content_block_start", "content_block": {"type": "text", "text": "c"}},
            END,
            STOP,
        )
        + b"data: [DONE]\n\n",
    )
    found = answer(body)
    assert [block["text"] for block in found["content"]] == ["ab", "c"]
    assert (found["id"], found["usage"]) == ("m", {"input_tokens": 4, "output_tokens": 1})


def test_output_told_at_the_start_alone_is_no_count_of_what_was_produced() -> None:
    start = {
        "type": "message_start",
        "message": {"id": "m", "usage": {"input_tokens": 4, "output_tokens": 1}},
    }
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": None}
    text = [opened(0, {"type": "text", "text": ""}), delta(0, "text_delta", text="a long answer")]
    found = answer(assemble(ASKED, events(start, *text, end, STOP)))
    assert found["usage"] == {"input_tokens": 4}


def test_a_foreign_done_says_nothing() -> None:
    assert answer(assemble(ASKED, events(START) + b"data: [DONE]\n\n" + events(END, STOP)))


def test_an_answer_without_usage_has_none() -> None:
    bare: dict[str, object] = {"type": "message_start", "message": {"id": "m"}}
    odd_delta = {"type": "content_block_delta", "index": "x", "delta": {"type": "text_delta", "text": "b"}}
    body = events(bare, opened(0, {"type": "text", "text": "a"}), odd_delta, STOP)
    assert answer(assemble(ASKED, body)) == {
        "type": "message",
        "role": "assistant",
        "stop_reason": None,
        "stop_sequence": None,
        "id": "m",
        "content": [{"type": "text", "text": "ab"}],
    }


def test_the_name_may_stand_in_the_event_line_alone() -> None:
    assert answer(assemble(ASKED, events(START, END) + b"event: message_stop\ndata: {}\n\n"))["id"] == "m"
