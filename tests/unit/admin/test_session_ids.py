from hypothesis import given
from hypothesis import strategies as st

from tidegate.admin.session_ids import SessionIds, csrf_token, digest
from tidegate.core.secret import Secret

IDS = SessionIds(Secret("the gateway's own secret"))


def test_an_id_is_known_to_who_has_the_secret() -> None:
    one, other = IDS.new(), IDS.new()
    assert one != other
    assert IDS.is_ours(one)
    assert SessionIds(Secret("the gateway's own secret")).is_ours(one)
    assert not SessionIds(Secret("another")).is_ours(one)


@given(st.integers(0, 63), st.characters())
def test_an_id_with_another_letter_is_none(place: int, letter: str) -> None:
    made = IDS.new()
    spoilt = made[:place] + letter + made[place + 1 :]
    assert IDS.is_ours(spoilt) is (spoilt == made)


@given(st.text(max_size=100))
def test_garbage_is_no_id(text: str) -> None:
    assert not IDS.is_ours(text)


def test_what_is_told_and_stored_gives_the_id_away_to_nobody() -> None:
    made = IDS.new()
    assert len({made, digest(made), csrf_token(made)}) == 3
    assert csrf_token(made) == csrf_token(made) != csrf_token(IDS.new())
