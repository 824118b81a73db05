"""Chat streams as events: the protocol's own and those of the many servers that bend it."""

import json
from typing import Any

import pytest
from tests.unit.protocols.decoded import broken, decode, told
from tests.unit.protocols.frames import data, frames, named
from tests.unit.protocols.upstreams import DONE, call, calls, chunk

from tidegate.core.events import (
    Cited,
    Closed,
    Event,
    Failed,
    Finished,
    Opaque,
    Started,
    Stop,
    TextDelta,
    UsageTold,
)
from tidegate.core.failure import Kind
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.protocols.chat.decoder import ChatDecoder

STOP = chunk({}, "stop")
TOOLS = chunk({}, "tool_calls")


def of(*parts: bytes) -> list[Event]:
    return decode(Protocol.CHAT, b"".join(parts))


def test_kinds_of_content_become_blocks_and_no_delta_is_lost() -> None:
    events = of(
        chunk({"role": "assistant", "content": ""}),
        *(chunk({"reasoning_content": text}) for text in ("AA", "BB")),
        *(chunk({"content": text}) for text in ("CC", "DD")),
        calls(call(0, "a", "f", '{"x"')),
        calls(call(0, None, None, ":1}")),
        TOOLS,
        DONE,
    )
    assert events[0] == Started("c1")
    assert told(events) == [
        ("reasoning", "AABB"),
        ("text", "CCDD"),
        ("function", "a", "f", '{"x":1}'),
        (Stop.TOOL_CALLS,),
    ]
    assert Closed(Opaque(Protocol.CHAT, "AABB")) in events


def test_deltas_go_out_as_they_come() -> None:
    events = of(chunk({"content": "a"}), chunk({"content": "b"}), STOP, DONE)
    assert [event for event in events if isinstance(event, TextDelta)] == [TextDelta("a"), TextDelta("b")]


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "r"},
        {"reasoning": "r"},
        {"reasoning": "r", "reasoning_content": "r"},
        {"reasoning": "r", "reasoning_details": [{"type": "reasoning.text", "text": "r", "index": 0}]},
        {"reasoning_details": [{"type": "reasoning.text", "text": "r"}, {"type": "reasoning.encrypted"}]},
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "r"}]},
        {"reasoning": {"content": "r"}},
        {"reasoning": [{"type": "text", "text": "r"}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "r"}]}]},
        {"content": [{"type": "thinking", "thinking": "r"}]},
    ],
)
def test_reasoning_under_any_name_is_told_once(delta: Any) -> None:
    assert told(of(chunk(delta), chunk({"content": "t"}), STOP, DONE)) == [
        ("reasoning", "r"),
        ("text", "t"),
        (Stop.END,),
    ]


def test_reasoning_that_is_repeated_as_details_is_told_once() -> None:
    later = chunk({"reasoning_details": [{"type": "reasoning.text", "text": "r"}]})
    assert told(of(chunk({"reasoning": "r"}), later, STOP, DONE)) == [("reasoning", "r"), (Stop.END,)]


def test_reasoning_and_text_in_one_chunk() -> None:
    events = of(chunk({"reasoning_content": "r", "signature": "S", "content": "t"}), STOP, DONE)
    assert told(events) == [("reasoning", "r"), ("text", "t"), (Stop.END,)]


def test_content_as_parts_and_as_a_whole_message() -> None:
    parts = [{"type": "text", "text": "a"}, "b", {"type": "refusal", "refusal": "no"}, {"type": "image"}]
    whole = data({"choices": [{"index": 0, "message": {"content": "c"}, "finish_reason": "stop"}]})
    assert told(of(chunk({"content": parts}), whole, DONE)) == [
        ("text", "ab"),
        ("refusal", "no"),
        ("text", "c"),
        (Stop.REFUSAL,),
    ]


def test_a_refusal_in_words() -> None:
    events = of(chunk({"refusal": "I "}), chunk({"refusal": "can't"}), STOP, DONE)
    assert told(events) == [("refusal", "I can't"), (Stop.REFUSAL,)]


def test_log_probabilities_go_with_their_text() -> None:
    entry = {"token": "a", "logprob": -1}
    raw = {"choices": [{"index": 0, "delta": {"content": "a"}, "logprobs": {"content": [entry]}}]}
    assert TextDelta("a", (entry,)) in of(data(raw), STOP, DONE)
    raw = {"choices": [{"index": 0, "delta": {"refusal": "a"}, "logprobs": {"refusal": [entry]}}]}
    assert TextDelta("a", (entry,)) in of(data(raw), STOP, DONE)


def annotation(url: str, start: int = 0, end: int = 1) -> dict[str, Any]:
    page = {"url": url, "title": "T", "start_index": start, "end_index": end}
    return {"type": "url_citation", "url_citation": page}


