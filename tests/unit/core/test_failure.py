"""Whose fault each kind of failure is."""

import pytest

from tidegate.core.failure import Failure, Fault, Kind, TidegateError, fault


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_has_one_at_fault(kind: Kind) -> None:
    assert isinstance(fault(kind), Fault)


@pytest.mark.parametrize(
    ("kind", "whose"),
    [
        (Kind.INVALID_REQUEST, Fault.CLIENT),
        (Kind.BODY_TIMEOUT, Fault.CLIENT),
        (Kind.RATE_LIMIT, Fault.UPSTREAM),
        (Kind.CHANNEL_AUTH, Fault.UPSTREAM),
        (Kind.INTERRUPTED, Fault.UPSTREAM),
        (Kind.NO_CHANNEL, Fault.GATEWAY),
        (Kind.INTERNAL, Fault.GATEWAY),
    ],
)
def test_only_a_fault_of_the_client_stops_the_search_for_a_channel(kind: Kind, whose: Fault) -> None:
    assert fault(kind) is whose


def test_an_error_carries_its_failure_and_reads_as_its_message() -> None:
    failure = Failure(kind=Kind.TIMEOUT, message="too slow")
    error = TidegateError(failure)
    assert error.failure is failure
    assert str(error) == "too slow"
