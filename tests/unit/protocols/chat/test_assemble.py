"""A complete stream of Chat Completions as one answer."""

import json
from typing import Any

import pytest
from openai.types.chat import ChatCompletion
from tests.unit.protocols.answers import asked, names, odd, said, stream, told, whole

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.chat.assemble import assemble

ASKED = asked(Protocol.CHAT)


def events(*chunks: object, done: bool = True) -> bytes:
    lines = [json.dumps(chunk) for chunk in chunks] + ["[DONE]"] * done
    return "".join(f"data: {line}\n\n" for line in lines).encode()


def piece(delta: object, reason: str | None = None, index: int = 0) -> dict[str, object]:
    return {"id": "c", "choices": [{"index": index, "delta": delta, "finish_reason": reason}]}


def answer(body: bytes | Failure) -> Any:
    assert isinstance(body, bytes)
    return json.loads(body)


def failure(body: bytes | Failure) -> Failure:
    assert isinstance(body, Failure)
    return body


def without_empty_content(answer: Any) -> Any:
    """A stream opens with an empty content where a whole answer has null."""
    for choice in answer["choices"]:
        if not choice["message"].get("content"):
            choice["message"].pop("content", None)
    return answer


@pytest.mark.parametrize("name", names("chat", "sse"))
def test_recorded_streams_say_what_the_whole_answers_say(name: str) -> None:
    body = assemble(ASKED, stream("chat", name))
    assert without_empty_content(told(answer(body))) == without_empty_content(said(whole("chat", name)))
    ChatCompletion.model_validate(answer(body))


def test_odd_streams_are_read() -> None:
    plain = answer(assemble(ASKED, odd("chat-no-done")))
    assert plain["choices"][0]["message"]["content"] == "Hello"
    assert plain["usage"]["total_tokens"] == 7
    for name in ("chat-interleaved-tools", "chat-sloppy-tools"):
        calls = answer(assemble(ASKED, odd(name)))["choices"][0]["message"]["tool_calls"]
        assert [call["id"] for call in calls] == ["call_a", "call_b"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("chat-cut", Kind.UPSTREAM),
        ("chat-error", Kind.UPSTREAM),
        ("chat-error-chunk", Kind.UPSTREAM),
        ("messages-error", Kind.OVERLOADED),
    ],
)
def test_broken_streams_fail(name: str, kind: Kind) -> None:
    assert failure(assemble(ASKED, odd(name))).kind is kind


@pytest.mark.parametrize(
    "error",
    [
        {"object": "error", "message": "slow down", "type": "RateLimitError", "code": 429},
        {"type": "error", "code": "rate_limit_exceeded", "message": "slow down"},
        {"type": "response.failed", "response": {"error": {"code": "slow_down", "message": "slow down"}}},
    ],
)
def test_flat_and_foreign_errors_are_errors(error: dict[str, object]) -> None:
    found = failure(assemble(ASKED, events(piece({"content": "a"}), error)))
    assert (found.kind, found.message) == (Kind.RATE_LIMIT, "slow down")


def test_every_choice_must_finish() -> None:
    both = [piece({"content": "a"}, "stop", 0), piece({"content": "b"}, "length", 1)]
    two = answer(assemble(asked(Protocol.CHAT, choices=2), events(*both)))
    assert [choice["index"] for choice in two["choices"]] == [0, 1]
    failure(assemble(asked(Protocol.CHAT, choices=2), events(both[0])))
    failure(assemble(ASKED, events(both[0], piece({"content": "b"}, None, 1))))


def test_without_done_a_finish_is_enough_but_not_an_empty_one() -> None:
    assert answer(assemble(ASKED, events(piece({"content": "a"}, "stop"), done=False)))
    failure(assemble(ASKED, events(piece({"content": "a"}, ""), done=False)))
    finished = answer(assemble(ASKED, events(piece({"content": "a"}, ""))))
    assert finished["choices"][0]["finish_reason"] == "stop"


def test_nothing_after_done_counts() -> None:
    late = events(piece({"content": "a"}, "stop")) + events(piece({"content": "b"}, "stop"))
    assert answer(assemble(ASKED, late))["choices"][0]["message"]["content"] == "a"


def test_the_last_usage_counts_and_null_is_none() -> None:
    chunks = [
        {"choices": [], "usage": {"prompt_tokens": 1}},
        piece({"content": "a"}, "stop") | {"usage": {"prompt_tokens": 2}},
        {"choices": [], "usage": None, "service_tier": "flex", "obfuscation": "xx"},
    ]
    found = answer(assemble(ASKED, events(*chunks)))
    assert (found["usage"], found["service_tier"]) == ({"prompt_tokens": 2}, "flex")
    assert "obfuscation" not in found
    assert "usage" not in answer(assemble(ASKED, events(piece({"content": "a"}, "stop"))))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b": only\n\n",
        b"data: [DONE]\n\n",
        b"data: {\n\n",
        b"data: 5\n\n",
        b"event: error\ndata: {}\n\n",
        events(piece({"content": "a"}, "error")),
        b"data: {}\n" * 20_000 + b"\n",
        b'data: {"choices":' + b"[" * 3000,
    ],
)
def test_what_says_no_answer_fails(body: bytes) -> None:
    assert failure(assemble(ASKED, body)).kind is Kind.UPSTREAM


def test_depth_is_no_danger() -> None:
    nested: object = "x"
    for _ in range(400):
        nested = {"a": [nested]}
    assemble(ASKED, events(piece({"v": nested}), piece({"v": nested}, "stop")))
