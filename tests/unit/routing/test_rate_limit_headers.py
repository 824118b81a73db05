"""What a caller is told about limits."""

import pytest

from tidegate.core.failure import Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.failures import error_headers
from tidegate.protocols.registry import dialect_of
from tidegate.routing.quota import Level, Levels, Limited
from tidegate.routing.rate_limit_headers import limited_failure, rate_limit_headers

BOTH = Levels(requests=Level(600, 599, 0.1), tokens=Level(200_000, 0, 360))
NOON = 1_796_040_000.0


@pytest.mark.parametrize("protocol", [Protocol.CHAT, Protocol.RESPONSES])
def test_openai_s_names(protocol: Protocol) -> None:
    assert rate_limit_headers(BOTH, protocol, NOON) == [
        ("x-ratelimit-limit-requests", "600"),
        ("x-ratelimit-remaining-requests", "599"),
        ("x-ratelimit-reset-requests", "100ms"),
        ("x-ratelimit-limit-tokens", "200000"),
        ("x-ratelimit-remaining-tokens", "0"),
        ("x-ratelimit-reset-tokens", "6m0s"),
    ]


def test_anthropic_s_names() -> None:
    assert rate_limit_headers(BOTH, Protocol.MESSAGES, NOON) == [
        ("anthropic-ratelimit-requests-limit", "600"),
        ("anthropic-ratelimit-requests-remaining", "599"),
        ("anthropic-ratelimit-requests-reset", "2026-11-30T12:00:01Z"),
        ("anthropic-ratelimit-tokens-limit", "200000"),
        ("anthropic-ratelimit-tokens-remaining", "0"),
        ("anthropic-ratelimit-tokens-reset", "2026-11-30T12:06:00Z"),
    ]


@pytest.mark.parametrize("protocol", Protocol)
def test_limits_that_nobody_has_set_are_not_told(protocol: Protocol) -> None:
    assert rate_limit_headers(Levels(), protocol, NOON) == []
    names = [name for name, _ in rate_limit_headers(Levels(tokens=Level(1, 1, 0)), protocol, NOON)]
    assert len(names) == 3
    assert all("tokens" in name for name in names)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0s"),
        (1e-9, "1ms"),
        (0.12, "120ms"),
        (0.9991, "1s"),
        (1, "1s"),
        (1.0001, "2s"),
        (59.2, "1m0s"),
        (61, "1m1s"),
        (3600, "1h0m0s"),
        (3661, "1h1m1s"),
    ],
)
def test_times_are_told_as_go_writes_them_and_never_too_early(seconds: float, told: str) -> None:
    headers = dict(rate_limit_headers(Levels(tokens=Level(1, 1, seconds)), Protocol.CHAT, NOON))
    assert headers["x-ratelimit-reset-tokens"] == told


@pytest.mark.parametrize("wall", [-5.0, 0.0, 1e15])
def test_any_clock_can_be_told(wall: float) -> None:
    headers = dict(rate_limit_headers(Levels(tokens=Level(1, 1, 0)), Protocol.MESSAGES, wall))
    assert headers["anthropic-ratelimit-tokens-reset"].endswith("Z")


def limited(what: str, scope: str = "key:laptop", limit: int = 600, wait: float = 0.4) -> Limited:
    return Limited(what=what, scope=scope, limit=limit, retry_after=wait, levels=Levels())


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (limited("requests"), "the limit of this key is 600 requests per minute. Try again in 1 second."),
        (
            limited("tokens", "account:acme", 1, 7.2),
            "the limit of this account is 1 token per minute. Try again in 8 seconds.",
        ),
        (
            limited("concurrency", limit=20, wait=1),
            "the limit of this key is 20 requests at the same time. Try again in 1 second.",
        ),
        (
            limited("concurrency", limit=1, wait=1),
            "the limit of this key is 1 request at the same time. Try again in 1 second.",
        ),
    ],
)
def test_a_refusal_says_which_limit_of_whom_and_no_name(verdict: Limited, said: str) -> None:
    failure = limited_failure(verdict)
    assert failure.kind is Kind.RATE_LIMIT
    assert failure.message == f"Rate limit reached: {said}"
    assert "laptop" not in failure.message
    assert "acme" not in failure.message


@pytest.mark.parametrize(("wait", "header"), [(0.0, "1"), (0.4, "1"), (1.0, "1"), (1.01, "2"), (59.9, "60")])
def test_retry_after_is_in_whole_seconds_rounded_up(wait: float, header: str) -> None:
    assert dict(error_headers(limited_failure(limited("requests", wait=wait)))) == {"retry-after": header}


@pytest.mark.parametrize("protocol", Protocol)
def test_it_is_a_429_in_every_protocol(protocol: Protocol) -> None:
    status, body = dialect_of(protocol).error_answer(limited_failure(limited("requests")), "req_1")
    assert status == 429
    assert b"rate_limit_error" in body
    assert (b"rate_limit_exceeded" in body) is (protocol is not Protocol.MESSAGES)
