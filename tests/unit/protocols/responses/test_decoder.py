"""Responses streams as events."""

from typing import Any

import pytest
from tests.unit.protocols.decoded import broken, decode, told
from tests.unit.protocols.frames import data, named
from tests.unit.protocols.upstreams import added, completed, created, done, event, spoken

from tidegate.core.events import CallDelta, Event, Failed, Finished, Started, Stop, TextDelta, UsageTold
from tidegate.core.failure import Kind
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage

MESSAGE: dict[str, Any] = {"type": "message", "id": "m1", "content": []}
CALL: dict[str, Any] = {"type": "function_call", "id": "fc1", "call_id": "a", "name": "f", "arguments": ""}
SAID = spoken("hi", id="m1", status="completed")
OTHER = spoken("hi", id="another", status="completed")
OLD_END = named({"type": "response.done", "response": {"id": "r1", "output": [SAID]}})
USED = {"input_tokens": 4, "output_tokens": 2}


def of(*parts: bytes) -> list[Event]:
    return decode(Protocol.RESPONSES, b"".join(parts))


def text(delta: str, index: int = 0) -> bytes:
    return event("output_text.delta", index, content_index=0, delta=delta)


def test_a_response_in_its_usual_steps() -> None:
    events = of(
        created(service_tier="flex"),
        named({"type": "response.in_progress", "response": {"id": "r1"}}),
        added(0, MESSAGE),
        event("content_part.added", content_index=0, part={"type": "output_text", "text": ""}),
        text("h"),
        text("i"),
        event("output_text.done", content_index=0, text="hi"),
        event("content_part.done", content_index=0, part={"type": "output_text", "text": "hi"}),
        done(0, SAID),
        completed(SAID, usage=USED),
    )
    assert events[0] == Started("r1", "flex")
    assert told(events) == [("text", "hi"), (Stop.END,)]
    assert [each for each in events if isinstance(each, TextDelta)] == [TextDelta("h"), TextDelta("i")]
    assert events[-2] == UsageTold(Usage(input=4, cache_read=0, cache_write=0, output=2))


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param([completed(SAID)], id="all in the terminal event"),
        pytest.param([done(0, SAID), completed(SAID)], id="done without deltas"),
        pytest.param([done(0, SAID), completed()], id="no output at the end"),
        pytest.param([done(0, SAID), completed().replace(b"[]", b"null")], id="null output"),
        pytest.param([added(0, MESSAGE), text("hi"), done(0, SAID), completed()], id="deltas, then done"),
        pytest.param([added(0, MESSAGE), text("hi"), completed(SAID)], id="never done, but in the output"),
        pytest.param([added(0, MESSAGE), text("hi"), completed()], id="nothing but deltas"),
        pytest.param([added(0, MESSAGE), text("h"), done(0, SAID), completed()], id="the rest with done"),
        pytest.param([added(0, MESSAGE), text("h"), completed(SAID)], id="the rest at the end"),
        pytest.param([added(0, MESSAGE), text("hi"), done(0, spoken("bye")), completed()], id="deltas win"),
        pytest.param([added(0, MESSAGE), text("hi"), done(0, spoken("")), completed()], id="empty done"),
        pytest.param([added(0, MESSAGE), text("hi"), done(0, SAID), completed(OTHER)], id="another id"),
        pytest.param([added(0, SAID), done(0, SAID), completed(SAID)], id="all in added"),
        pytest.param([text("h"), text("i"), completed(SAID)], id="never added"),
        pytest.param([text("h"), text("i"), completed()], id="never added, no output"),
        pytest.param([text("h"), added(0, MESSAGE), done(0, SAID), completed(SAID)], id="added late"),
        pytest.param([added(0, MESSAGE), added(0, MESSAGE), text("hi"), completed(SAID)], id="added twice"),
        pytest.param([added(0, MESSAGE), text("hi"), done(0, SAID), OLD_END], id="the old end mark"),
    ],
)
def test_a_text_is_told_exactly_once(stream: list[bytes]) -> None:
    assert told(of(created(), *stream)) == [("text", "hi"), (Stop.END,)]


def test_a_terminal_event_alone() -> None:
    events = of(completed(SAID, CALL | {"arguments": "{}"}, usage=USED))
    assert events[0] == Started("r1")
    assert told(events) == [("text", "hi"), ("function", "a", "f", "{}"), (Stop.TOOL_CALLS,)]