@pytest.mark.parametrize("late", [False, True])
def test_citations_stand_in_the_text(late: bool) -> None:
    cites = chunk({"annotations": [annotation("u"), {"type": "file_citation"}, None]})
    text = chunk({"content": "t"})
    events = of(*((text, cites) if late else (cites, text)), STOP, DONE)
    assert [event for event in events if isinstance(event, Cited)] == [Cited("u", "T", 0, 1)]
    assert told(events) == [("text", "t"), (Stop.END,)]


def test_places_of_citations_are_those_in_their_block() -> None:
    called = calls(call(0, "a", "f", "{}"))
    last = chunk({"annotations": [annotation("u", 4, 6), annotation("v", 1, 2)]})
    events = of(chunk({"content": "abc"}), called, chunk({"content": "defg"}), last, STOP, DONE)
    assert [event for event in events if isinstance(event, Cited)] == [Cited("u", "T", 1, 3), Cited("v", "T")]


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param([calls(call(0, None, None, "{}"))], id="no call began"),
        pytest.param([calls(call(0, "a", "f", "{}")), calls(call(5, None, None, "{}"))], id="unknown index"),
        pytest.param(
            [calls(call(0, "a", "f", "{}"), call(1, "b", "g", "")), calls(call(0, None, None, "x"))],
            id="a whole call goes on",
        ),
        pytest.param([calls(call(0, "a", None, "{}")), TOOLS], id="no name"),
        pytest.param([b"data: {\n\n"], id="broken JSON"),
        pytest.param([data([])], id="no object"),
        pytest.param([DONE], id="nothing but an end mark"),
        pytest.param([chunk({"content": "t"}), DONE], id="no finish reason"),
        pytest.param([chunk({"content": "t"}, "network_error")], id="an error for a reason"),
        pytest.param([chunk({"content": "t"}, "abort")], id="broken off"),
        pytest.param([calls(*(call(n, f"i{n}", "f", "") for n in range(1010)))], id="too many wait"),
    ],
)
def test_what_cannot_be_meant_is_a_failure(stream: list[bytes]) -> None:
    assert broken(of(*stream, STOP, DONE))


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("stop", Stop.END),
        ("length", Stop.LENGTH),
        ("content_filter", Stop.CONTENT_FILTER),
        ("tool_calls", Stop.TOOL_CALLS),
        ("function_call", Stop.TOOL_CALLS),
        ("", Stop.END),
        ("eos", Stop.END),
        ("whatever", Stop.END),
        ("max_tokens", Stop.LENGTH),
    ],
)
def test_finish_reasons(reason: str, stop: Stop) -> None:
    assert of(chunk({"content": "t"}), chunk({}, reason), DONE)[-1] == Finished(stop)


def test_calls_and_limits_have_a_say_in_the_end() -> None:
    called = calls(call(0, "a", "f", "{}"))
    assert of(called, STOP, DONE)[-1] == Finished(Stop.TOOL_CALLS)
    assert of(called, chunk({}, "length"), DONE)[-1] == Finished(Stop.LENGTH)


@pytest.mark.parametrize(
    ("reasons", "stop"),
    [
        (("stop", "stop"), Stop.END),
        (("length", "stop"), Stop.LENGTH),
        (("stop", "length"), Stop.LENGTH),
        (("", "stop"), Stop.END),
        (("length", ""), Stop.LENGTH),
    ],
)
def test_a_second_finish_reason(reasons: tuple[str, str], stop: Stop) -> None:
    stream = [chunk({"content": "t"}), *(chunk({}, reason) for reason in reasons)]
    assert of(*stream, DONE)[-1] == Finished(stop)
    assert of(*stream)[-1] == Finished(stop), "the end mark may be missing"


def test_content_after_the_finish_still_counts() -> None:
    stream = [chunk({"content": "a"}, "stop"), chunk({"content": "b"}), calls(call(0, "a", "f", "{}")), DONE]
    assert told(of(*stream, chunk({"content": "late"}))) == [
        ("text", "ab"),
        ("function", "a", "f", "{}"),
        (Stop.TOOL_CALLS,),
    ]


def test_a_missing_end_mark_is_no_loss_after_a_finish_and_a_cut_before() -> None:
    assert of(chunk({"content": "t"}), STOP)[-1] == Finished(Stop.END)
    assert told(of(chunk({"content": "t"}))) == [("text", "t")]
    assert told(of(chunk({"content": "t"}), chunk({}, ""))) == [("text", "t")], (
        "an empty reason needs the end mark"
    )


def test_finished_tells_when_only_usage_is_awaited() -> None:
    reader = ChatDecoder()
    seen = []
    for frame in frames(chunk({"content": "t"}) + chunk({}, "") + STOP):
        reader.decode(frame)
        seen.append(reader.finished)
    assert seen == [False, False, True]
    assert reader.finish()[-1] == Finished(Stop.END)
    assert reader.finish() == ()


