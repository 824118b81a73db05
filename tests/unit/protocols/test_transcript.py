"""Text is gathered whole and in order, however small its pieces."""

import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.protocols.transcript import Transcript


@settings(deadline=None)
@given(st.lists(st.text(max_size=5), max_size=400))
def test_all_pieces_in_order(pieces: list[str]) -> None:
    transcript = Transcript()
    for piece in pieces:
        transcript.add(piece)
    assert transcript.text() == "".join(pieces)
    assert transcript.text() == "".join(pieces), "reading takes nothing away"


def test_many_small_pieces_take_little_more_room_than_their_text() -> None:
    transcript = Transcript()
    for number in range(100_000):
        transcript.add("abc" if number % 2 else "é")
    assert sys.getsizeof(transcript._text) < 1.5 * len(transcript.text().encode())


def test_halves_of_a_surrogate_pair_in_two_deltas_are_kept() -> None:
    transcript = Transcript()
    transcript.add("\ud83d")
    transcript.add("\ude00")
    assert transcript.text() == "\ud83d\ude00"
