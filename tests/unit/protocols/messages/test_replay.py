"""A whole answer of Messages, told as a stream, is the same answer."""

import json
from typing import Any

import pytest
from tests.unit.protocols.answers import asked, messages_final, names, told, whole

from tidegate.core.protocol import Protocol
from tidegate.protocols.messages.replay import replay

ASKED = asked(Protocol.MESSAGES)


def events(answer: object) -> list[Any]:
    read = []
    for event in replay(ASKED, json.dumps(answer, indent=1).encode()).split(b"\n\n")[:-1]:
        name, _, data = event.partition(b"\n")
        read.append(json.loads(data.removeprefix(b"data: ")))
        assert name == b"event: " + read[-1]["type"].encode()
    return read


@pytest.mark.parametrize("name", names("messages"))
def test_the_sdk_helper_ends_with_the_same_answer(name: str) -> None:
    body = whole("messages", name)
    assert told(messages_final(replay(ASKED, body))) == told(json.loads(body))


CITATION = {
    "type": "web_search_result_location",
    "url": "u",
    "title": "t",
    "cited_text": "c",
    "encrypted_index": "e",
}
BLOCKS = [
    {"type": "thinking", "thinking": "hm", "signature": "sig"},
    {"type": "redacted_thinking", "data": "opaque"},
    {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
    {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
    {"type": "text", "text": "found", "citations": [CITATION]},
    {"type": "text", "text": ""},
    {"type": "tool_use", "id": "a", "name": "f", "input": {}},
    {"type": "tool_use", "id": "b", "name": "g", "input": {"x": 1.5}},
]
ANSWER = {
    "id": "msg",
    "type": "message",
    "role": "assistant",
    "model": "up",
    "content": BLOCKS,
    "stop_reason": "stop_sequence",
    "stop_sequence": "END",
    "container": {"id": "c", "expires_at": "2026-01-01T00:00:00Z"},
    "usage": {
        "input_tokens": 5,
        "cache_read_input_tokens": 2,
        "output_tokens": 7,
        "service_tier": "standard",
    },
}


def test_every_kind_of_block() -> None:
    final = told(messages_final(replay(ASKED, json.dumps(ANSWER).encode())))
    assert final == told(ANSWER)


def test_the_lifecycle() -> None:
    read = events(ANSWER)
    assert read[0]["message"]["content"] == []
    assert read[0]["message"]["stop_reason"] is None
    assert read[0]["message"]["usage"]["output_tokens"] == 0
    starts = [event["index"] for event in read if event["type"] == "content_block_start"]
    stops = [event["index"] for event in read if event["type"] == "content_block_stop"]
    assert starts == stops == list(range(len(BLOCKS)))
    assert [event["type"] for event in read[-2:]] == ["message_delta", "message_stop"]
    assert read[-2]["delta"]["stop_sequence"] == "END"
    assert read[-2]["usage"] == ANSWER["usage"]


def test_tool_input_keeps_its_text_and_blocks_of_other_kinds_are_whole_in_their_start() -> None:
    body = b'{"content":[{"type":"tool_use","id":"a","input":{ "x": 1.0e2 }},{"type":"mystery","y":[1]}]}'
    stream = replay(ASKED, body)
    assert b'"partial_json":"{\\"x\\":1.0e2}"' in stream
    assert b'"content_block":{"type":"mystery","y":[1]}' in stream


def test_usage_that_is_not_told_is_not_invented_at_the_end() -> None:
    read = events({"content": [], "stop_reason": "end_turn"})
    assert read[-2]["usage"] == {}
