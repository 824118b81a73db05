"""Names of HTTP headers, in lower case, that never pass through the gateway unread."""

FRAMING = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Set by the gateway alone: what a channel or caller could smuggle a request or leak a credential with."""
CREDENTIALS = frozenset(
    {"api-key", "authorization", "cookie", "cookie2", "set-cookie", "x-api-key", "x-goog-api-key"}
)
"""Never taken from a caller."""

_SECRET_WORDS = ("auth", "cookie", "cred", "key", "pass", "secret", "sign", "token")
_LONG_WORD = 20


def may_be_secret(name: str, value: str) -> bool:
    """Whether a header's value may be a credential: by its name, or by being one long word."""
    if any(word in name.lower() for word in _SECRET_WORDS):
        return True
    return len(value) >= _LONG_WORD and " " not in value
