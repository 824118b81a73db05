"""Each kind of item of a Responses stream, from deltas, from final values, or from both."""

from typing import Any

import pytest
from tests.unit.protocols.decoded import broken, decode, told
from tests.unit.protocols.upstreams import added, completed, created, done, event

from tidegate.core.events import (
    CallDelta,
    CallKind,
    CallOpened,
    Cited,
    Closed,
    Event,
    Opaque,
    ReasoningDelta,
    ReasoningForm,
    Searched,
    TextDelta,
)
from tidegate.core.protocol import Protocol


def item(final: dict[str, Any], *inner: bytes, opened: dict[str, Any] | None = None) -> list[Event]:
    """The events of one item: added, `inner`, done."""
    begun = {"type": final["type"], "id": "i1"} if opened is None else final | opened
    stream = [created(), added(0, begun), *inner, done(0, {"id": "i1", **final}), completed()]
    return decode(Protocol.RESPONSES, b"".join(stream))[1:-1]


def text(delta: str, place: int = 0, **members: Any) -> bytes:
    return event("output_text.delta", content_index=place, delta=delta, **members)


def message(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "content": list(parts)}


def part(words: str, **members: Any) -> dict[str, Any]:
    return {"type": "output_text", "text": words, **members}


def test_each_part_is_a_block() -> None:
    final = message(part("ab"), {"type": "refusal", "refusal": "no"}, part("c"))
    blocks = [("text", "ab"), ("refusal", "no"), ("text", "c")]
    streamed = [text("ab"), event("refusal.delta", content_index=1, delta="no"), text("c", 2)]
    for count in range(4):
        assert told(item(final, *streamed[:count])) == blocks
    assert told(item(final, text("a"))) == blocks


def test_what_is_missing_in_the_middle_comes_late_rather_than_never() -> None:
    assert told(item(message(part("ab"), part("c")), text("a"), text("c", 1))) == [
        ("text", "a"),
        ("text", "c"),
        ("text", "b"),
    ]


def test_parts_that_are_told_only_when_they_are_done() -> None:
    inner = [
        event("output_text.done", content_index=0, text="a", logprobs=[{"token": "a"}]),
        event("content_part.done", content_index=1, part=part("b")),
        event("content_part.done", content_index=2, part={"type": "mystery"}),
    ]
    events = item(message(part("a"), part("b")), *inner)
    assert told(events) == [("text", "a"), ("text", "b")]
    assert TextDelta("a", ({"token": "a"},)) in events


def test_log_probabilities_go_with_their_text() -> None:
    entry = {"token": "a", "logprob": -1}
    assert item(message(part("a")), text("a", logprobs=[entry]))[1] == TextDelta("a", (entry,))
    assert item(message(part("a", logprobs=[entry])))[1] == TextDelta("a", (entry,))


PAGE = {"type": "url_citation", "url": "u", "title": "T", "start_index": 0, "end_index": 1}
OTHER = {"type": "file_citation", "file_id": "f"}


@pytest.mark.parametrize("streamed", [[], [PAGE], [OTHER, PAGE], [OTHER, PAGE, PAGE | {"url": "v"}]])
def test_each_page_is_cited_once(streamed: list[Any]) -> None:
    notes = [
        event("output_text.annotation.added", content_index=0, annotation_index=n, annotation=each)
        for n, each in enumerate(streamed)
    ]
    annotations = (
        [OTHER, PAGE, PAGE | {"url": "v"}] if streamed[:1] != [PAGE] else [PAGE, PAGE | {"url": "v"}]
    )
    events = item(message(part("a", annotations=annotations)), text("a"), *notes)
    assert [each for each in events if isinstance(each, Cited)] == [
        Cited("u", "T", 0, 1),
        Cited("v", "T", 0, 1),
    ]
    assert told(events) == [("text", "a")]


def test_a_citation_may_come_before_the_text() -> None:
    note = event("output_text.annotation.added", content_index=0, annotation=PAGE)
    assert told(item(message(part("a")), note, text("a"))) == [("text", "a")]


