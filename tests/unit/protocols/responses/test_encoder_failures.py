"""How a Responses answer ends that the upstream breaks off."""

from typing import Any

import pytest
from tests.unit.protocols.encoding import (
    answer,
    call,
    encoder,
    payloads,
    text,
    thought,
    written,
)

from tidegate.core.events import (
    CallKind,
    Event,
    Opaque,
    Spoken,
)
from tidegate.core.failure import Kind
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.protocols.conversion import ToolName
from tidegate.protocols.failures import failed

RESPONSES, MESSAGES, CHAT = Protocol.RESPONSES, Protocol.MESSAGES, Protocol.CHAT
THOUGHT = Opaque(CHAT, "a")
SUMMARY = {"reasoning": {"summary": "auto"}}
NAMES = {
    "apply_patch": ToolName("apply_patch", CallKind.CUSTOM, "functions"),
    "files__list": ToolName("list", namespace="files"),
}


def stream(events: list[Event], upstream: Protocol = CHAT, usage: Usage | None = None, **more: Any) -> bytes:
    return written(encoder(RESPONSES, upstream, **more), events, usage)


def test_a_failure_closes_nothing() -> None:
    writer = encoder(RESPONSES, CHAT)
    said = written(writer, answer(text("a"), text("b"))[:-2])
    last = payloads(writer.error_event(failed(Kind.RATE_LIMIT)))
    before = payloads(said)
    assert [each["sequence_number"] for each in before + last] == list(range(len(before) + 1))
    response = last[0]["response"]
    assert last[0]["type"] == "response.failed"
    assert response["status"] == "failed"
    assert response["error"] == {"code": "rate_limit_exceeded", "message": "Rate limit reached for requests."}
    assert [(item["status"], item["content"][0]["text"]) for item in response["output"]] == [
        ("completed", "a"),
        ("incomplete", "b"),
    ]
    assert response["usage"] is None


@pytest.mark.parametrize(
    ("block", "member", "told"),
    [
        (thought("a"), "content", [{"type": "reasoning_text", "text": "a"}]),
        (call("c", "f", '{"x"'), "arguments", '{"x"'),
        (call("c", "apply_patch", '{"input":"l'), "input", ""),
    ],
)
def test_a_failure_shows_what_had_been_streamed(block: list[Spoken], member: str, told: Any) -> None:
    writer = encoder(RESPONSES, CHAT, names=NAMES)
    written(writer, answer(block)[:-2])
    [last] = payloads(writer.error_event(failed(Kind.UPSTREAM)))
    [item] = last["response"]["output"]
    assert (item["status"], item[member]) == ("incomplete", told)


def test_a_failure_before_anything_still_opens_the_stream() -> None:
    told = payloads(encoder(RESPONSES, CHAT).error_event(failed(Kind.CONTEXT_LENGTH)))
    assert [each["type"] for each in told] == ["response.created", "response.failed"]
    assert [each["sequence_number"] for each in told] == [0, 1]
    assert told[1]["response"]["error"]["code"] == "context_length_exceeded"
    assert told[0]["response"]["status"] == "in_progress"
