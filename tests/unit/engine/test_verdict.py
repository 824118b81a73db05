"""Many failures, one answer."""

import pytest

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.engine.verdict import Rank, merge_failures, rank
from tidegate.protocols.failures import failed
from tidegate.protocols.refusals import read_refusal


def upstream(status: int, body: bytes = b"", **headers: str) -> Failure:
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return read_refusal(Protocol.CHAT, status, told, body, 0)


SILENCE = failed(Kind.TIMEOUT)
CONTEXT = upstream(400, b'{"error":{"message":"m","code":"context_length_exceeded"}}')


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (upstream(500), upstream(429), Kind.RATE_LIMIT),
        (upstream(529), upstream(429), Kind.RATE_LIMIT),
        (upstream(500), upstream(529), Kind.OVERLOADED),
        (SILENCE, upstream(503), Kind.OVERLOADED),
        (upstream(401), SILENCE, Kind.TIMEOUT),
        (upstream(500), upstream(401), Kind.CHANNEL_AUTH),
        (upstream(402), upstream(500), Kind.UPSTREAM),
        (upstream(429), upstream(400), Kind.INVALID_REQUEST),
        (upstream(429, retry_after="3"), CONTEXT, Kind.CONTEXT_LENGTH),
        (failed(Kind.NO_CHANNEL), upstream(500), Kind.UPSTREAM),
    ],
)
def test_the_first_that_applies_is_told_in_either_order(first: Failure, second: Failure, kind: Kind) -> None:
    assert merge_failures([first, second]).kind is kind
    assert merge_failures([second, first]).kind is kind


def test_without_any_attempt_there_was_no_channel() -> None:
    assert merge_failures([]).kind is Kind.NO_CHANNEL


def test_the_shortest_wait_is_told_with_its_own_hints() -> None:
    merged = merge_failures(
        [
            upstream(429, retry_after="17", retry_after_ms="17000", x_should_retry="true"),
            upstream(503, retry_after="5", retry_after_ms="5000"),
            upstream(429),
        ]
    )
    assert merged.kind is Kind.RATE_LIMIT
    assert (merged.retry_after, merged.retry_after_ms, merged.should_retry) == (5, "5000", None)


def test_own_words_go_before_standard_ones() -> None:
    merged = merge_failures([upstream(500), upstream(500, b'{"error":{"message":"The disk is full."}}')])
    assert merged.message == "The disk is full."
    assert merge_failures([upstream(529), upstream(529)]).message == "Overloaded"


def test_only_the_requests_own_fault_keeps_an_upstreams_words() -> None:
    event = Failure(kind=Kind.UPSTREAM, message="m", type="server_error", code="x", origin=Protocol.CHAT)
    merged = merge_failures([event])
    assert (merged.type, merged.code, merged.origin, merged.message) == (None, None, None, "m")
    assert merge_failures([event, CONTEXT]) == CONTEXT


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_rank(kind: Kind) -> None:
    assert rank(failed(kind)) in Rank
