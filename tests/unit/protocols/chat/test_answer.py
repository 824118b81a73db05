"""What is read from a whole answer of Chat Completions."""

import json

import pytest
from tests.unit.protocols.answers import asked, names, stream, whole

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.protocols.base import Whole
from tidegate.protocols.chat.answer import read_whole

ASKED = asked(Protocol.CHAT)


def read(answer: object) -> Whole:
    found = read_whole(ASKED, json.dumps(answer).encode())
    assert isinstance(found, Whole)
    return found


def choice(message: object, reason: str | None = "stop") -> dict[str, object]:
    return {"message": message, "finish_reason": reason}


@pytest.mark.parametrize("name", names("chat"))
def test_recorded_answers_change_in_the_model_only(name: str) -> None:
    body = whole("chat", name)
    found = read_whole(ASKED, body)
    assert isinstance(found, Whole)
    assert found.body == body.replace(b'"up-chat-model"', b'"public"')
    assert found.text
    assert found.usage is not None
    assert found.finish_reason == json.loads(body)["choices"][0]["finish_reason"]
    assert found.incomplete is (name == "max-tokens")
    assert found.ids == ()


def test_cache_arithmetic() -> None:
    found = read_whole(ASKED, whole("chat", "cache-hit"))
    assert isinstance(found, Whole)
    assert found.usage == Usage(input=76, cache_read=1024, cache_write=100, output=20, reasoning=0)


def test_a_bare_answer_is_enough() -> None:
    found = read({"choices": [{"message": {"content": "hi"}}]})
    assert (found.text, found.usage, found.finish_reason, found.incomplete) == ("hi", None, None, False)


def test_everything_said_counts_once() -> None:
    message = {
        "reasoning_content": "think",
        "reasoning": "think",
        "content": [{"type": "text", "text": "a"}],
        "refusal": "no",
        "audio": {"transcript": "b"},
        "tool_calls": [
            {"function": {"name": "f", "arguments": {"x": 1}}},
            {"custom": {"name": "g", "input": "y"}},
        ],
        "function_call": {"name": "h", "arguments": "{}"},
    }
    assert read({"choices": [choice(message)]}).text == 'thinkanobf{"x":1}gyh{}'


@pytest.mark.parametrize("reason", ["length", "max_tokens"])
def test_one_cut_choice_makes_the_answer_incomplete(reason: str) -> None:
    found = read({"choices": [choice({"content": "a"}), choice({"content": "b"}, reason)]})
    assert (found.finish_reason, found.incomplete, found.text) == ("stop", True, "ab")


@pytest.mark.parametrize("reason", ["error", "network_error", "abort", "insufficient_system_resource"])
def test_an_upstream_that_gave_up_gave_no_answer(reason: str) -> None:
    found = read_whole(ASKED, json.dumps({"choices": [choice({"content": "a"}, reason)]}).encode())
    assert isinstance(found, Failure)
    assert reason in (found.detail or "")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", Kind.UPSTREAM),
        (b"<html></html>", Kind.UPSTREAM),
        (b"null", Kind.UPSTREAM),
        (b"[]", Kind.UPSTREAM),
        (b'{"choices":[]}', Kind.UPSTREAM),
        (b'{"choices":[{"delta":{}}]}', Kind.UPSTREAM),
        (b'{"id":"x","object":"chat.completion"}', Kind.UPSTREAM),
        (b'{"error":{"message":"m","code":"rate_limit_exceeded"}}', Kind.RATE_LIMIT),
        (b'{"error":"m","choices":[{"message":{"content":"x"}}]}', Kind.UPSTREAM),
        (stream("chat", "text"), Kind.UPSTREAM),
        (whole("messages", "text"), Kind.UPSTREAM),
    ],
)
def test_what_is_no_answer(body: bytes, kind: Kind) -> None:
    found = read_whole(ASKED, body)
    assert isinstance(found, Failure)
    assert found.kind is kind


def test_half_a_character_does_not_spoil_an_answer() -> None:
    body = b'{"model":"up","choices":[{"message":{"content":"x\\ud83d"},"finish_reason":"length"}]}'
    found = read_whole(ASKED, body)
    assert isinstance(found, Whole)
    assert found.body == body.replace(b'"up"', b'"public"')
