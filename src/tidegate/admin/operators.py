"""Finds the operator whose token was sent."""

import hmac
from collections.abc import Mapping

from tidegate.core.secret import Secret

ADMIN = "admin"
"""The operator that `admin.token` belongs to."""


class Operators:
    """Everybody who may administer, by name."""

    def __init__(self, tokens: Mapping[str, Secret]) -> None:
        """There must be at least one, and none may be empty."""
        if not tokens or not all(tokens.values()):
            raise ValueError("the admin API needs a token")
        self._tokens = {name: _bytes(token.reveal()) for name, token in tokens.items()}

    def owner(self, token: str) -> str | None:
        """Whose token it is. All are compared, and in constant time: how long it takes tells nothing."""
        given, found = _bytes(token), None
        for name, known in self._tokens.items():
            if hmac.compare_digest(given, known):
                found = name
        return found

    def proof(self, operator: str, identifier: str) -> str | None:
        """What ties a session to the operator's token of now; None where there is no such operator."""
        token = self._tokens.get(operator)
        # Keyed with the session's id, which is stored nowhere: nobody can try out tokens on what is stored.
        return None if token is None else hmac.new(identifier.encode(), token, "sha256").hexdigest()


def _bytes(token: str) -> bytes:
    return token.encode("utf-8", "surrogateescape")
