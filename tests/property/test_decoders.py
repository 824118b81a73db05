"""Whatever an upstream sends, decoding never fails and keeps the grammar of events; what is meant is kept."""

import json
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.protocols.decoded import PAIRS, Said, check, decode, decoder, told
from tests.unit.protocols.frames import frames, named
from tests.unit.protocols.upstreams import (
    DONE,
    MESSAGE_STOP,
    added,
    begin,
    call,
    calls,
    chunk,
    completed,
    created,
    done,
    ending,
    event,
    grow,
    message,
    stop,
)

from tidegate.core.events import Event, Finished, Stop
from tidegate.core.protocol import Protocol
from tidegate.core.sse import Form, Frame

protocols = st.sampled_from(Protocol)
END_MARKS = {
    Protocol.CHAT: (b'"finish_reason"',),
    Protocol.MESSAGES: (b"stop_reason",),
    Protocol.RESPONSES: (b"response.completed", b"response.incomplete", b"response.done"),
}


def read_all(protocol: Protocol, given_frames: list[Frame]) -> list[Event]:
    """The events of the frames; their grammar is checked, and that no success is made up."""
    reader = decoder(protocol)
    events = [each for frame in given_frames for each in reader.decode(frame)]
    events.extend(reader.finish())
    check(events)
    if events and isinstance(events[-1], Finished):
        whole = b"".join(frame.data + (frame.event or b"") for frame in given_frames)
        assert any(mark in whole for mark in END_MARKS[protocol])
    return events


@given(protocols, st.lists(st.tuples(st.binary(max_size=40), st.none() | st.binary(max_size=10)), max_size=5))
def test_any_bytes(protocol: Protocol, pieces: list[tuple[bytes, bytes | None]]) -> None:
    read_all(protocol, [Frame(b"", data, name, None, Form.IRREGULAR) for data, name in pieces])


NAMES = [
    *("type", "index", "delta", "id", "choices", "finish_reason", "content", "text", "name", "arguments"),
    *("tool_calls", "function", "usage", "message", "content_block", "item", "part", "response", "output"),
    *("status", "item_id", "output_index", "content_index", "summary_index", "stop_reason", "thinking"),
    *("signature", "partial_json", "citation", "citations", "annotations", "url", "title", "summary"),
    *("encrypted_content", "refusal", "reasoning_content", "reasoning", "reasoning_details", "input"),
    *("function_call", "custom", "logprobs", "call_id", "error", "action", "query", "namespace"),
]
KINDS = [
    *("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta"),
    *("message_stop", "text", "thinking", "tool_use", "server_tool_use", "text_delta", "input_json_delta"),
    *("response.created", "response.output_item.added", "response.output_item.done", "response.completed"),
    *("response.output_text.delta", "response.output_text.done", "response.refusal.delta", "function_call"),
    *("response.function_call_arguments.delta", "response.reasoning_text.delta", "reasoning", "web_search"),
    *("response.reasoning_summary_part.added", "response.content_part.done", "custom_tool_call", "stop"),
    *("web_search_call", "length", "tool_calls", "end_turn", "incomplete", "", "{}", "\ud800", "output_text"),
]
words = st.sampled_from(KINDS) | st.text(max_size=3)
small = st.integers(-1, 3)
values = st.recursive(
    st.none() | st.booleans() | small | st.sampled_from([10**30, 1e308, 0.5]) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=12,
)
payloads = st.dictionaries(st.sampled_from(NAMES), values, max_size=6)
openings = {
    Protocol.CHAT: calls(call(0, "a", "f", '{"')),
    Protocol.MESSAGES: message() + begin(0, {"type": "text", "text": "x"}),
    Protocol.RESPONSES: created() + added(0, {"type": "message", "id": "m"}),
}


@given(protocols, st.booleans(), st.lists(payloads, max_size=8))
def test_any_payloads(protocol: Protocol, opened: bool, events: list[dict[str, Any]]) -> None:
    raw = openings[protocol] if opened else b""
    raw += b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in events)
    read_all(protocol, frames(raw))


RECORDED = [
    (Protocol(path.name.split(".")[1]), path.read_bytes()) for path in sorted(PAIRS.glob("*/upstream.*.sse"))
]


@given(st.sampled_from(RECORDED), st.data())
def test_recorded_streams_with_events_lost_doubled_and_moved(
    recorded: tuple[Protocol, bytes], data: st.DataObject
) -> None:
    protocol, raw = recorded
    whole = frames(raw)
    places = data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=len(whole)))
    kept = data.draw(st.sampled_from([[whole[place] for place in places], whole[: len(places)]]))
    read_all(protocol, kept)


