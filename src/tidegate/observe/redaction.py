"""Takes credentials out of a text on its way to the log: a second line of defence behind `Secret`."""

import json
import re
from urllib.parse import quote

from tidegate.core.secret import Secret

MARK = "[redacted]"

SHORTEST = 6
"""Characters below which a known secret is not looked for: it would blank out ordinary words."""

# The shapes of well-known credentials. Over-redaction is accepted.
_PATTERNS = re.compile(
    r"""
      (?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{8,}                  # OpenAI, Anthropic, Tidegate and many others
    | (?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{20,}                # Google
    | (?<![A-Za-z0-9])AKIA[A-Z0-9]{16}                      # AWS
    | (?<![A-Za-z0-9])(?:gsk|hf|r8|ghp|ghs)_[A-Za-z0-9]{16,}
    | (?<![A-Za-z0-9])(?:xai|pplx|nvapi)-[A-Za-z0-9_-]{16,}
    | (?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,512}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?   # a JSON web token
    | (?<=://)[^\s/@"'\\]+(?=@)                             # user and password in a URL
    | (?i:(?<=bearer\s))(?!\[redacted\])[^\s"'\\,;}\])]{6,}
    """,
    re.VERBOSE,
)

# A header or member that holds a credential, as text, as JSON (also escaped twice) or as Python writes it.
_NAMED = re.compile(
    r"""
    ((?<![A-Za-z0-9])(?:x-api-key|x-goog-api-key|api[_-]?key|(?:proxy-)?authorization|(?:set-)?cookie)
      \\?["']? \s* [:=,] \s* (?:b?\\?["'])? (?:(?:basic|bearer)\s+)?)
    (?!(?:basic|bearer)\s)(?!\[redacted\])[^\s"'\\,;}\])]{4,}
    """,
    re.VERBOSE | re.IGNORECASE,
)

SHAPES = ((_PATTERNS, MARK), (_NAMED, rf"\1{MARK}"))
"""The patterns in their order, each with what takes the place of a match."""

_SIGNS = (
    *("sk-", "aiza", "akia", "gsk_", "hf_", "r8_", "ghp_", "ghs_", "xai-", "pplx-", "nvapi-", "eyj"),
    *("://", "bearer", "api-key", "api_key", "apikey", "authorization", "cookie"),
)
"""No pattern matches a text without one of these: a quick test that nearly every line of a log passes."""


class Redactor:
    """Knows the secrets of this process and the shapes of those it has not been told of."""

    def __init__(self) -> None:
        self._known: list[str] = []

    def register(self, secret: Secret) -> None:
        """Never let this secret through, however it looks; also as JSON or a URL writes it."""
        value = secret.reveal()
        if len(value) >= SHORTEST:
            written = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
            written.add(quote(value, safe="", errors="replace"))
            # The longest first: one may be a part of another.
            self._known = sorted({*self._known, *written}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """The text without credentials."""
        text = self.without_known(text)
        lowered = text.lower()
        if any(sign in lowered for sign in _SIGNS):
            for pattern, mark in SHAPES:
                text = pattern.sub(mark, text)
        return text

    def without_known(self, text: str) -> str:
        """The text without the secrets of this process."""
        for known in self._known:
            if known in text:
                text = text.replace(known, MARK)
        return text
