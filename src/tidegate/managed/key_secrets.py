"""Makes the secrets of keys."""

import secrets

from tidegate.core.secret import Secret
from tidegate.routing.catalog import digest

PREFIX = "sk-tg-"
_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_RANDOM_BYTES = 32
_LENGTH = 43
"""Letters that any 32 bytes can be written with."""


def new_secret() -> Secret:
    """A secret with 256 random bits."""
    number = int.from_bytes(secrets.token_bytes(_RANDOM_BYTES), "big")
    letters = ""
    for _ in range(_LENGTH):
        number, letter = divmod(number, len(_LETTERS))
        letters += _LETTERS[letter]
    return Secret(PREFIX + letters)


def hint(secret: Secret) -> str:
    """What lists show to tell keys apart.

    The prefix and six letters of 43: those tell 36 of 256 bits, and 220 are left to guess.
    """
    text = secret.reveal()
    return f"{text[:8]}…{text[-4:]}"


def stored_digest(secret: Secret) -> str:
    """What a secret is looked up by. A plain hash is enough: nobody can try out 256 random bits."""
    return digest(secret.reveal()).hex()
