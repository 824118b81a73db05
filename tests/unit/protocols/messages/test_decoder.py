"""Messages streams as events."""

from typing import Any

import pytest
from tests.unit.protocols.decoded import broken, decode, told
from tests.unit.protocols.frames import data, named
from tests.unit.protocols.upstreams import MESSAGE_STOP, begin, ending, grow, message, stop

from tidegate.core.events import Event, Failed, Finished, Started, Stop, UsageTold
from tidegate.core.failure import Kind
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage

TEXT: dict[str, Any] = {"type": "text", "text": ""}
END = ending("end_turn") + MESSAGE_STOP


def of(*parts: bytes) -> list[Event]:
    return decode(Protocol.MESSAGES, b"".join(parts))


def text(index: int, words: str) -> bytes:
    return begin(index, TEXT) + grow(index, text=words) + stop(index)


def test_blocks_in_their_order() -> None:
    events = of(
        message(),
        text(0, "\n"),
        begin(1, {"type": "thinking", "thinking": "", "signature": ""}),
        grow(1, thinking="t"),
        grow(1, signature="S"),
        stop(1),
        text(2, "a"),
        END,
    )
    assert events[0] == Started("m1")
    assert told(events) == [("text", "\n"), ("reasoning", "t"), ("text", "a"), (Stop.END,)]


def test_interleaved_blocks_come_one_after_the_other() -> None:
    call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    events = of(
        message(),
        begin(0, TEXT),
        begin(1, call),
        grow(1, partial_json='{"n"'),
        grow(0, text="x"),
        grow(1, partial_json=":1}"),
        stop(1),
        grow(0, text="y"),
        stop(0),
        ending("tool_use"),
        MESSAGE_STOP,
    )
    assert told(events) == [("text", "xy"), ("function", "a", "f", '{"n":1}'), (Stop.TOOL_CALLS,)]


@pytest.mark.parametrize(
    ("reason", "finished"),
    [
        ("end_turn", Finished(Stop.END)),
        ("max_tokens", Finished(Stop.LENGTH)),
        ("model_context_window_exceeded", Finished(Stop.CONTEXT)),
        ("tool_use", Finished(Stop.TOOL_CALLS)),
        ("pause_turn", Finished(Stop.PAUSE)),
        ("compaction", Finished(Stop.END)),
        ("something_new", Finished(Stop.END)),
    ],
)
def test_stop_reasons(reason: str, finished: Finished) -> None:
    assert of(message(), text(0, "a"), ending(reason), MESSAGE_STOP)[-1] == finished


def test_the_stop_sequence_is_told() -> None:
    end = ending("stop_sequence", stop_sequence="</b>")
    assert of(message(), end, MESSAGE_STOP)[-1] == Finished(Stop.STOP_SEQUENCE, stop_sequence="</b>")


def test_a_refusal_tells_why() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "why"}
    end = ending("refusal", stop_details=details)
    finished = Finished(Stop.REFUSAL, explanation="why", category="cyber")
    assert of(message(), text(0, "a"), end, MESSAGE_STOP)[-1] == finished


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
def test_only_the_last_block_is_cut_by_a_limit(reason: str) -> None:
    events = of(message(), text(0, "a"), text(1, "b"), ending(reason), MESSAGE_STOP)
    assert told(events)[:2] == [("text", "a"), ("text", "b", "cut")]


def test_the_last_value_of_several_ends_counts() -> None:
    events = of(
        message({"input_tokens": 0, "output_tokens": 0}),
        ending("tool_use", {"output_tokens": 3}),
        ending(None, {"input_tokens": 8, "cache_read_input_tokens": 4, "output_tokens": 6}),
        MESSAGE_STOP,
    )
    assert events[-2] == UsageTold(Usage(input=8, cache_read=4, output=6))
    assert events[-1] == Finished(Stop.TOOL_CALLS)


def test_counts_replace_those_before_field_by_field() -> None:
    first = {"input_tokens": 27, "cache_read_input_tokens": 100, "output_tokens": 1}
    last = {"input_tokens": 27, "output_tokens": 47, "server_tool_use": {"web_search_requests": 1}}
    events = of(message(first), ending("end_turn", last), MESSAGE_STOP)
    assert events[1:-1] == [
        UsageTold(Usage(input=27, cache_read=100)),
        UsageTold(Usage(input=27, cache_read=100, output=47, web_searches=1)),
    ]


def test_counts_that_are_told_again_are_no_news() -> None:
    counts = {"input_tokens": 5, "output_tokens": 2}
    events = of(message(None), ending(None, counts), ending("end_turn", counts), MESSAGE_STOP)
    assert events[1:-1] == [UsageTold(Usage(input=5, output=2))]


@pytest.mark.parametrize("first", [None, {}, {"output_tokens": 1}])
def test_usage_in_only_one_place(first: Any) -> None:
    events = of(message(first), ending("end_turn", {"input_tokens": 5, "output_tokens": 2}), MESSAGE_STOP)
    assert events[1:-1] == [UsageTold(Usage(input=5, output=2))]


