"""Blocks speak one after the other, in whatever order their fragments come."""

import pytest

from tidegate.core.events import CallDelta, CallKind, CallOpened, Cited, Closed, Event, Started, TextDelta
from tidegate.protocols.blocks import (
    MAX_WAITING,
    REFUSAL,
    TEXT,
    Block,
    Blocks,
    Broken,
    CallBlock,
    CallIds,
    Stage,
    Streamed,
    TextBlock,
)


def text(order: int | None = None, *, ended: bool = False) -> TextBlock:
    block = TextBlock(TEXT, order)
    block.ended = ended
    return block


def said(words: str) -> tuple[Event, ...]:
    return (TEXT, TextDelta(words), Closed())


def test_the_first_block_speaks_at_once_and_the_next_when_it_is_whole() -> None:
    blocks = Blocks()
    first, second = text(), text()
    blocks.begin(first)
    first.add("a")
    assert blocks.take() == (TEXT, TextDelta("a"))
    blocks.begin(second)
    second.add("b")
    first.add("c")
    assert blocks.take() == (TextDelta("c"),)
    first.ended = True
    blocks.advance()
    assert blocks.take() == (Closed(), TEXT, TextDelta("b"))
    second.add("d")
    assert blocks.take() == (TextDelta("d"),)
    blocks.settle(cut=True)
    assert blocks.take() == (Closed(cut=True),)
    assert blocks.last is None


def test_a_whole_block_is_closed_when_another_one_begins() -> None:
    blocks = Blocks()
    first = text(ended=True)
    blocks.begin(first)
    first.add("a")
    assert Closed() not in blocks.take()
    blocks.begin(text())
    assert blocks.take() == (Closed(),)


def test_a_block_that_has_passed_its_turn_on_says_nothing_more() -> None:
    blocks = Blocks()
    first = text(ended=True)
    blocks.begin(first)
    blocks.begin(text())
    first.add("late")
    assert blocks.take() == ()


def test_blocks_that_wait_come_in_their_order_within_a_run() -> None:
    blocks = Blocks()
    waiting = {name: text(order, ended=True) for name, order in (("c", 3), ("a", 1), ("b", 2))}
    blocks.begin(text(9))
    for name, block in waiting.items():
        blocks.begin(block)
        block.add(name)
    barrier, last = text(ended=True), text(0, ended=True)
    for name, block in (("-", barrier), ("z", last)):
        blocks.begin(block)
        block.add(name)
    blocks.settle(cut=False)
    assert [event.text for event in blocks.take() if isinstance(event, TextDelta)] == [
        "a",
        "b",
        "c",
        "-",
        "z",
    ]


def test_release_lets_all_speak_and_keeps_the_last_open() -> None:
    blocks = Blocks()
    first, whole, last = text(), text(ended=True), text()
    for name, block in (("a", first), ("b", whole), ("c", last)):
        blocks.begin(block)
        block.add(name)
    blocks.release(cut=True)
    out = blocks.take()
    assert out == (TEXT, TextDelta("a"), Closed(cut=True), *said("b"), TEXT, TextDelta("c"))
    assert blocks.last is last


def test_what_belongs_to_no_block_goes_out_at_once() -> None:
    blocks = Blocks()
    blocks.begin(text())
    blocks.tell(Started())
    assert blocks.take() == (Started(),)
    assert blocks.take() == ()


def test_too_many_blocks_never_wait() -> None:
    blocks = Blocks()
    for _ in range(MAX_WAITING + 1):
        blocks.begin(text())
    with pytest.raises(Broken):
        blocks.begin(text())


def test_a_block_that_said_nothing_is_not_closed() -> None:
    for block in (Block(), TextBlock(REFUSAL)):
        block.close()
        assert block.events == []
        assert block.stage is Stage.CLOSED


def test_a_text_is_opened_by_a_citation_too() -> None:
    block = text()
    block.cite(Cited("u", "T"))
    block.add("a")
    assert block.events == [TEXT, Cited("u", "T"), TextDelta("a")]


def call(kind: CallKind = CallKind.FUNCTION) -> CallBlock:
    block = CallBlock(kind)
    block.name("a", "f")
    return block


OPENED = CallOpened("a", "f")


def test_a_call_keeps_its_fragments() -> None:
    block = call()
    for piece in ("{", "", "}"):
        block.add(piece)
    block.close()
    block.close()
    assert block.events == [OPENED, CallDelta("{"), CallDelta("}"), Closed()]
    assert block.said.equals("{}")


def test_a_call_is_opened_by_its_name() -> None:
    block = CallBlock(CallKind.FUNCTION)
    block.add("{")
    assert block.events == []
    block.name("a", "f")
    block.add("}")
    assert block.events == [OPENED, CallDelta("{"), CallDelta("}")]


@pytest.mark.parametrize(
    ("kind", "given", "cut", "expected"),
    [
        (CallKind.FUNCTION, "", False, None),
        (CallKind.FUNCTION, "", True, None),
        (CallKind.FUNCTION, '{"x":1}', True, '{"x":1}'),
        (CallKind.CUSTOM, "", False, None),
        (CallKind.CUSTOM, "ls", False, "ls"),
    ],
)
def test_a_call_without_fragments(kind: CallKind, given: str, cut: bool, expected: str | None) -> None:
    block = call(kind)
    block.given = given
    block.close(cut=cut)
    deltas = [] if expected is None else [CallDelta(expected)]
    assert block.events == [CallOpened("a", "f", kind), *deltas, Closed(cut=cut)]


def test_a_call_without_a_name_is_broken_unless_it_was_cut() -> None:
    with pytest.raises(Broken):
        CallBlock(CallKind.FUNCTION).close()
    block = CallBlock(CallKind.FUNCTION)
    block.close(cut=True)
    assert block.events == []


def test_ids_are_kept_where_they_serve_and_made_where_not() -> None:
    ids = CallIds()
    assert ids.take("toolu_1", b"x") == "toolu_1"
    made = [ids.take(told, b"x") for told in ("toolu_1", None, "", "with space", "with space")]
    assert all(each.startswith("call_") for each in made)
    assert len({*made, "toolu_1"}) == 6
    again = CallIds()
    assert [again.take(told, b"x") for told in ("toolu_1", "toolu_1", None)] == ["toolu_1", *made[:2]]
    assert CallIds().take(None, b"x") != CallIds().take(None, b"y")
    another = CallIds()
    another.answer = "resp_2"
    assert CallIds().take(None, b"x") != another.take(None, b"x")


@pytest.mark.parametrize(
    ("streamed", "whole", "rest"),
    [
        ("He", "Hello", "llo"),
        ("", "Hello", "Hello"),
        ("Hello", "Hello", ""),
        ("Hello", "He", ""),
        ("a", "bc", ""),
    ],
)
def test_a_final_value_mends_what_was_streamed(streamed: str, whole: str, rest: str) -> None:
    said = Streamed()
    for letter in streamed:
        said.add(letter)
    assert said.rest_of(whole) == rest
    assert said.equals(whole) is (streamed == whole)
    assert said.text() == streamed
    assert bool(said) is bool(streamed)
