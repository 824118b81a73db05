"""Deltas add up, also those that break the rules."""

import time

import pytest

from tidegate.protocols.chat.fold import Choice, Object, ToolCalls, merge


def calls(*fragments: Object) -> list[Object]:
    gathered = ToolCalls()
    for fragment in fragments:
        gathered.add(fragment)
    return gathered.whole()


def fragment(index: int | None, identifier: str | None, name: str | None, arguments: object) -> Object:
    told: Object = {"function": {"name": name, "arguments": arguments}}
    if index is not None:
        told["index"] = index
    if identifier is not None:
        told["id"] = identifier
    return told


def call(identifier: str, name: str, arguments: str) -> Object:
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


A, B = call("a", "f", '{"x":1}'), call("b", "g", '{"y":2}')


X, Y = '{"x":1}', '{"y":2}'
LAST = fragment(1, "b", "g", Y)


@pytest.mark.parametrize(
    "fragments",
    [
        pytest.param(
            [
                fragment(0, "a", "f", ""),
                fragment(1, "b", "g", ""),
                fragment(0, None, None, X[:4]),
                fragment(1, None, None, Y),
                fragment(0, None, None, X[4:]),
            ],
            id="interleaved",
        ),
        pytest.param([fragment(0, "a", "f", X[:4]), fragment(0, "a", "f", X[4:]), LAST], id="repeated"),
        pytest.param([fragment(3, "a", "f", X), fragment(7, "b", "g", Y)], id="sparse"),
        pytest.param(
            [
                fragment(None, "a", "f", X[:4]),
                fragment(None, None, None, X[4:]),
                fragment(None, "b", "g", Y),
            ],
            id="without index",
        ),
        pytest.param(
            [fragment(None, "a", "f", X[:4]), fragment(None, "b", "g", Y), fragment(None, "a", None, X[4:])],
            id="by id",
        ),
        pytest.param(
            [fragment(0, "a", "f", X), fragment(0, "b", "g", Y[:4]), fragment(0, "", "", Y[4:])],
            id="always index 0",
        ),
        pytest.param([fragment(0, "a", "f", {"x": 1}), fragment(1, "b", "g", {"y": 2})], id="objects"),
        pytest.param([fragment(0, "a", "f", None), fragment(0, "c", None, X), LAST], id="a new id each time"),
    ],
)
def test_fragments_find_their_call(fragments: list[Object]) -> None:
    assert calls(*fragments) == [A, B]


def test_custom_calls_and_what_vendors_add() -> None:
    assert calls(
        {"index": 0, "id": "a", "type": "custom", "custom": {"name": "f", "input": "x"}},
        {"index": 0, "custom": {"input": "y"}, "extra_content": {"sig": "s"}},
    ) == [
        {
            "id": "a",
            "type": "custom",
            "custom": {"name": "f", "input": "xy"},
            "extra_content": {"sig": "s"},
        }
    ]


def test_a_call_without_arguments_has_empty_ones() -> None:
    assert calls(fragment(0, "a", "f", None)) == [call("a", "f", "")]


def test_merging() -> None:
    into: Object = {}
    deltas: list[Object] = [
        {"a": "x", "n": 1, "id": "i", "role": "assistant", "o": {"t": "x"}, "l": [{"v": 1}], "z": None},
        {"a": "y", "n": 2, "id": "i", "role": "assistant", "o": {"t": "y", "n": None}, "l": [{"v": 2}]},
        {"d": [{"index": 0, "text": "p"}, {"index": 1, "text": "q"}], "a": None, "a2": None},
        {"d": [{"index": 0, "text": "r"}]},
    ]
    for delta in deltas:
        merge(into, delta)
    assert into == {
        "a": "xy",
        "n": 2,
        "id": "i",
        "role": "assistant",
        "o": {"t": "xy", "n": None},
        "l": [{"v": 1}, {"v": 2}],
        "z": None,
        "a2": None,
        "d": [{"index": 0, "text": "pr"}, {"index": 1, "text": "q"}],
    }


def test_text_and_parts_may_alternate() -> None:
    into: Object = {}
    for content in ("a", [{"type": "text", "text": "b"}], "c", ""):
        merge(into, {"content": content})
    assert into["content"] == [{"type": "text", "text": text} for text in "abc"]


def test_merging_changes_no_delta() -> None:
    delta: Object = {"o": {"t": "x"}, "l": [{"index": 0, "t": "x"}]}
    into: Object = {}
    merge(into, delta)
    merge(into, delta)
    assert delta == {"o": {"t": "x"}, "l": [{"index": 0, "t": "x"}]}


def test_an_empty_finish_yields_to_a_real_one() -> None:
    choice = Choice()
    assert choice.finish_reason is None
    for reason in ("", "length", "", None):
        choice.add({"delta": {}, "finish_reason": reason})
    assert choice.finish_reason == "length"


def test_a_choice_keeps_what_stands_beside_its_delta() -> None:
    choice = Choice()
    choice.add({"index": 0, "delta": {"content": "x"}, "logprobs": {"content": [1]}, "finish_reason": None})
    choice.add({"index": 0, "message": {"content": "y"}, "logprobs": {"content": [2]}, "finish_reason": ""})
    choice.add({"index": 0, "delta": {}, "stop_reason": 7})
    assert choice.whole(0) == {
        "index": 0,
        "message": {"role": "assistant", "content": "xy", "refusal": None},
        "logprobs": {"content": [1, 2]},
        "finish_reason": "stop",
        "stop_reason": 7,
    }


def test_many_small_pieces_take_no_long_time() -> None:
    choice = Choice()
    started = time.process_time()
    for _ in range(20_000):
        choice.add(
            {"delta": {"content": "some words", "tool_calls": [fragment(0, None, None, "some arguments")]}}
        )
    message = choice.whole(0)["message"]
    assert isinstance(message, dict)
    assert len(message["content"]) == 200_000
    assert time.process_time() - started < 5


def test_a_fragment_may_hold_only_what_a_vendor_adds() -> None:
    assert calls(fragment(0, "a", "f", X), {"index": 0, "extra": 1}) == [A | {"extra": 1}]


def test_a_null_takes_no_text_away() -> None:
    choice = Choice()
    for content in ("a", None, "b"):
        choice.add({"delta": {"content": content}})
    assert choice.whole(0)["message"] == {"role": "assistant", "content": "ab", "refusal": None}