def arguments(index: int, delta: str) -> bytes:
    return event("function_call_arguments.delta", index, delta=delta)


def test_interleaved_items_come_by_their_index_with_their_fragments() -> None:
    others = [CALL | {"id": f"fc{n}", "call_id": n, "name": n} for n in "bc"]
    finals = [item | {"arguments": '{"n":1}'} for item in (CALL, *others)]
    events = of(
        created(),
        added(0, CALL),
        added(2, others[1]),
        added(1, others[0]),
        arguments(2, '{"n"'),
        arguments(1, '{"n"'),
        arguments(0, '{"n":1}'),
        arguments(1, ":1}"),
        arguments(2, ":1}"),
        *(done(index, finals[index]) for index in (2, 1, 0)),
        completed(*finals),
    )
    names = ("f", "b", "c")
    assert [each[2:] for each in told(events)[:-1]] == [(name, '{"n":1}') for name in names]
    pieces = [each.text for each in events if isinstance(each, CallDelta)]
    assert pieces == ['{"n":1}', '{"n"', ":1}", '{"n"', ":1}"]


def test_one_index_for_every_item() -> None:
    events = of(
        created(),
        added(0, CALL),
        arguments(0, "{}"),
        done(0, CALL | {"arguments": "{}"}),
        event("reasoning_summary_part.added", summary_index=0, item_id="rs1", part={"text": ""}),
        event("reasoning_summary_text.delta", summary_index=0, item_id="rs1", delta="r"),
        added(0, MESSAGE),
        text("hi"),
        done(0, SAID),
        completed(CALL | {"arguments": "{}"}, {"type": "reasoning", "summary": [{"text": "r"}]}, SAID),
    )
    assert told(events)[:-1] == [("function", "a", "f", "{}"), ("reasoning", "r"), ("text", "hi")]


def test_items_that_have_only_ids() -> None:
    events = of(
        created(),
        added(None, MESSAGE),
        event("output_text.delta", None, item_id="m1", delta="h"),
        done(None, SAID),
        completed(SAID),
    )
    assert told(events) == [("text", "hi"), (Stop.END,)]


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("max_output_tokens", Stop.LENGTH),
        ("max_messages", Stop.LENGTH),
        ("steered", Stop.LENGTH),
        (None, Stop.LENGTH),
        ("content_filter", Stop.CONTENT_FILTER),
    ],
)
def test_an_early_end(reason: str | None, stop: Stop) -> None:
    item = spoken("hi", id="m1", status="incomplete")
    end = completed(item, status="incomplete", incomplete_details={"reason": reason})
    for stream in ([done(0, item)], [added(0, MESSAGE), text("hi")], []):
        assert told(of(created(), *stream, end)) == [("text", "hi", "cut"), (stop,)]


def test_an_early_end_without_output_cuts_what_is_open() -> None:
    end = completed(status="incomplete")
    assert told(of(created(), added(0, CALL), end))[:1] == [("function", "a", "f", "", "cut")]
    assert told(of(created(), added(0, MESSAGE), text("hi"), end))[:1] == [("text", "hi", "cut")]
    last = completed(spoken("a"), CALL | {"arguments": ""}, status="incomplete")
    assert told(of(created(), last)) == [("text", "a"), ("function", "a", "f", "", "cut"), (Stop.LENGTH,)]


def test_a_refusal() -> None:
    part = {"type": "refusal", "refusal": "I can't"}
    events = of(
        created(),
        added(0, MESSAGE),
        event("content_part.added", content_index=0, part=part | {"refusal": ""}),
        event("refusal.delta", content_index=0, delta="I "),
        event("refusal.done", content_index=0, refusal="I can't"),
        done(0, MESSAGE | {"content": [part]}),
        completed(),
    )
    assert told(events) == [("refusal", "I can't"), (Stop.REFUSAL,)]


def test_searches_in_usage() -> None:
    events = of(created(), completed(SAID, usage=USED, tool_usage={"web_search": {"num_requests": 2}}))
    assert events[-2] == UsageTold(Usage(input=4, cache_read=0, cache_write=0, output=2, web_searches=2))
    assert not [each for each in of(created(), completed(SAID, usage=None)) if isinstance(each, UsageTold)]


