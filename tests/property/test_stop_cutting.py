"""Text ends before the stop string that is complete first, however it was divided; nothing else is lost."""

from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.events import Closed, Event, Finished, Stop, TextDelta, TextOpened
from tidegate.protocols.stop_cutter import StopCutter

LETTERS = st.text("ab\n", max_size=12)
STOPS = st.lists(st.text("ab\n", min_size=1, max_size=4), min_size=1, max_size=4)
DELTAS = st.lists(LETTERS, max_size=8)


def expected(text: str, stops: list[str]) -> tuple[str, str | None]:
    """By the definition: the shortest beginning of the text that ends in a stop string."""
    for end in range(1, len(text) + 1):
        found = [stop for stop in stops if text[:end].endswith(stop)]
        if found:
            longest = max(found, key=len)
            return text[: end - len(longest)], longest
    return text, None


def said(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@given(STOPS, DELTAS)
def test_the_cut_does_not_depend_on_how_the_text_is_divided(stops: list[str], deltas: list[str]) -> None:
    cutter = StopCutter(stops)
    events: list[Event] = [TextOpened(), *map(TextDelta, deltas), Closed(), Finished(Stop.END)]
    out = [told for event in events for told in cutter.cut(event)]
    text, matched = expected("".join(deltas), stops)
    assert said(out) == text
    assert cutter.matched == matched
    assert out[0] == TextOpened()
    assert out[-2] == Closed()
    end = Finished(Stop.END) if matched is None else Finished(Stop.STOP_SEQUENCE, stop_sequence=matched)
    assert out[-1] == end
    assert all(event.text for event in out if isinstance(event, TextDelta))


@given(STOPS, DELTAS)
def test_never_more_is_held_back_than_may_still_become_a_stop_string(
    stops: list[str], deltas: list[str]
) -> None:
    cutter = StopCutter(stops)
    cutter.cut(TextOpened())
    given_so_far, told = "", ""
    for delta in deltas:
        given_so_far += delta
        told += said(list(cutter.cut(TextDelta(delta))))
        if cutter.matched is not None:
            return
        held = given_so_far.removeprefix(told)
        assert len(held) < max(map(len, stops))
        assert not held or any(stop.startswith(held) for stop in stops)
