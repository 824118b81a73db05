"""A whole answer of Responses, told as a stream, is the same answer."""

import json
from typing import Any

import pytest
from tests.unit.protocols.answers import asked, names, openai_client, responses_final, told, whole

from tidegate.core.protocol import Protocol
from tidegate.protocols.responses.replay import replay

ASKED = asked(Protocol.RESPONSES)


def events(answer: object) -> list[Any]:
    read = []
    for event in replay(ASKED, json.dumps(answer, indent=1).encode()).split(b"\n\n")[:-1]:
        name, _, data = event.partition(b"\n")
        read.append(json.loads(data.removeprefix(b"data: ")))
        assert name == b"event: " + read[-1]["type"].encode()
    assert [event["sequence_number"] for event in read] == list(range(len(read)))
    return read


def simple(value: Any) -> Any:
    """Without what the SDK's helper adds."""
    value = told(value)
    for item in value["output"]:
        item.pop("parsed_arguments", None)
        for part in item.get("content", ()):
            part.pop("parsed", None)
    return value


@pytest.mark.parametrize("name", names("responses"))
def test_the_sdk_helper_ends_with_the_same_answer(name: str) -> None:
    body = whole("responses", name)
    assert simple(responses_final(replay(ASKED, body))) == told(json.loads(body))


ITEMS = [
    {
        "id": "rs",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "s1"}, {"type": "summary_text", "text": ""}],
        "content": [{"type": "reasoning_text", "text": "raw"}],
        "encrypted_content": "opaque",
        "status": "completed",
    },
    {
        "id": "ws",
        "type": "web_search_call",
        "status": "completed",
        "action": {"type": "search", "query": "q"},
    },
    {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [
            {
                "type": "output_text",
                "text": "hi",
                "annotations": [
                    {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 1}
                ],
                "logprobs": [],
            },
            {"type": "refusal", "refusal": "no"},
            {"type": "mystery", "x": 1},
        ],
    },
    {
        "id": "fc",
        "type": "function_call",
        "call_id": "c1",
        "name": "f",
        "arguments": "",
        "status": "completed",
    },
    {"id": "ct", "type": "custom_tool_call", "call_id": "c2", "name": "g", "input": "z"},
]
ANSWER = {
    "id": "resp",
    "object": "response",
    "created_at": 1,
    "status": "completed",
    "model": "up",
    "output": ITEMS,
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "error": None,
    "usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
}


def test_every_kind_of_item_has_its_lifecycle() -> None:
    read = events(ANSWER)
    assert [event["type"].removeprefix("response.") for event in read] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "reasoning_text.delta",
        "reasoning_text.done",
        "content_part.done",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "reasoning_summary_part.added",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.annotation.added",
        "output_text.done",
        "content_part.done",
        "content_part.added",
        "refusal.delta",
        "refusal.done",
        "content_part.done",
        "content_part.added",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.done",
        "output_item.done",
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
        "completed",
    ]
    assert [event["item"] for event in read if event["type"].endswith("item.done")] == ITEMS
    assert read[-1]["response"] == ANSWER
    opened = read[2]["item"]
    assert opened == {"id": "rs", "type": "reasoning", "summary": [], "status": "in_progress"}
    assert (read[0]["response"]["status"], read[0]["response"]["output"]) == ("in_progress", [])


def test_the_sdk_iterates_it() -> None:
    stream = openai_client(replay(ASKED, json.dumps(ANSWER).encode())).responses.create(
        model="m", input="x", stream=True
    )
    assert len(list(stream)) == 38


@pytest.mark.parametrize(
    ("status", "terminal"),
    [
        ("completed", "response.completed"),
        ("incomplete", "response.incomplete"),
        ("failed", "response.failed"),
        ("cancelled", "response.failed"),
        (None, "response.completed"),
    ],
)
def test_the_terminal_event_follows_the_status(status: str | None, terminal: str) -> None:
    assert events(ANSWER | {"status": status, "output": None})[-1]["type"] == terminal
