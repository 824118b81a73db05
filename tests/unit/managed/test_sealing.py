import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.secret import Secret
from tidegate.managed.sealing import NO_CREDENTIALS, Credentials, Unsealable, Vault, mapping_of

VAULT = Vault(Secret("own"))
GIVEN = Credentials("sk-upstream-1", {"x-team": "search"})
texts = st.text(st.characters(codec="utf-8"), max_size=40)


@given(texts, texts, st.dictionaries(texts, texts, max_size=3))
def test_what_is_sealed_opens_again(channel: str, api_key: str, headers: dict[str, str]) -> None:
    credentials = Credentials(api_key, headers)
    assert VAULT.open(channel, VAULT.seal(channel, credentials)) == credentials


def test_another_secret_or_channel_opens_nothing() -> None:
    sealed = VAULT.seal("a", GIVEN)
    with pytest.raises(Unsealable):
        Vault(Secret("other")).open("a", sealed)
    with pytest.raises(Unsealable):
        VAULT.open("b", sealed)


@given(st.integers(min_value=0), st.integers(1, 255))
def test_a_changed_byte_is_noticed(place: int, change: int) -> None:
    sealed = bytearray(VAULT.seal("a", GIVEN))
    sealed[place % len(sealed)] ^= change
    with pytest.raises(Unsealable):
        VAULT.open("a", bytes(sealed))


@given(st.binary(max_size=60))
def test_garbage_opens_nothing(sealed: bytes) -> None:
    with pytest.raises(Unsealable):
        VAULT.open("a", sealed)


def test_the_same_credential_looks_different_each_time_and_shows_nothing() -> None:
    one, other = VAULT.seal("a", GIVEN), VAULT.seal("a", GIVEN)
    assert one != other
    assert b"sk-upstream-1" not in one
    assert b"search" not in one


def test_credentials_are_not_printed() -> None:
    assert "sk-upstream-1" not in f"{GIVEN} {GIVEN!r} {[GIVEN]}"


def test_what_is_not_there_is_no_setting() -> None:
    assert mapping_of(NO_CREDENTIALS) == {}
    assert mapping_of(GIVEN) == {"api_key": "sk-upstream-1", "headers": {"x-team": "search"}}