def test_what_says_nothing() -> None:
    events = of(
        named({"type": "ping"}),
        message(),
        named({"type": "ping"}),
        data("[DONE]"),
        named({"type": "keepalive"}),
        b"event: something\ndata: {}\n\n",
        begin(0, TEXT),
        named({"type": "content_block_delta", "index": 0}),
        grow(0, text=""),
        grow(0, mystery=1),
        stop(0),
        END,
        grow(0, text="late"),
        MESSAGE_STOP,
    )
    assert told(events) == [(Stop.END,)]


def test_the_name_of_an_event_may_stand_for_its_type_and_the_other_way_round() -> None:
    unnamed = data(
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hel"}}
    )
    untyped = b'event: content_block_delta\ndata: {"index":0,"delta":{"text":"lo"}}\n\n'
    assert told(of(message(), unnamed, untyped, stop(0), END)) == [("text", "Hello"), (Stop.END,)]


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param([message(), grow(0, partial_json="{")], id="a call's input before its block"),
        pytest.param([message(), text(0, "a"), grow(0, text="b")], id="a delta after its block"),
        pytest.param([message(), begin(0, TEXT), grow(1, text="a")], id="a delta of no block"),
        pytest.param([message(), begin(0, TEXT), grow(None, text="a")], id="a delta without a number"),
        pytest.param([message(), begin(0, TEXT), grow(0, thinking="a")], id="a delta of another kind"),
        pytest.param([message(), begin(0, TEXT), begin(0, TEXT)], id="a block twice"),
        pytest.param([message(), text(0, "a"), text(0, "b")], id="a number twice"),
        pytest.param([message(), begin(None, TEXT)], id="a block without a number"),
        pytest.param([message(), stop(0)], id="the end of no block"),
        pytest.param([message(), begin(0, TEXT)], id="a block without its end"),
        pytest.param([message(), message()], id="a message twice"),
        pytest.param([begin(0, TEXT)], id="a block before its message"),
        pytest.param([], id="an end before its message"),
        pytest.param([message(), MESSAGE_STOP], id="an end without a reason"),
        pytest.param([message(), ending(None), MESSAGE_STOP], id="an end with no reason told"),
        pytest.param([message(), b'data: {"type":"content_block_st\n\n'], id="broken JSON"),
        pytest.param([message(), data([])], id="no object"),
        pytest.param([message(), begin(0, {"type": "tool_use", "id": "a"})], id="a call of nothing"),
        pytest.param([message(), *(begin(n, TEXT) for n in range(1010))], id="too many blocks are open"),
    ],
)
def test_what_cannot_be_meant_is_a_failure(stream: list[bytes]) -> None:
    assert broken(of(*stream, END))


def test_text_and_thinking_begin_a_block_where_the_upstream_has_not() -> None:
    events = of(message(), grow(0, thinking="t"), grow(1, text="He"), grow(1, text="llo"), END)
    assert told(events) == [("reasoning", "t"), ("text", "Hello"), (Stop.END,)]


def test_a_block_that_began_without_a_start_may_have_its_stop() -> None:
    assert told(of(message(), grow(0, text="a"), stop(0), text(1, "b"), END)) == [
        ("text", "a"),
        ("text", "b"),
        (Stop.END,),
    ]
    assert broken(of(message(), grow(0, text="a"), text(1, "b"), grow(0, text="late"), END))


def test_an_end_mark_alone_begins_nothing() -> None:
    assert broken(of(MESSAGE_STOP))


@pytest.mark.parametrize("until", range(4))
def test_without_a_stop_reason_an_answer_is_not_whole(until: int) -> None:
    parts = [message(), begin(0, TEXT), grow(0, text="a"), stop(0)]
    events = of(*parts[: until + 1])
    assert not any(isinstance(event, Finished | Failed) for event in events)


def test_a_missing_end_mark_is_no_loss_after_a_stop_reason_unless_a_block_is_open() -> None:
    parts = [message(), begin(0, TEXT), grow(0, text="a")]
    assert told(of(*parts, stop(0), ending("end_turn"))) == [("text", "a"), (Stop.END,)]
    assert told(of(*parts, ending("end_turn"))) == [("text", "a")]


FAST = {"code": "slow_down", "message": "boom"}


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (named({"type": "error", "error": {"type": "overloaded_error", "message": "boom"}}), Kind.OVERLOADED),
        (data({"type": "error", "error": {"type": "rate_limit_error", "message": "boom"}}), Kind.RATE_LIMIT),
        (data({"error": {"message": "boom", "code": "context_length_exceeded"}}), Kind.CONTEXT_LENGTH),
        (data({"error": "boom"}), Kind.UPSTREAM),
        (b"event: error\n" + data({"message": "boom"}), Kind.UPSTREAM),
        (named({"type": "error", "code": "slow_down", "message": "boom"}), Kind.RATE_LIMIT),
        (
            named(
                {"type": "response.failed", "response": {"error": {"code": "slow_down", "message": "boom"}}}
            ),
            Kind.RATE_LIMIT,
        ),
    ],
)
@pytest.mark.parametrize("before", [b"", message(), message() + begin(0, TEXT) + grow(0, text="par")])
def test_errors_in_all_their_shapes(event: bytes, kind: Kind, before: bytes) -> None:
    last = of(before, event, END)[-1]
    assert isinstance(last, Failed)
    assert (last.failure.kind, last.failure.message) == (kind, "boom")
