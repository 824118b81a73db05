"""Makes the ids of sessions, which only the gateway itself can have made."""

import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256

from tidegate.core.secret import Secret

_RANDOM, _MARK = 32, 16
"""Bytes of an id: that many by chance, that many to tell that it is one of ours."""
_LETTERS = 64


class SessionIds:
    """Ids by one secret, so that a made-up one is refused without asking the database."""

    def __init__(self, secret: Secret) -> None:
        own = secret.reveal().encode("utf-8", "surrogateescape")
        self._key = hmac.new(own, b"tidegate session 1", "sha256").digest()

    def new(self) -> str:
        """An id with 256 random bits, fit for a cookie."""
        random = secrets.token_bytes(_RANDOM)
        return urlsafe_b64encode(random + self._mark(random)).decode()

    def is_ours(self, identifier: str) -> bool:
        """Whether an id was made with this secret; it may have ended all the same."""
        if len(identifier) != _LETTERS or not identifier.isascii():
            return False
        try:
            raw = urlsafe_b64decode(identifier)
        except ValueError:
            return False
        # Written again: letters that decoding skips would make two ids out of one.
        if urlsafe_b64encode(raw).decode() != identifier:
            return False
        return hmac.compare_digest(raw[_RANDOM:], self._mark(raw[:_RANDOM]))

    def _mark(self, random: bytes) -> bytes:
        return hmac.new(self._key, random, "sha256").digest()[:_MARK]


def digest(identifier: str) -> str:
    """What an id is kept and looked up by."""
    return sha256(identifier.encode()).hexdigest()


def csrf_token(identifier: str) -> str:
    """What a page of ours sends with each change: only who has been told by us can know it."""
    return sha256(b"tidegate csrf 1 " + identifier.encode()).hexdigest()
