"""The words and headers that every dialect shares."""

import pytest

from tidegate.core.failure import Failure, Kind
from tidegate.protocols.failures import counts_against_channel, default_message, error_headers, failed


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_words(kind: Kind) -> None:
    assert default_message(kind)
    assert failed(kind, "why") == Failure(kind=kind, message=default_message(kind), detail="why")


@pytest.mark.parametrize(
    ("failure", "headers"),
    [
        (Failure(kind=Kind.RATE_LIMIT, message=""), [("retry-after", "2")]),
        (Failure(kind=Kind.OVERLOADED, message=""), [("retry-after", "2")]),
        (Failure(kind=Kind.NO_CHANNEL, message=""), [("retry-after", "2")]),
        (Failure(kind=Kind.DRAINING, message=""), [("retry-after", "2")]),
        (Failure(kind=Kind.UPSTREAM, message=""), []),
        (Failure(kind=Kind.RATE_LIMIT, message="", retry_after=16.2), [("retry-after", "17")]),
        (Failure(kind=Kind.NO_CHANNEL, message="", retry_after=0.0), [("retry-after", "0")]),
        (
            Failure(
                kind=Kind.RATE_LIMIT, message="", retry_after=17, retry_after_ms="17000", should_retry="true"
            ),
            [("retry-after", "17"), ("retry-after-ms", "17000"), ("x-should-retry", "true")],
        ),
        (Failure(kind=Kind.METHOD_NOT_ALLOWED, message="", allow="POST"), [("allow", "POST")]),
    ],
)  # fmt: skip
def test_headers(failure: Failure, headers: list[tuple[str, str]]) -> None:
    assert error_headers(failure) == headers


@pytest.mark.parametrize(
    ("status", "kind", "counts"),
    [
        (409, Kind.UPSTREAM, False),
        (425, Kind.UPSTREAM, False),
        (400, Kind.INVALID_REQUEST, False),
        (500, Kind.UPSTREAM, True),
        (429, Kind.RATE_LIMIT, True),
        (None, Kind.TIMEOUT, True),
    ],
)
def test_what_counts_against_a_channel(status: int | None, kind: Kind, counts: bool) -> None:
    assert counts_against_channel(status, failed(kind)) is counts
