"""Whatever JSON an upstream's events hold: reading never fails, and what goes out is whole events."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.protocols.frames import asked, frames

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.core.sse import Form, Frame, Framer
from tidegate.core.usage import Usage
from tidegate.protocols.base import Said, Seed, Watcher
from tidegate.protocols.cleaning import cleaner
from tidegate.protocols.registry import dialect_of

NAMES = [
    *(
        "type",
        "error",
        "message",
        "code",
        "param",
        "model",
        "id",
        "created",
        "created_at",
        "choices",
        "index",
    ),
    *(
        "delta",
        "content",
        "finish_reason",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "usage",
        "response",
    ),
    *("sequence_number", "item", "part", "output", "status", "text", "refusal", "summary", "content_block"),
    *(
        "prompt_tokens",
        "output_tokens",
        "input_tokens",
        "incomplete_details",
        "reason",
        "stop_reason",
        "thinking",
    ),
]
KINDS = [
    *("error", "response.failed", "response.created", "response.completed", "response.output_text.delta"),
    *("response.output_item.added", "response.output_item.done", "response.web_search_call.searching"),
    *("message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop", "ping"),
    *("thinking", "text", "tool_use", "message", "reasoning", "function_call", "a\nb", "\r", "\ud800", ""),
]
words = st.sampled_from(KINDS) | st.text(max_size=4)
numbers = st.integers() | st.floats() | st.sampled_from([10**30, -(10**30), 1e308, 2**63, 0])
values = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=15,
)
payloads = st.dictionaries(st.sampled_from(NAMES), values, max_size=6)
lines = st.sampled_from(["", "event: error\n", "event: x\n", "id: 7\n", ": c\n", "retry: 1\n", "event:\n"])
protocols = st.sampled_from(Protocol)
CLEAN = cleaner(secrets=("upstream-credential-1",))
CUT = Failure(kind=Kind.INTERRUPTED, message="cut")


def written(payload: dict[str, Any], line: str) -> bytes:
    text = json.dumps(payload).replace("Infinity", "1e999").replace("NaN", "1e999")
    return f"{line}data: {text}\n\n".encode()


def fresh(protocol: Protocol, *, wants: bool) -> Watcher:
    request = asked(protocol, wants_usage=wants, stores=True)
    return dialect_of(protocol).watcher(request, CLEAN, Seed("s" * 24, 1))


@settings(deadline=None)
@given(protocols, st.booleans(), st.lists(st.tuples(payloads, lines), max_size=6))
def test_reading_never_fails_and_writes_whole_events(
    protocol: Protocol, wants: bool, events: list[tuple[dict[str, Any], str]]
) -> None:
    reader = fresh(protocol, wants=wants)
    for payload, line in events:
        for frame in frames(written(payload, line)):
            said = reader.read(frame)
            if said in (Said.DROPPED, Said.BROKEN):
                continue
            check(protocol, reader.outgoing(frame), frame, said)
            if said is Said.ERROR:
                return
    check_ends(reader)


def check(protocol: Protocol, out: bytes, frame: Frame, said: Said) -> None:
    found = Framer(1 << 24).feed(out)
    assert b"".join(each.raw for each in found) == out, "whole events and nothing else"
    assert all(each.form is Form.PLAIN for each in found)
    if said is Said.ERROR:
        assert found
        return
    [passed] = found
    assert passed.id == frame.id
    assert protocol is not Protocol.CHAT or passed.event is None
    before, after = json.loads(frame.data), json.loads(passed.data)
    assert unnamed(before) == unnamed(after), "nothing but the model's name has changed"


def unnamed(value: Any) -> Any:
    match value:
        case dict():
            return {name: unnamed(member) for name, member in value.items() if name != "model"}
        case list():
            return [unnamed(each) for each in value]
        case _:
            return value


def check_ends(reader: Watcher) -> None:
    reader.text().encode()
    assert Framer(1 << 24).feed(reader.error_event(CUT))
    for estimate in (None, Usage(input=1, output=1)):
        end = reader.closing(estimate)
        assert b"".join(each.raw for each in Framer(1 << 24).feed(end)) == end
    assert all(isinstance(each, str) for each in reader.ids)


shapes = st.recursive(
    st.just("%"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=4,
)


@settings(deadline=None)
@given(protocols, st.text(max_size=30), shapes)
def test_a_secret_in_an_error_never_goes_out(protocol: Protocol, around: str, shape: Any) -> None:
    said = f"{around} upstream-credential-1 {around}"
    for error in (
        {"error": filled(shape, said)},
        {"type": "error", "error": {"message": said, "code": said, "type": said, "x": filled(shape, said)}},
    ):
        reader = fresh(protocol, wants=False)
        for frame in frames(written(error, "event: error\n")):
            assert reader.read(frame) is Said.ERROR
            assert b"credential-1" not in reader.outgoing(frame)


def filled(shape: Any, said: str) -> Any:
    return json.loads(json.dumps(shape).replace("%", json.dumps(said)[1:-1]))