RAW = {"content": [{"type": "reasoning_text", "text": "raw"}]}
SUMMARY = {"summary": [{"type": "summary_text", "text": "one"}, {"type": "summary_text", "text": "two"}]}


def reasoning(**members: Any) -> dict[str, Any]:
    return {"type": "reasoning", "id": "i1", "summary": [], **members}


def raw(delta: str) -> bytes:
    return event("reasoning_text.delta", content_index=0, delta=delta)


def summary(delta: str, place: int = 0) -> bytes:
    return event("reasoning_summary_text.delta", summary_index=place, delta=delta)


@pytest.mark.parametrize(
    ("final", "inner", "said"),
    [
        pytest.param(RAW, [raw("r"), raw("aw")], "raw", id="raw"),
        pytest.param(RAW, [raw("r")], "raw", id="raw, the rest later"),
        pytest.param(RAW, [], "raw", id="raw, only final"),
        pytest.param(RAW, [event("reasoning_text.done", text="raw")], "raw", id="raw, at once"),
        pytest.param(
            RAW,
            [event("content_part.done", part=RAW["content"][0])],
            "raw",
            id="raw, as a part",
        ),
        pytest.param(SUMMARY, [summary("one"), summary("t", 1), summary("wo", 1)], "onetwo", id="summary"),
        pytest.param(SUMMARY, [summary("one"), summary("t", 1)], "onetwo", id="summary, the rest later"),
        pytest.param(SUMMARY, [summary("o")], "onetwo", id="summary, most of it later"),
        pytest.param(SUMMARY, [], "onetwo", id="summary, only final"),
        pytest.param(
            SUMMARY,
            [event("reasoning_summary_part.done", summary_index=0, part=SUMMARY["summary"][0])],
            "onetwo",
            id="summary, as a part",
        ),
        pytest.param(
            SUMMARY,
            [event("reasoning_summary_text.done", summary_index=0, text="one")],
            "onetwo",
            id="summary, at once",
        ),
        pytest.param(RAW | SUMMARY, [], "raw", id="both, only final"),
        pytest.param(RAW | SUMMARY, [raw("raw"), summary("one"), summary("two", 1)], "raw", id="raw first"),
        pytest.param(
            RAW | SUMMARY, [summary("one"), raw("raw"), summary("two", 1)], "onetwo", id="both, summary first"
        ),
    ],
)
def test_reasoning_is_told_once(final: dict[str, Any], inner: list[bytes], said: str) -> None:
    events = item(reasoning(**final), *inner)
    assert told(events) == [("reasoning", said)]
    assert events[-1] == Closed(Opaque(Protocol.RESPONSES, reasoning(**final)))


def test_the_form_and_the_part_of_reasoning_are_told() -> None:
    events = item(reasoning(**SUMMARY), summary("one"), summary("two", 1))
    assert events[1:3] == [
        ReasoningDelta("one", ReasoningForm.SUMMARY, 0),
        ReasoningDelta("two", ReasoningForm.SUMMARY, 1),
    ]


def test_reasoning_that_is_only_encrypted_is_a_block_and_none_at_all_is_nothing() -> None:
    final = reasoning(encrypted_content="ENC")
    assert told(item(final)) == [("reasoning", "")]
    assert item(final)[-1] == Closed(Opaque(Protocol.RESPONSES, final))
    assert item(reasoning(encrypted_content="")) == []


def call(**members: Any) -> dict[str, Any]:
    return {"type": "function_call", "id": "i1", "call_id": "a", "name": "f", **members}


X = '{"x":1}'
EMPTY = {"arguments": ""}


def fragment(delta: Any) -> bytes:
    return event("function_call_arguments.delta", delta=delta)