@given(st.sampled_from(RECORDED), st.integers(0), st.integers(0, 255))
def test_recorded_streams_with_one_byte_changed(recorded: tuple[Protocol, bytes], at: int, byte: int) -> None:
    protocol, raw = recorded
    changed = bytearray(raw)
    changed[at % len(raw)] = byte
    read_all(protocol, frames(bytes(changed)))


pieces = st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=4)
inputs = st.dictionaries(st.text(max_size=3), st.text(max_size=3) | st.integers(0, 99), max_size=2)


def divided(text: str, cuts: list[int]) -> list[str]:
    """The text in fragments, none of them empty."""
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[start:end] for start, end in pairwise(places)]


cuts = st.lists(st.integers(0, 30), max_size=4)


def woven(data: st.DataObject, lanes: list[list[bytes]]) -> list[bytes]:
    """The events of all lanes in some order that keeps each lane's own."""
    turns = [number for number, lane in enumerate(lanes) for _ in lane]
    queues = [list(lane) for lane in lanes]
    return [queues[number].pop(0) for number in data.draw(st.permutations(turns))]


@given(st.data(), st.lists(inputs, min_size=1, max_size=4), st.booleans(), st.booleans())
def test_interleaved_calls_of_chat(
    data: st.DataObject, given_inputs: list[dict[str, Any]], named_always: bool, numbered: bool
) -> None:
    lanes: list[list[bytes]] = []
    expected: list[Said] = []
    for number, value in enumerate(given_inputs):
        text = json.dumps(value)
        index, id_, name = number if numbered else None, f"id{number}", f"f{number}"
        first, *rest = divided(text, data.draw(cuts))
        later = name if named_always else None
        lanes.append([calls(call(index, id_, name, first))])
        lanes[-1].extend(calls(call(index, id_, later, each)) for each in rest)
        expected.append(("function", id_, name, text))
    stream = [*woven(data, lanes), chunk({}, "tool_calls"), DONE]
    said = told(decode(Protocol.CHAT, b"".join(stream)))
    assert sorted(said[:-1]) == sorted(expected)
    assert said[-1] == (Stop.TOOL_CALLS,)


blocks = st.tuples(st.sampled_from(["text", "thinking", "tool_use"]), pieces)


@given(st.data(), st.lists(blocks, max_size=5))
def test_interleaved_blocks_of_messages(data: st.DataObject, script: list[tuple[str, list[str]]]) -> None:
    members = {"text": "text", "thinking": "thinking", "tool_use": "partial_json"}
    lanes, expected = [], []
    for number, (kind, said) in enumerate(script):
        start = {"type": kind, "id": f"id{number}", "name": "f"}
        deltas = [grow(number, **{members[kind]: piece}) for piece in said]
        lanes.append([begin(number, start), *deltas, stop(number)])
        names = {"text": ("text",), "thinking": ("reasoning",), "tool_use": ("function", f"id{number}", "f")}
        expected.append((*names[kind], "".join(said)))
    stream = [message(), *woven(data, lanes), ending("end_turn"), MESSAGE_STOP]
    assert sorted(told(decode(Protocol.MESSAGES, b"".join(stream)))[:-1]) == sorted(expected)


DELTAS = {
    "message": "output_text",
    "reasoning": "reasoning_summary_text",
    "function_call": "function_call_arguments",
}
items = st.tuples(st.sampled_from(sorted(DELTAS)), pieces)


@settings(deadline=None)
@given(st.data(), st.lists(items, max_size=5), st.booleans())
def test_interleaved_items_of_responses_told_in_part(
    data: st.DataObject, script: list[tuple[str, list[str]]], output: bool
) -> None:
    """Any beginning of the deltas and the final item, in any mixture, say the same."""
    lanes, expected, finals = [], [], []
    for number, (kind, said) in enumerate(script):
        text = "".join(said)
        opened = {"type": kind, "id": f"i{number}", "call_id": f"id{number}", "name": "f"}
        final: dict[str, Any] = opened | {"arguments": text, "summary": [{"text": text}]}
        if kind == "message":
            final["content"] = [{"type": "output_text", "text": text}]
        name = DELTAS[kind]
        shown = data.draw(st.integers(0, len(said)))
        deltas = [event(f"{name}.delta", number, delta=piece) for piece in said[:shown]]
        begun = [added(number, opened)] if shown or data.draw(st.booleans()) else []
        ended = [done(number, final)] if not output or data.draw(st.booleans()) else []
        lanes.append([*begun, *deltas, *ended])
        heads = {"message": ("text",), "reasoning": ("reasoning",)}
        expected.append((*heads.get(kind, ("function", f"id{number}", "f")), text))
        finals.append(final)
    end = completed(*(finals if output else []))
    stream = [created(), named({"type": "ping"}), *woven(data, lanes), end]
    assert sorted(told(decode(Protocol.RESPONSES, b"".join(stream)))[:-1]) == sorted(expected)