def test_a_finish_that_cannot_be_kept_is_a_failure() -> None:
    reader = ChatDecoder()
    events = [reader.decode(frame) for frame in frames(calls(call(0, "a", None, "{}")) + STOP)]
    assert isinstance(events[-1][-1], Failed)
    assert reader.finish() == ()


def usage(prompt: int, output: int, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": output, **more}


USED = Usage(input=4, cache_read=0, cache_write=0, output=2)


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param([STOP, data({"choices": [], "usage": usage(4, 2)})], id="in its own chunk"),
        pytest.param([STOP, data({"choices": None, "usage": usage(4, 2)})], id="null choices"),
        pytest.param([STOP, data({"usage": usage(4, 2)})], id="no choices"),
        pytest.param([chunk({}, "stop", usage=usage(4, 2))], id="with the finish"),
        pytest.param([chunk({"content": "t"}, usage=usage(4, n)) for n in (1, 2)] + [STOP], id="cumulative"),
        pytest.param([chunk({}, "stop", x_groq={"usage": usage(4, 2)})], id="Groq"),
        pytest.param(
            [chunk({}, "stop", usage=usage(4, 2)), chunk({}, "stop", usage=None)], id="null is no news"
        ),
        pytest.param(
            [data({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": usage(4, 2)}]})],
            id="Moonshot",
        ),
    ],
)
def test_usage_wherever_it_stands(stream: list[bytes]) -> None:
    events = of(chunk({"content": "t"}), *stream, DONE)
    assert [event for event in events if isinstance(event, UsageTold)][-1] == UsageTold(USED)


def test_usage_before_anything_else_comes_after_the_start() -> None:
    assert of(data({"choices": [], "usage": usage(4, 2)}), chunk({"content": "t"}), STOP, DONE)[:2] == [
        Started(),
        UsageTold(USED),
    ]


def test_what_says_nothing() -> None:
    events = of(
        data({"id": "", "object": "", "model": "", "prompt_filter_results": [], "choices": []}),
        data({"choices": None}),
        data({"type": "ping"}),
        b"data:\n\n",
        b"event: keepalive\ndata: {}\n\n",
        data({"type": "message_stop"}),
        data({"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}]}),
        chunk({"role": "assistant", "content": None}, service_tier="flex"),
        chunk({"tool_calls": [{"index": 0}]}),
        chunk({"content": "t", "audio": {"data": "AA"}}),
        STOP,
        DONE,
    )
    assert told(events) == [("text", "t"), (Stop.END,)]


def test_the_service_tier_is_told() -> None:
    assert of(chunk({"content": "t"}, service_tier="flex"), STOP, DONE)[0] == Started("c1", "flex")


FAST = {"code": "slow_down", "message": "boom"}


@pytest.mark.parametrize(
    ("event", "kind", "message"),
    [
        (data({"error": {"message": "boom", "type": "server_error", "code": 500}}), Kind.UPSTREAM, "boom"),
        (data({"error": "boom"}), Kind.UPSTREAM, "boom"),
        (b"event: error\n" + data({"message": "boom", "code": "slow_down"}), Kind.RATE_LIMIT, "boom"),
        (
            named({"type": "error", "error": {"type": "overloaded_error", "message": "boom"}}),
            Kind.OVERLOADED,
            "boom",
        ),
        (data({"type": "error", "code": "rate_limit_exceeded", "message": "boom"}), Kind.RATE_LIMIT, "boom"),
        (
            named({"type": "response.failed", "response": {"error": FAST}}),
            Kind.RATE_LIMIT,
            "boom",
        ),
        (data({"object": "error", "message": "boom", "code": 400}), Kind.INVALID_REQUEST, "boom"),
        (chunk({"content": ""}, "error", error={"code": 502, "message": "boom"}), Kind.UPSTREAM, "boom"),
    ],
)
@pytest.mark.parametrize("before", [b"", chunk({"content": "par"})])
def test_errors_in_all_their_shapes(event: bytes, kind: Kind, message: str, before: bytes) -> None:
    last = of(before, event, STOP, DONE)[-1]
    assert isinstance(last, Failed)
    assert (last.failure.kind, last.failure.message) == (kind, message)


def test_what_is_nested_too_deep_is_a_failure() -> None:
    deep = '{"choices":[{"delta":{"reasoning_details":' + "[" * 100_000 + "]" * 100_000 + "}}]}"
    assert broken(of(b"data: " + deep.encode() + b"\n\n"))
    nested = json.loads("[" * 900 + "]" * 900)
    assert told(of(calls(call(0, "a", "f", {"n": nested})), TOOLS, DONE))
