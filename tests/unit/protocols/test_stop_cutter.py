"""Text is cut at the first stop string, wherever the deltas divide it, and nothing but text is."""

import pytest

from tidegate.core.events import (
    CallDelta,
    CallOpened,
    Cited,
    Closed,
    Event,
    Failed,
    Finished,
    ReasoningDelta,
    ReasoningOpened,
    RefusalOpened,
    Started,
    Stop,
    TextDelta,
    TextOpened,
    UsageTold,
)
from tidegate.core.failure import Failure, Kind
from tidegate.core.usage import Usage
from tidegate.protocols.stop_cutter import StopCutter

END = Finished(Stop.END)


def cut(stops: tuple[str, ...], *events: Event) -> list[Event]:
    cutter = StopCutter(stops)
    return [said for event in events for said in cutter.cut(event)]


def answer(*deltas: str) -> list[Event]:
    return [Started(), TextOpened(), *map(TextDelta, deltas), Closed(), END]


def text(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.mark.parametrize(
    ("stops", "deltas", "said", "matched"),
    [
        (("STOP",), ("one STOP two",), "one ", "STOP"),
        (("STOP",), ("one ST", "OP two"), "one ", "STOP"),
        (("STOP",), tuple("one STOP two"), "one ", "STOP"),
        (("STOP",), ("STOP",), "", "STOP"),
        (("STOP",), ("one STO", "ne"), "one STOne", None),
        (("STOP",), ("one ST",), "one ST", None),
        (("a", "b"), ("xxb", "a"), "xx", "b"),
        (("bc", "abcd"), ("xabcd",), "xa", "bc"),
        (("abc", "c"), ("xabc",), "x", "abc"),
        (("aab",), ("aaab",), "a", "aab"),
        (("aab",), tuple("aaab"), "a", "aab"),
        (("\n\n",), ("a\n", "b\n", "\n", "c"), "a\nb", "\n\n"),
        (("😀é",), ("x😀", "é"), "x", "😀é"),
        (("", "x"), ("a",), "a", None),
    ],
)
def test_text_ends_before_the_stop_string(
    stops: tuple[str, ...], deltas: tuple[str, ...], said: str, matched: str | None
) -> None:
    events = cut(stops, *answer(*deltas))
    assert text(events) == said
    end = END if matched is None else Finished(Stop.STOP_SEQUENCE, stop_sequence=matched)
    assert events[-2:] == [Closed(), end]


def test_only_what_may_begin_a_stop_string_is_held_back() -> None:
    cutter = StopCutter(("STOP",))
    cutter.cut(TextOpened())
    assert cutter.cut(TextDelta("one ")) == (TextDelta("one "),)
    assert cutter.cut(TextDelta("two S")) == (TextDelta("two "),)
    assert cutter.cut(TextDelta("T")) == ()
    assert cutter.cut(TextDelta("o")) == (TextDelta("STo"),)
    assert cutter.cut(TextDelta("")) == ()


def test_after_the_stop_string_nothing_is_said() -> None:
    cutter = StopCutter(("X",))
    cutter.cut(TextOpened())
    assert cutter.matched is None
    cutter.cut(TextDelta("aXb"))
    assert cutter.matched == "X"
    for event in (TextDelta("c"), Closed(), UsageTold(Usage()), END, Failed(failure())):
        assert cutter.cut(event) == ()


def failure() -> Failure:
    return Failure(kind=Kind.UPSTREAM, message="down")


@pytest.mark.parametrize(
    "block",
    [
        (ReasoningOpened(), ReasoningDelta("aXb"), Closed()),
        (CallOpened("id", "f"), CallDelta('{"a":"X"}'), Closed()),
        (RefusalOpened(), TextDelta("aXb"), Closed()),
    ],
)
def test_other_blocks_are_not_cut(block: tuple[Event, ...]) -> None:
    events: tuple[Event, ...] = (*block, END)
    assert cut(("X",), *events) == list(events)


def test_a_stop_string_does_not_reach_over_two_blocks() -> None:
    events: list[Event] = [
        TextOpened(),
        TextDelta("aS"),
        Closed(),
        TextOpened(),
        TextDelta("Tb"),
        Closed(),
        END,
    ]
    assert text(cut(("ST",), *events)) == "aSTb"


@pytest.mark.parametrize("end", [Closed(), END, Failed(failure())])
def test_what_is_held_is_said_before_the_end(end: Event) -> None:
    assert cut(("ST",), TextOpened(), TextDelta("aS"), end) == [
        TextOpened(),
        TextDelta("a"),
        TextDelta("S"),
        end,
    ]


def test_what_stands_between_deltas_goes_through() -> None:
    between = (UsageTold(Usage()), Cited("https://x", "t"))
    events = cut(("ST",), TextOpened(), TextDelta("S"), *between, TextDelta("o"), Closed())
    assert [event for event in events if event in between] == list(between)
    assert text(events) == "So"


def test_log_probabilities_stay_with_their_tokens() -> None:
    tokens = [{"token": "on"}, {"token": "e "}, {"token": "ST"}, {"token": "OP"}]
    cutter = StopCutter(("STOP",))
    cutter.cut(TextOpened())
    assert cutter.cut(TextDelta("one ST", tuple(tokens[:3]))) == (TextDelta("one ", tuple(tokens[:2])),)
    assert cutter.cut(TextDelta("ay", ({"token": "ay"},))) == (
        TextDelta("STay", (tokens[2], {"token": "ay"})),
    )


def test_log_probabilities_of_what_was_cut_are_not_told() -> None:
    cutter = StopCutter(("b",))
    cutter.cut(TextOpened())
    said = cutter.cut(TextDelta("ab", ({"token": "a"}, {"token": "b"})))
    assert said[0] == TextDelta("a", ({"token": "a"},))


def test_a_long_stop_string_costs_little() -> None:
    cutter = StopCutter(("a" * 50_000 + "b",))
    cutter.cut(TextOpened())
    for _ in range(500):
        assert cutter.cut(TextDelta("a" * 10)) == ()
    assert text(list(cutter.cut(Closed()))) == "a" * 5000