@pytest.mark.parametrize(
    ("opened", "inner", "final", "said"),
    [
        pytest.param(EMPTY, [fragment('{"x"'), fragment(":1}")], X, X, id="fragments"),
        pytest.param(EMPTY, [fragment('{"x"')], X, X, id="the rest when done"),
        pytest.param(EMPTY, [], X, X, id="only final"),
        pytest.param(EMPTY, [event("function_call_arguments.done", arguments=X)], None, X, id="at once"),
        pytest.param(EMPTY, [fragment('{"x": 1}')], X, '{"x": 1}', id="spelt differently"),
        pytest.param(EMPTY, [], "", "", id="none"),
        pytest.param(EMPTY, [], {"x": 1}, X, id="an object"),
        pytest.param({"arguments": X}, [], X, X, id="all in added"),
        pytest.param({"arguments": X}, [], None, X, id="all in added and only there"),
        pytest.param({"arguments": X}, [fragment(X)], X, X, id="all in added, and fragments"),
        pytest.param({"arguments": X}, [fragment(X)], None, X, id="all in added, fragments, no final"),
        pytest.param({"arguments": '{"x"'}, [fragment(":1}")], X, X, id="a beginning in added"),
        pytest.param({"arguments": '{"x"'}, [fragment(":1}")], None, X, id="a beginning in added, no final"),
    ],
)
def test_the_input_of_a_call(opened: dict[str, Any], inner: list[bytes], final: Any, said: str) -> None:
    events = item(call(arguments=final), *inner, opened=opened)
    assert told(events) == [("function", "a", "f", said)]


def test_a_call_that_a_limit_cut() -> None:
    assert told(item(call(arguments='{"cmd":"ls', status="incomplete"))) == [
        ("function", "a", "f", '{"cmd":"ls', "cut")
    ]
    assert told(item(call(arguments="", status="incomplete"))) == [("function", "a", "f", "", "cut")]


def test_a_custom_call_is_free_text_and_may_have_a_namespace() -> None:
    final = call(type="custom_tool_call", namespace="ns", input="ls")
    delta = event("custom_tool_call_input.delta", delta="l")
    events = item(final, delta, event("custom_tool_call_input.done", input="ls"), opened={"input": ""})
    assert events == [CallOpened("a", "f", CallKind.CUSTOM, "ns"), CallDelta("l"), CallDelta("s"), Closed()]
    assert told(item(call(type="custom_tool_call", input=""))) == [("custom", "a", "f", "")]


def test_a_name_that_comes_late_and_one_that_never_comes() -> None:
    events = item(call(arguments=X), fragment(X), opened={"name": None})
    assert told(events) == [("function", "a", "f", X)]
    stream = [created(), added(0, call(name="")), fragment(X), done(0, call(name=None)), completed()]
    assert broken(decode(Protocol.RESPONSES, b"".join(stream)))


def test_ids_of_calls() -> None:
    assert told(item(call(call_id=None, arguments=X)))[0][1] == "i1"
    assert told(item(call(call_id="", id=None, arguments=X)))[0][1].startswith("call_")
    twice = [created(), done(0, call(id="1")), done(1, call(id="2")), completed()]
    first, second, _ = told(decode(Protocol.RESPONSES, b"".join(twice)))
    assert first[1] == "a" != second[1]


@pytest.mark.parametrize(
    ("action", "told_as"),
    [
        ({"type": "search", "query": "tides"}, [Searched("i1", "tides")]),
        ({"query": "tides"}, [Searched("i1", "tides")]),
        (None, [Searched("i1", None)]),
        ({"type": "open_page", "url": "u"}, []),
    ],
)
def test_searches(action: Any, told_as: list[Event]) -> None:
    assert item({"type": "web_search_call", "status": "completed", "action": action}) == told_as


@pytest.mark.parametrize("kind", ["file_search_call", "image_generation_call", "mcp_call", "new", None])
def test_items_that_only_this_protocol_knows_are_skipped(kind: str | None) -> None:
    assert item({"type": kind, "name": "x", "arguments": "{}"}, fragment("{}"), text("x")) == []
