import re

from tidegate.core.secret import Secret
from tidegate.managed.key_secrets import hint, new_secret, stored_digest
from tidegate.routing.catalog import digest


def test_secrets_are_long_and_never_the_same() -> None:
    made = {new_secret().reveal() for _ in range(1000)}
    assert len(made) == 1000
    assert all(re.fullmatch(r"sk-tg-[0-9A-Za-z]{43}", secret) for secret in made)


def test_every_letter_comes_at_every_place_but_the_last() -> None:
    """The last letter has what is left of 256 bits: it is one of few."""
    made = [new_secret().reveal()[6:] for _ in range(3000)]
    assert all(len({secret[place] for secret in made}) == 62 for place in range(42))
    assert len({secret[42] for secret in made}) < 62


def test_a_hint_has_the_ends_only() -> None:
    assert hint(Secret("sk-tg-ABCDEFGHIJKLMNOP")) == "sk-tg-AB…MNOP"


def test_the_digest_is_what_requests_are_looked_up_by() -> None:
    assert bytes.fromhex(stored_digest(Secret("sk-tg-1"))) == digest("sk-tg-1")
