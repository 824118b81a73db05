"""Chooses the one answer for a request whose attempts have failed, each for its own reason."""

from collections.abc import Sequence
from enum import IntEnum

from msgspec.structs import replace

from tidegate.core.failure import Failure, Fault, Kind, fault
from tidegate.protocols.failures import default_message, failed


class Rank(IntEnum):
    """Which reason is told first (CONTRACT.md, "Before commit")."""

    REFUSED = 0
    """The request's own fault: trying again as it is cannot help."""
    RATE_LIMIT = 1
    OVERLOADED = 2
    TIMEOUT = 3
    CREDENTIALS = 4
    OTHER = 5
    NOTHING_TRIED = 6


_RANKS = {
    Kind.RATE_LIMIT: Rank.RATE_LIMIT,
    Kind.OVERLOADED: Rank.OVERLOADED,
    Kind.TIMEOUT: Rank.TIMEOUT,
    Kind.CHANNEL_AUTH: Rank.CREDENTIALS,
    Kind.NO_CHANNEL: Rank.NOTHING_TRIED,
}


def merge_failures(failures: Sequence[Failure]) -> Failure:
    """The failure that answers for all, in the order of the attempts; without any, no channel was left.

    Among equals the first that has words of its own speaks. The time to wait is the shortest that any channel
    told, with that channel's other hints. Only the request's own fault keeps an upstream's type and code.
    """
    if not failures:
        return failed(Kind.NO_CHANNEL)
    chosen = min(failures, key=lambda failure: (rank(failure), _has_only_standard_words(failure)))
    if fault(chosen.kind) is Fault.CLIENT:
        return chosen
    waits = [failure for failure in failures if failure.retry_after is not None]
    soonest = min(waits, key=lambda failure: failure.retry_after or 0.0, default=chosen)
    return replace(
        chosen,
        status=None,
        type=None,
        code=None,
        param=None,
        origin=None,
        retry_after=soonest.retry_after,
        retry_after_ms=soonest.retry_after_ms,
        should_retry=soonest.should_retry,
    )


def rank(failure: Failure) -> Rank:
    """Where a failure stands in the order."""
    if fault(failure.kind) is Fault.CLIENT:
        return Rank.REFUSED
    return _RANKS.get(failure.kind, Rank.OTHER)


def _has_only_standard_words(failure: Failure) -> bool:
    return failure.message == default_message(failure.kind)
