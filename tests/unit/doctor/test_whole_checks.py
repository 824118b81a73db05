import json
from typing import Any

import pytest
from tests.unit.doctor.streams import CASES, put

from tidegate.core.protocol import Protocol
from tidegate.doctor.recording import Head
from tidegate.doctor.whole_checks import check_whole, whole_summary

JSON = Head(0.1, 200, (("content-type", "application/json"),))


def answer(protocol: Protocol, case: str = "text") -> dict[str, Any]:
    read: dict[str, Any] = json.loads((CASES / case / f"{protocol.value}.json").read_text(encoding="utf-8"))
    return read


def rules(protocol: Protocol, body: object, head: Head = JSON) -> set[str]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return {finding.rule for finding in check_whole(head, raw, protocol)}


@pytest.mark.parametrize("case", ["text", "tool-call", "refusal", "max-tokens", "reasoning-text"])
@pytest.mark.parametrize("protocol", Protocol)
def test_a_good_answer_has_no_finding(protocol: Protocol, case: str) -> None:
    assert rules(protocol, answer(protocol, case)) == set()


@pytest.mark.parametrize(
    ("protocol", "path", "value"),
    [
        (Protocol.CHAT, "object", "list"),
        (Protocol.CHAT, "id", None),
        (Protocol.CHAT, "choices", []),
        (Protocol.CHAT, "choices.0.index", None),
        (Protocol.CHAT, "choices.0.message", {"role": "assistant"}),
        (Protocol.CHAT, "choices.0.message.role", "user"),
        (Protocol.CHAT, "choices.0.finish_reason", "eos"),
        (Protocol.CHAT, "choices.0.message.content", 5),
        (Protocol.RESPONSES, "tools", None),
        (Protocol.RESPONSES, "created_at", "today"),
        (Protocol.MESSAGES, "content.0.text", None),
        (Protocol.RESPONSES, "object", "list"),
        (Protocol.RESPONSES, "status", "in_progress"),
        (Protocol.RESPONSES, "output.0.id", ""),
        (Protocol.MESSAGES, "type", "text"),
        (Protocol.MESSAGES, "content", "text"),
        (Protocol.MESSAGES, "content.0.type", ""),
        (Protocol.MESSAGES, "stop_reason", None),
    ],
)
def test_what_is_wrong_is_named(protocol: Protocol, path: str, value: object) -> None:
    body = [answer(protocol)]
    put(0, path, value)(body)
    assert rules(protocol, body[0]) == {"whole-form"}


def test_a_missing_member_is_named() -> None:
    body = answer(Protocol.RESPONSES)
    del body["tool_choice"]
    assert rules(Protocol.RESPONSES, body) == {"whole-form"}


@pytest.mark.parametrize("protocol", Protocol)
def test_usage_is_told(protocol: Protocol) -> None:
    assert rules(protocol, answer(protocol) | {"usage": None}) == {"usage-missing"}


@pytest.mark.parametrize("body", [b"data: {}\n\n", b"", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_no_object_is_told(body: bytes) -> None:
    assert rules(Protocol.CHAT, body) == {"body-form"}


def test_the_content_type_is_that_of_json() -> None:
    head = Head(0.1, 200, (("content-type", "text/event-stream"),))
    assert rules(Protocol.CHAT, answer(Protocol.CHAT), head) == {"content-type"}


@pytest.mark.parametrize(
    ("protocol", "case", "stop"),
    [
        (Protocol.CHAT, "max-tokens", "length"),
        (Protocol.RESPONSES, "max-tokens", "max_output_tokens"),
        (Protocol.RESPONSES, "text", "completed"),
        (Protocol.MESSAGES, "max-tokens", "max_tokens"),
    ],
)
def test_the_end_is_read(protocol: Protocol, case: str, stop: str) -> None:
    said = whole_summary(json.dumps(answer(protocol, case)).encode(), protocol)
    assert said.stop == stop
    assert said.output_tokens is not None
    assert whole_summary(b"{", protocol).failed
