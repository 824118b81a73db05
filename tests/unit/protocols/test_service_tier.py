"""The tier that a caller asks for and the one that an upstream served at, in all three dialects."""

import json
from typing import Any

import pytest
from tests.unit.protocols.asking import asked
from tests.unit.protocols.decoded import decode
from tests.unit.protocols.frames import data, named, passed, watcher

from tidegate.core.events import UsageTold
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.protocols.base import Whole
from tidegate.protocols.registry import dialect_of
from tidegate.protocols.service_tier import asked_tier, tier_in, with_tier

CHAT, RESPONSES, MESSAGES = Protocol.CHAT, Protocol.RESPONSES, Protocol.MESSAGES
SMALLEST: dict[Protocol, dict[str, Any]] = {
    CHAT: {"messages": [{"role": "user", "content": "hi"}]},
    RESPONSES: {"input": "hi"},
    MESSAGES: {"max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]},
}
USED = {"prompt_tokens": 4, "completion_tokens": 2}
COUNTS = {"input_tokens": 4, "output_tokens": 2}
SAID = {"index": 0, "delta": {"content": "t"}}
ENDED = {"index": 0, "delta": {}, "finish_reason": "stop"}
RESPONSE = {"id": "r", "object": "response", "status": "completed", "output": [], "usage": COUNTS}
MESSAGE = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m"}


def completed(**more: Any) -> bytes:
    created = named({"type": "response.created", "response": {"id": "r", "service_tier": "auto"}})
    return created + named({"type": "response.completed", "response": RESPONSE | more})


def message(first: dict[str, Any], last: dict[str, Any]) -> bytes:
    ending = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": last}
    start = {"type": "message_start", "message": MESSAGE | {"usage": first}}
    return named(start) + named(ending) + named({"type": "message_stop"})


def chunks(*chunks: dict[str, Any]) -> bytes:
    return b"".join(map(data, chunks)) + data("[DONE]")


STREAMS = [
    (CHAT, chunks({"choices": [SAID]}, {"choices": [ENDED]}, {"choices": [], "usage": USED}), None),
    (
        CHAT,
        chunks({"choices": [SAID, ENDED]}, {"choices": [], "usage": USED, "service_tier": "flex"}),
        "flex",
    ),
    (CHAT, chunks({"choices": [SAID, ENDED], "usage": USED, "service_tier": "flex"}), "flex"),
    (
        CHAT,
        chunks({"choices": [SAID, ENDED], "x_groq": {"usage": USED}, "service_tier": "on_demand"}),
        "on_demand",
    ),
    (CHAT, chunks({"choices": [SAID, ENDED | {"usage": USED}], "service_tier": "flex"}), "flex"),
    (CHAT, chunks({"choices": [SAID, ENDED], "usage": USED, "service_tier": None}), None),
    (RESPONSES, completed(service_tier="priority"), "priority"),
    (RESPONSES, completed(), None),
    (RESPONSES, completed(service_tier=5), None),
    (MESSAGES, message({"input_tokens": 4, "service_tier": "standard"}, {"output_tokens": 2}), "standard"),
    (MESSAGES, message({"input_tokens": 4}, {"output_tokens": 2, "service_tier": "batch"}), "batch"),
    (MESSAGES, message({"output_tokens": 1, "service_tier": "priority"}, COUNTS), "priority"),
    (MESSAGES, message({"input_tokens": 4}, {"output_tokens": 2}), None),
    (MESSAGES, message({"input_tokens": 4, "speed": "fast", "service_tier": "standard"}, COUNTS), "fast"),
    (MESSAGES, message({"input_tokens": 4, "speed": "standard"}, {"output_tokens": 2}), "standard"),
    (MESSAGES, message({"speed": "standard", "service_tier": "priority"} | COUNTS, COUNTS), "priority"),
]


@pytest.mark.parametrize(("protocol", "raw", "tier"), STREAMS)
def test_a_stream_that_is_watched_tells_its_tier(protocol: Protocol, raw: bytes, tier: str | None) -> None:
    reader = watcher(protocol)
    passed(reader, raw)
    assert reader.usage is not None
    assert (reader.usage.input, reader.usage.output, reader.usage.service_tier) == (4, 2, tier)


@pytest.mark.parametrize(("protocol", "raw", "tier"), STREAMS)
def test_a_stream_that_is_converted_tells_its_tier(protocol: Protocol, raw: bytes, tier: str | None) -> None:
    told = [event.usage for event in decode(protocol, raw) if isinstance(event, UsageTold)]
    assert told[-1].service_tier == tier
    assert all(usage.input is not None or usage.output is not None for usage in told)


@pytest.mark.parametrize(
    ("protocol", "answer"),
    [
        (CHAT, {"choices": [{"message": {"content": "t"}}], "usage": USED, "service_tier": "flex"}),
        (RESPONSES, RESPONSE | {"service_tier": "flex"}),
        (MESSAGES, MESSAGE | {"usage": COUNTS | {"service_tier": "flex"}}),
    ],
)
def test_a_whole_answer_tells_its_tier(protocol: Protocol, answer: dict[str, Any]) -> None:
    request = asked(protocol, SMALLEST[protocol])
    whole = dialect_of(protocol).read_whole(request, json.dumps(answer).encode())
    assert isinstance(whole, Whole)
    assert whole.usage is not None
    assert (whole.usage.input, whole.usage.output, whole.usage.service_tier) == (4, 2, "flex")


@pytest.mark.parametrize("protocol", Protocol)
@pytest.mark.parametrize(
    ("written", "tier"),
    [("priority", "priority"), (None, None), ("", None), ("x" * 64, "x" * 64), ("x" * 65, None)],
)
def test_the_tier_that_is_asked_for_stands_in_the_request(
    protocol: Protocol, written: str | None, tier: str | None
) -> None:
    assert asked_tier(asked(protocol, SMALLEST[protocol] | {"service_tier": written})) == tier
    assert asked_tier(asked(protocol, SMALLEST[protocol])) is None


@pytest.mark.parametrize(
    ("members", "tier"),
    [
        ({"speed": "fast"}, "fast"),
        ({"speed": "fast", "service_tier": "auto"}, "fast"),
        ({"speed": "standard", "service_tier": "auto"}, "auto"),
        ({"speed": None}, None),
        ({"speed": 7, "service_tier": "auto"}, "auto"),
    ],
)
def test_a_speed_of_messages_is_a_tier(members: dict[str, Any], tier: str | None) -> None:
    assert asked_tier(asked(MESSAGES, SMALLEST[MESSAGES] | members)) == tier
    elsewhere = members.get("service_tier")
    assert asked_tier(asked(CHAT, SMALLEST[CHAT] | members)) == elsewhere


def test_a_tier_without_counts_says_nothing() -> None:
    assert with_tier(None, "flex") is None
    assert with_tier(Usage(input=1), None) == Usage(input=1)
    assert with_tier(Usage(input=1), "flex") == Usage(input=1, service_tier="flex")


@pytest.mark.parametrize(
    ("text", "tier"),
    [
        (b'{"service_tier":"flex"}', "flex"),
        (b'{"a":{"service_tier":"flex"}}', None),
        (b'["service_tier"]', None),
        (b"{}", None),
    ],
)
def test_a_tier_is_a_member_of_the_event_itself(text: bytes, tier: object) -> None:
    assert tier_in(text) == tier
