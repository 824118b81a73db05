"""What is read from a whole answer of Messages."""

import json

import pytest
from tests.unit.protocols.answers import asked, names, stream, whole

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.protocols.base import Whole
from tidegate.protocols.messages.answer import read_whole

ASKED = asked(Protocol.MESSAGES)


@pytest.mark.parametrize("name", names("messages"))
def test_recorded_answers_change_in_the_model_only(name: str) -> None:
    body = whole("messages", name)
    found = read_whole(ASKED, body)
    assert isinstance(found, Whole)
    assert found.body == body.replace(b'"up-messages-model"', b'"public"')
    assert found.text
    assert found.finish_reason == json.loads(body)["stop_reason"]
    assert found.incomplete is (name == "max-tokens")


def test_cache_arithmetic() -> None:
    found = read_whole(ASKED, whole("messages", "cache-hit"))
    assert isinstance(found, Whole)
    assert found.usage == Usage(input=76, cache_read=1024, cache_write=100, output=20)


def test_everything_said_counts() -> None:
    blocks = [
        {"type": "thinking", "thinking": "t", "signature": "s"},
        {"type": "text", "text": "a"},
        {"type": "tool_use", "name": "f", "input": {"x": 1}},
        {"type": "mystery"},
    ]
    answer = {"content": blocks, "stop_reason": "model_context_window_exceeded"}
    found = read_whole(ASKED, json.dumps(answer).encode())
    assert isinstance(found, Whole)
    assert (found.text, found.incomplete, found.usage) == ('taf{"x":1}', True, None)


def test_an_empty_answer_is_one() -> None:
    found = read_whole(ASKED, b'{"type":"message","content":[],"stop_reason":"end_turn"}')
    assert isinstance(found, Whole)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", Kind.UPSTREAM),
        (b'{"type":"error","error":{"type":"overloaded_error","message":"m"}}', Kind.OVERLOADED),
        (b'{"content":"text"}', Kind.UPSTREAM),
        (b'{"type":"completion","content":[]}', Kind.UPSTREAM),
        (whole("chat", "text"), Kind.UPSTREAM),
        (whole("responses", "text"), Kind.UPSTREAM),
        (stream("messages", "text"), Kind.UPSTREAM),
    ],
)
def test_what_is_no_answer(body: bytes, kind: Kind) -> None:
    found = read_whole(ASKED, body)
    assert isinstance(found, Failure)
    assert found.kind is kind
