"""Which browser origins may call the data plane (Fetch standard, "CORS protocol")."""

from collections.abc import Mapping

from tidegate.exchange.ports import Headers

_EXPOSED = "x-request-id, request-id, retry-after, retry-after-ms, x-should-retry, x-tidegate-warnings"
_MAX_AGE = "86400"


def allowed(origins: tuple[str, ...], headers: Mapping[str, str]) -> Headers:
    """The headers that let a page of an allowed origin read the answer; none for any other."""
    origin = headers.get("origin")
    if not origins or origin is None or not ("*" in origins or origin in origins):
        return []
    return [
        ("access-control-allow-origin", origin),
        ("access-control-expose-headers", _EXPOSED),
        ("vary", "origin"),
    ]


def preflight(headers: Mapping[str, str], allow: str) -> Headers:
    """What a preflight request is told besides: the route's methods and the headers it asked for."""
    asked = headers.get("access-control-request-headers", "authorization, content-type")
    return [
        ("access-control-allow-methods", allow),
        ("access-control-allow-headers", asked),
        ("access-control-max-age", _MAX_AGE),
    ]
