import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.sse import Form, Frame
from tidegate.protocols.split_characters import SplitCharacters


def frame(data: bytes) -> Frame:
    return Frame(raw=b"data: " + data + b"\n\n", data=data, event=None, id=None, form=Form.PLAIN)


def joined(*told: bytes) -> list[bytes]:
    characters = SplitCharacters()
    return [characters.join(frame(data)).data for data in told]


def test_a_character_in_two_texts_is_in_the_second() -> None:
    assert joined(b'{"t":"a\\ud83d"}', b'{"t":"\\ude00b"}') == [b'{"t":"a"}', b'{"t":"\\ud83d\\ude00b"}']


def test_what_comes_between_them_is_as_it_was() -> None:
    between = [b'{"type":"ping"}', b'{"t":"","u":"\\u00e9"}']
    told = joined(b'{"t":"\\uD83D"}', *between, b'{"t":"\\uDE00"}')
    assert told == [b'{"t":""}', *between, b'{"t":"\\uD83D\\uDE00"}']


def test_one_text_under_two_names_stays_one() -> None:
    told = joined(b'{"a":"\\ud83d","b":"\\ud83d"}', b'{"a":"\\ude00","b":"\\ude00"}')
    assert told[1] == b'{"a":"\\ud83d\\ude00","b":"\\ud83d\\ude00"}'


def test_whole_characters_and_escaped_backslashes_are_left_alone() -> None:
    whole = [b'{"t":"\\ud83d\\ude00"}', b'{"t":"\\\\ud83d"}', b'{"t":"\\\\\\"\\u00fc"}', b'{"t":"x\\\\\\\\"}']
    assert joined(*whole) == whole


def test_a_half_that_stays_alone_is_left_out() -> None:
    assert joined(b'{"t":"\\\\\\ud83d"}', b'{"t":"b"}') == [b'{"t":"\\\\"}', b'{"t":"b"}']


@given(st.text(st.sampled_from('ab"\\😀é👩\u200d💻'), max_size=12), st.lists(st.integers(0, 30), max_size=8))
def test_text_cut_at_any_units_is_whole_again(text: str, cuts: list[int]) -> None:
    units = text.encode("utf-16-be", "surrogatepass")
    places = sorted({0, len(units), *(min(2 * cut, len(units)) for cut in cuts)})
    pieces = [units[a:b].decode("utf-16-be", "surrogatepass") for a, b in pairwise(places)]
    told = joined(*(json.dumps({"t": piece}).encode() for piece in pieces))
    assert "".join(json.loads(data)["t"] for data in told) == text
