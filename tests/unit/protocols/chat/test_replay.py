"""A whole answer of Chat Completions, told as a stream, is the same answer."""

import json
from typing import Any

import pytest
from tests.unit.protocols.answers import asked, chat_final, names, openai_client, told, whole

from tidegate.core.protocol import Protocol
from tidegate.protocols.chat.replay import replay

ASKED = asked(Protocol.CHAT)


def chunks(answer: object) -> list[Any]:
    stream = replay(ASKED, json.dumps(answer, indent=2).encode())
    assert stream.endswith(b"data: [DONE]\n\n")
    return [json.loads(event.removeprefix(b"data: ")) for event in stream.split(b"\n\n")[:-2]]


def simple(value: Any) -> Any:
    """Without what the SDK's accumulator adds."""
    value = told(value)
    for choice in value["choices"]:
        choice["message"].pop("parsed", None)
        for call in choice["message"].get("tool_calls", ()):
            call.pop("index")
    return value


@pytest.mark.parametrize("name", names("chat"))
def test_the_sdk_helper_ends_with_the_same_answer(name: str) -> None:
    body = whole("chat", name)
    assert simple(chat_final(replay(ASKED, body))) == told(json.loads(body))


@pytest.mark.parametrize("name", names("chat"))
def test_the_sdk_iterates_it(name: str) -> None:
    stream = openai_client(replay(ASKED, whole("chat", name))).chat.completions.create(
        model="m", messages=[], stream=True
    )
    read = list(stream)
    assert [each.index for chunk in read for each in chunk.choices][-1] == 0
    assert read[-1].usage is not None
    assert read[-1].choices == []


MESSAGE = {
    "role": "assistant",
    "content": "Hi",
    "refusal": None,
    "annotations": [
        {"type": "url_citation", "url_citation": {"url": "u", "title": "t", "start_index": 0, "end_index": 1}}
    ],
    "reasoning_details": [{"type": "reasoning.text", "text": "x"}, {"type": "reasoning.text", "text": "y"}],
    "reasoning_content": "why",
    "audio": {"id": "a", "data": "AA", "transcript": "hi", "expires_at": 5},
    "vendor": {"deep": [1]},
}
ANSWER = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "up",
    "service_tier": "default",
    "moderation": {"x": 1},
    "choices": [
        {
            "index": 0,
            "message": MESSAGE,
            "logprobs": {"content": [{"token": "Hi", "logprob": -0.5, "bytes": None, "top_logprobs": []}]},
            "finish_reason": "stop",
            "native_finish_reason": "STOP",
        },
        {"index": 1, "message": {"role": "assistant", "content": "Ho"}, "finish_reason": "length"},
    ],
}


def test_several_choices_and_every_kind_of_content() -> None:
    final = simple(chat_final(replay(ASKED, json.dumps(ANSWER).encode())))
    first, second = final["choices"]
    assert first["message"]["content"] == "Hi"
    assert first["message"]["reasoning_content"] == "why"
    assert first["message"]["annotations"] == MESSAGE["annotations"]
    assert [entry["text"] for entry in first["message"]["reasoning_details"]] == ["x", "y"]
    assert first["message"]["audio"] == MESSAGE["audio"]
    assert first["logprobs"]["content"][0]["token"] == "Hi"
    assert (second["message"]["content"], second["finish_reason"]) == ("Ho", "length")


def test_each_choice_begins_with_its_role_and_ends_with_its_finish() -> None:
    read = chunks(ANSWER)
    for index, reason in ((0, "stop"), (1, "length")):
        own = [chunk["choices"][0] for chunk in read if chunk["choices"][0]["index"] == index]
        assert own[0]["delta"]["role"] == "assistant"
        assert own[-1]["delta"] == {}
        assert [each["finish_reason"] for each in own[:-1]] == [None] * (len(own) - 1)
        assert own[-1]["finish_reason"] == reason


def test_what_nobody_knows_goes_along_once() -> None:
    read = chunks(ANSWER)
    assert [chunk for chunk in read if "moderation" in chunk] == read[:1]
    assert all(chunk["service_tier"] == "default" for chunk in read)
    assert {"vendor": {"deep": [1]}} in [chunk["choices"][0]["delta"] for chunk in read]
    entries = [chunk["choices"][0] for chunk in read]
    assert [entry["finish_reason"] for entry in entries if "native_finish_reason" in entry] == ["stop"]


def test_without_usage_there_is_no_usage_chunk() -> None:
    assert all(chunk["choices"] for chunk in chunks(ANSWER))


def test_numbers_keep_their_text() -> None:
    body = b'{"choices":[{"message":{"content":"x","score":1.50e1}}],\n"usage":{"cost":0.10}}'
    stream = replay(ASKED, body)
    assert b'"score":1.50e1' in stream
    assert b'"cost":0.10' in stream


def deltas(message: object) -> list[Any]:
    read = chunks({"choices": [{"message": message, "finish_reason": "tool_calls"}]})
    return [chunk["choices"][0]["delta"] for chunk in read]


def test_tool_calls_are_opened_and_then_filled() -> None:
    calls = [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}},
        {"id": "b", "function": {"name": "g", "arguments": {"y": 2}}, "extra_content": {"k": "v"}},
        {"id": "c", "type": "custom", "custom": {"name": "h", "input": "z"}},
        {"id": "d", "type": "function", "function": {"name": "i", "arguments": ""}},
    ]
    assert [delta["tool_calls"][0] for delta in deltas({"content": None, "tool_calls": calls})[1:-1]] == [
        {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"x":1}'}},
        {
            "index": 1,
            "id": "b",
            "type": "function",
            "function": {"name": "g", "arguments": ""},
            "extra_content": {"k": "v"},
        },
        {"index": 1, "function": {"arguments": '{"y":2}'}},
        {"index": 2, "id": "c", "type": "custom", "custom": {"name": "h", "input": ""}},
        {"index": 2, "custom": {"input": "z"}},
        {"index": 3, "id": "d", "type": "function", "function": {"name": "i", "arguments": ""}},
    ]


def test_content_of_parts_stays_a_list() -> None:
    parts = [{"type": "text", "text": "x"}]
    assert deltas({"content": parts})[:2] == [{"role": "assistant"}, {"content": parts}]


def test_a_refusal_bears_its_logprobs() -> None:
    logprobs: dict[str, object] = {"content": None, "refusal": []}
    read = chunks({"choices": [{"message": {"content": None, "refusal": "no"}, "logprobs": logprobs}]})
    assert read[1]["choices"][0]["logprobs"] == logprobs


def test_what_is_no_answer_says_nothing() -> None:
    assert replay(ASKED, b"<html>") == b"data: [DONE]\n\n"


def test_numbered_reasoning_details_stay_as_they_are() -> None:
    details = [{"index": 1, "text": "x"}, {"index": 4, "text": "y"}]
    assert {"reasoning_details": details} in deltas({"content": "z", "reasoning_details": details})