def test_what_says_nothing() -> None:
    events = of(
        named({"type": "response.queued", "response": {"id": "r1"}}),
        created(),
        data("[DONE]"),
        named({"type": "keepalive"}),
        named({"type": "response.something.new", "output_index": 9}),
        event("code_interpreter_call_code.delta", 9, delta="1+1"),
        event("output_text.done", 9, content_index=0, text="of no item"),
        added(0, {"type": "code_interpreter_call", "id": "ci1"}),
        added(1, {"type": "reasoning", "id": "rs1", "summary": []}),
        done(1, {"type": "reasoning", "id": "rs1", "summary": []}),
        added(2, MESSAGE),
        text("", 2),
        done(2, MESSAGE),
        completed(MESSAGE),
        text("late"),
        completed(SAID),
    )
    assert told(events) == [(Stop.END,)]


def test_the_name_of_an_event_may_stand_for_its_type() -> None:
    untyped = b'event: response.output_text.delta\ndata: {"output_index":0,"delta":"hi"}\n\n'
    assert told(of(created(), added(0, MESSAGE), untyped, done(0, SAID), completed()))[0] == ("text", "hi")


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param([added(0, MESSAGE)], id="an item before its response"),
        pytest.param([created(), arguments(0, "{}")], id="arguments of no call"),
        pytest.param([created(), done(0, SAID), text("a")], id="a delta after its item"),
        pytest.param([created(), added(0, MESSAGE), text("a", 1)], id="a delta of no item"),
        pytest.param([created(), added(0, MESSAGE), arguments(0, "{}")], id="a delta of another kind"),
        pytest.param([created(), added(0, CALL), text("a")], id="text in a call"),
        pytest.param([created(), added(0, CALL), arguments(0, "{"), completed()], id="a call never done"),
        pytest.param([created(), added(0, CALL), completed(SAID)], id="a call not in the output"),
        pytest.param([created(), added(0, MESSAGE), text("a"), completed(CALL)], id="a message left out"),
        pytest.param([created(), added(0, MESSAGE), completed()], id="a message that was lost"),
        pytest.param([created(), added(0, CALL), added(0, MESSAGE)], id="a call pushed away"),
        pytest.param([created(), done(0, {"type": "function_call", "id": "x"})], id="a call of nothing"),
        pytest.param([created(), named({"type": "response.completed"})], id="an end without a response"),
        pytest.param([created(), b'data: {"type":"response.out\n\n'], id="broken JSON"),
        pytest.param([created(), data("x")], id="no JSON"),
        pytest.param([created(), *(added(n, MESSAGE) for n in range(1010))], id="too many are open"),
    ],
)
def test_what_cannot_be_meant_is_a_failure(stream: list[bytes]) -> None:
    assert broken(of(*stream, completed(SAID)))


@pytest.mark.parametrize("until", range(4))
def test_without_its_terminal_event_an_answer_is_not_whole(until: int) -> None:
    events = of(*[created(), added(0, MESSAGE), text("hi"), done(0, SAID)][: until + 1])
    assert not any(isinstance(each, Finished | Failed) for each in events)


SLOW = {"code": "slow_down", "message": "boom"}


@pytest.mark.parametrize(
    ("told_error", "kind"),
    [
        (named({"type": "response.failed", "response": {"error": SLOW}}), Kind.RATE_LIMIT),
        (named({"type": "response.done", "response": {"status": "failed", "error": SLOW}}), Kind.RATE_LIMIT),
        (completed(status="cancelled", error={"message": "boom"}), Kind.UPSTREAM),
        (named({"type": "error", **SLOW, "param": None, "sequence_number": 3}), Kind.RATE_LIMIT),
        (named({"type": "error", "error": {"type": "overloaded_error", "message": "boom"}}), Kind.OVERLOADED),
        (data({"error": SLOW}), Kind.RATE_LIMIT),
        (data({"error": "boom"}), Kind.UPSTREAM),
        (b"event: error\n" + data({"message": "boom", "code": "slow_down"}), Kind.RATE_LIMIT),
    ],
)
@pytest.mark.parametrize("before", [b"", created(), created() + added(0, MESSAGE) + text("par")])
def test_errors_in_all_their_shapes(told_error: bytes, kind: Kind, before: bytes) -> None:
    last = of(before, told_error, completed(SAID))[-1]
    assert isinstance(last, Failed)
    assert (last.failure.kind, last.failure.message) == (kind, "boom")
