"""A complete stream of Responses as one answer."""

import json
from typing import Any

import pytest
from openai.types.responses import Response
from tests.unit.protocols.answers import asked, names, odd, said, stream, told, whole

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.responses.assemble import assemble

ASKED = asked(Protocol.RESPONSES)


def events(*payloads: object) -> bytes:
    return "".join(f"data: {json.dumps(payload)}\n\n" for payload in payloads).encode()


def item(kind: str, index: int, **members: object) -> object:
    return {
        "type": f"response.output_item.{kind}",
        "output_index": index,
        "item": {"id": f"i{index}", **members},
    }


def ended(kind: str, **members: object) -> object:
    return {"type": f"response.{kind}", "response": {"id": "r", **members}}


def answer(body: bytes | Failure) -> Any:
    assert isinstance(body, bytes)
    return json.loads(body)


@pytest.mark.parametrize("name", names("responses", "sse"))
def test_recorded_streams_say_what_the_whole_answers_say(name: str) -> None:
    body = assemble(ASKED, stream("responses", name))
    assert told(answer(body)) == said(whole("responses", name))
    Response.model_validate(answer(body))


def test_a_sparse_stream_is_completed_from_its_items() -> None:
    found = answer(assemble(ASKED, odd("responses-sparse")))
    assert [each["id"] for each in found["output"]] == ["msg_up1", "fc_up1"]
    assert found["output"][0]["content"][0]["text"] == "Hello"


def test_items_stand_in_the_order_of_their_index() -> None:
    body = events(item("done", 1), item("done", 0), ended("completed", output=None))
    assert [each["id"] for each in answer(assemble(ASKED, body))["output"]] == ["i0", "i1"]


def grow(index: int, words: str, kind: str = "output_text.delta", **members: object) -> object:
    event = {"type": f"response.{kind}", "item_id": f"i{index}", "output_index": index}
    return {**event, "delta": words, **members}


@pytest.mark.parametrize("output", [None, []])
@pytest.mark.parametrize("opening", [[], [item("added", 0, type="message")]])
def test_text_that_was_only_streamed_is_a_message(opening: list[object], output: object) -> None:
    said = [grow(0, "Hel", content_index=0), grow(0, "lo", content_index=0)]
    body = events(*opening, *said, ended("completed", output=output))
    assert answer(assemble(ASKED, body))["output"] == [
        {
            "id": "i0",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Hello", "annotations": []}],
        }
    ]


def test_parts_that_were_only_streamed_keep_their_order_and_their_kind() -> None:
    body = events(
        grow(0, "No", "refusal.delta", content_index=1),
        grow(0, "a"),
        grow(0, "", "output_text.done", text="ab"),
        ended("incomplete"),
    )
    [message] = answer(assemble(ASKED, body))["output"]
    assert message["status"] == "incomplete"
    assert message["content"] == [
        {"type": "output_text", "text": "ab", "annotations": []},
        {"type": "refusal", "refusal": "No"},
    ]


def test_what_was_streamed_of_an_item_that_is_done_counts_once() -> None:
    body = events(grow(0, "a"), item("done", 0, type="message"), ended("completed", output=[]))
    assert answer(assemble(ASKED, body))["output"] == [{"id": "i0", "type": "message"}]


@pytest.mark.parametrize(
    ("terminal", "status"),
    [("completed", "completed"), ("done", "completed"), ("incomplete", "incomplete"), ("failed", "failed")],
)
def test_terminal_events(terminal: str, status: str) -> None:
    body = events(ended(terminal, output=[{"id": "x"}]), item("added", 5)) + b"data: [DONE]\n\n"
    found = answer(assemble(ASKED, body))
    assert (found["status"], found["output"]) == (status, [{"id": "x"}])


def test_the_name_may_stand_in_the_event_line_alone() -> None:
    body = b'event: response.completed\ndata: {"response":{"id":"r","status":"completed","output":[]}}\n\n'
    assert answer(assemble(ASKED, body))["id"] == "r"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", Kind.UPSTREAM),
        (b"data: [DONE]\n\n", Kind.UPSTREAM),
        (odd("responses-cut"), Kind.UPSTREAM),
        (odd("responses-nested-error"), Kind.CONTEXT_LENGTH),
        (events({"type": "error", "code": "slow_down", "message": "m", "param": None}), Kind.RATE_LIMIT),
        (events({"error": {"message": "m"}}), Kind.UPSTREAM),
        (events(item("added", 0), ended("completed", output=[])), Kind.UPSTREAM),
        (events({"type": "response.completed"}), Kind.UPSTREAM),
        (b"data: [1]\n\n", Kind.UPSTREAM),
        (b"data: {}\n" * 20_000 + b"\n", Kind.UPSTREAM),
    ],
)
def test_what_says_no_answer_fails(body: bytes, kind: Kind) -> None:
    found = assemble(ASKED, body)
    assert isinstance(found, Failure)
    assert found.kind is kind


def test_a_failed_response_may_have_left_an_item_open() -> None:
    assert answer(assemble(ASKED, events(item("added", 0), ended("failed", output=[]))))["output"] == []
