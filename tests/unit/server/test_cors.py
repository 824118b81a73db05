"""Which pages may read answers."""

import pytest

from tidegate.server.cors import allowed, preflight

ORIGIN = "https://app.example.com"


@pytest.mark.parametrize(
    ("origins", "origin"),
    [
        ((), ORIGIN),
        (("https://other.example.com",), ORIGIN),
        ((ORIGIN,), None),
        ((ORIGIN,), "https://app.example.com.evil.example"),
        ((ORIGIN,), "http://app.example.com"),
        ((ORIGIN,), "null"),
    ],
)
def test_no_other_page(origins: tuple[str, ...], origin: str | None) -> None:
    assert allowed(origins, {} if origin is None else {"origin": origin}) == []


@pytest.mark.parametrize("origins", [(ORIGIN,), ("https://x", ORIGIN), ("*",)])
def test_an_allowed_page_reads_the_answer_and_its_headers(origins: tuple[str, ...]) -> None:
    told = dict(allowed(origins, {"origin": ORIGIN}))
    assert told["access-control-allow-origin"] == ORIGIN
    assert told["vary"] == "origin"
    exposed = told["access-control-expose-headers"].split(", ")
    assert {"x-request-id", "request-id", "retry-after", "x-tidegate-warnings"} <= set(exposed)
    assert "access-control-allow-credentials" not in told


def test_a_preflight_is_told_method_and_headers() -> None:
    told = dict(preflight({"access-control-request-headers": "x-api-key, x-stainless-os"}, "POST"))
    assert told["access-control-allow-methods"] == "POST"
    assert told["access-control-allow-headers"] == "x-api-key, x-stainless-os"
    assert int(told["access-control-max-age"]) > 0
    assert "authorization" in dict(preflight({}, "GET"))["access-control-allow-headers"]
