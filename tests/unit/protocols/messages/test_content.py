"""Each kind of block of a Messages stream."""

from typing import Any

import pytest
from tests.unit.protocols.decoded import decode, told
from tests.unit.protocols.upstreams import MESSAGE_STOP, begin, ending, grow, message, stop

from tidegate.core.events import CallDelta, Cited, Closed, Event, Opaque, Searched, Stop, TextDelta
from tidegate.core.protocol import Protocol
from tidegate.protocols.blocks import Broken, CallIds
from tidegate.protocols.messages.content import content_of
from tidegate.protocols.messages.heard import Delta


def block(start: dict[str, Any], *deltas: bytes, reason: str = "end_turn") -> list[Event]:
    """The events of one block."""
    stream = [message(), begin(0, start), *deltas, stop(0), ending(reason), MESSAGE_STOP]
    return decode(Protocol.MESSAGES, b"".join(stream))[1:-1]


CALL: dict[str, Any] = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}


def test_a_text_may_begin_in_its_start() -> None:
    assert told(block({"type": "text", "text": "Hel"}, grow(0, text="lo"))) == [("text", "Hello")]


def test_an_empty_text_is_not_told() -> None:
    assert block({"type": "text", "text": ""}) == []


def test_pages_of_the_web_are_cited_and_nothing_else() -> None:
    page = {"type": "web_search_result_location", "url": "u", "title": "T", "encrypted_index": "x"}
    other = {"type": "page_location", "document_title": "D"}
    events = block(
        {"type": "text", "text": "", "citations": [page]},
        grow(0, citation=page | {"title": None}),
        grow(0, citation=other),
        grow(0, text="a"),
    )
    assert events[1:-1] == [Cited("u", "T"), Cited("u", ""), TextDelta("a")]


def test_signed_thinking_goes_back_as_it_was() -> None:
    start = {"type": "thinking", "thinking": "a", "signature": "", "extra": [1]}
    events = block(start, grow(0, thinking="b"), grow(0, signature="old"), grow(0, signature="S"))
    whole = {"type": "thinking", "thinking": "ab", "signature": "S", "extra": [1]}
    assert told(events) == [("reasoning", "ab")]
    assert events[-1] == Closed(Opaque(Protocol.MESSAGES, [whole]))


def test_thinking_that_is_not_shown_is_still_signed() -> None:
    events = block({"type": "thinking", "thinking": "", "signature": "S"})
    assert events[-1] == Closed(
        Opaque(Protocol.MESSAGES, [{"type": "thinking", "thinking": "", "signature": "S"}])
    )


def test_unsigned_thinking_has_no_way_back() -> None:
    assert block({"type": "thinking", "thinking": "a"})[-1] == Closed()


def test_redacted_thinking_goes_back_as_it_was() -> None:
    start = {"type": "redacted_thinking", "data": "ENC"}
    events = block(start)
    assert told(events) == [("reasoning", "")]
    assert events[-1] == Closed(Opaque(Protocol.MESSAGES, [start]))


@pytest.mark.parametrize(
    ("start", "deltas", "said"),
    [
        pytest.param(CALL, ["", '{"x"', ":5}"], '{"x":5}', id="fragments"),
        pytest.param(CALL, [""], "", id="no input"),
        pytest.param({**CALL, "input": None}, [], "", id="null"),
        pytest.param({**CALL, "input": {"city": "Oslo"}}, [], '{"city":"Oslo"}', id="all in its start"),
        pytest.param({**CALL, "input": '{"city":"Oslo"}'}, [], '{"city":"Oslo"}', id="all as text"),
        pytest.param({**CALL, "input": {"x": 1}}, ['{"x":1}'], '{"x":1}', id="both"),
    ],
)
def test_the_input_of_a_call(start: dict[str, Any], deltas: list[str], said: str) -> None:
    events = block(start, *(grow(0, partial_json=delta) for delta in deltas))
    assert told(events) == [("function", "toolu_1", "f", said)]
    given = [delta for delta in deltas if delta] or ([said] if said else [])
    assert [event for event in events if isinstance(event, CallDelta)] == [CallDelta(each) for each in given]


def test_a_call_that_a_limit_cut_gets_no_input() -> None:
    assert told(block(CALL, reason="max_tokens")) == [("function", "toolu_1", "f", "", "cut")]


@pytest.mark.parametrize("id_", [None, "", "has spaces"])
def test_a_call_without_an_id_that_everyone_takes_gets_one(id_: str | None) -> None:
    [(_, made, _, _)] = told(block({**CALL, "id": id_}))
    assert made.startswith("call_")


SEARCH: dict[str, Any] = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}


def test_a_search_is_told_between_the_blocks_and_its_results_are_not() -> None:
    stream = [
        message(),
        begin(0, SEARCH),
        grow(0, partial_json='{"query":'),
        grow(0, partial_json='"tides"}'),
        stop(0),
        begin(1, {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"url": "u"}]}),
        stop(1),
        begin(2, {"type": "text", "text": "a"}),
        stop(2),
        ending("end_turn"),
        MESSAGE_STOP,
    ]
    events = decode(Protocol.MESSAGES, b"".join(stream))
    assert told(events) == [("search", "srv_1", "tides"), ("text", "a"), (Stop.END,)]


def test_a_search_that_is_whole_in_its_start_or_says_nothing() -> None:
    assert block({**SEARCH, "input": {"query": "q"}}) == [Searched("srv_1", "q")]
    assert block(SEARCH, grow(0, partial_json='{"quer')) == [Searched("srv_1", None)]


@pytest.mark.parametrize(
    "start",
    [
        {"type": "server_tool_use", "id": "s", "name": "code_execution", "input": {}},
        {"type": "mcp_tool_use", "id": "s", "name": "f", "input": {}},
        {"type": "container_upload", "file_id": "f"},
        {"type": "mystery"},
        {},
    ],
)
def test_blocks_that_only_this_protocol_knows_are_skipped(start: dict[str, Any]) -> None:
    assert block(start, grow(0, partial_json="x"), grow(0, text="y"), grow(0, mystery=1)) == []


@pytest.mark.parametrize("kind", ["text", "thinking", "tool_use", "redacted_thinking", "server_tool_use"])
@pytest.mark.parametrize(
    "delta",
    [
        Delta(type="text_delta", text="x"),
        Delta(type="thinking_delta", thinking="x"),
        Delta(type="signature_delta", signature="x"),
        Delta(type="input_json_delta", partial_json="x"),
        Delta(type="citations_delta"),
        Delta(type="mystery_delta"),
        Delta(),
    ],
)
def test_a_delta_fits_its_block_or_is_a_failure(kind: str, delta: Delta) -> None:
    fitting = {
        "text": ("text_delta", "citations_delta"),
        "thinking": ("thinking_delta", "signature_delta"),
        "redacted_thinking": ("thinking_delta", "signature_delta"),
        "tool_use": ("input_json_delta",),
        "server_tool_use": ("input_json_delta",),
    }[kind]
    reader = content_of({"type": kind, "id": "a", "name": "web_search"}, CallIds(), b"")
    if delta.type in (*fitting, "mystery_delta", None):
        reader.grow(delta)
    else:
        with pytest.raises(Broken, match="does not fit"):
            reader.grow(delta)
