"""The one place that decides what a silent or broken upstream means for the client."""

from math import inf

from tidegate.core.failure import Failure, Fault, Kind, fault
from tidegate.engine.actions import (
    Action,
    AppendError,
    Complete,
    Failover,
    Keepalive,
    Open,
    Refuse,
    Wait,
)
from tidegate.engine.signals import Broke, Limits, Phase, Progress, Quiet, Signal

STALLED = Failure(kind=Kind.TIMEOUT, message="upstream timed out")


def decide(seen: Progress, signal: Signal, now: float, limits: Limits) -> Action:
    """Time is an argument and the answer is a value: nothing here can wait, send or fail."""
    match signal:
        case Quiet():
            return _decide_quiet(seen, now, limits)
        case Broke(failure):
            return _decide_broken(seen, failure)


def refuses(failure: Failure) -> bool:
    """Whether an upstream refused the request itself, by its status (CONTRACT.md: 400, 413, 422, some 404).

    An error that it tells after a status of success is an attempt that failed, whatever the error says.
    """
    return failure.status is not None and fault(failure.kind) is Fault.CLIENT


def _decide_quiet(seen: Progress, now: float, limits: Limits) -> Action:
    stalls_at = _stalls_at(seen, limits)
    sign_at = _sign_at(seen, limits)
    if seen.finished_at is not None and now >= seen.finished_at + limits.usage_wait:
        return Complete()
    if now >= stalls_at:
        return _decide_broken(seen, STALLED)
    if now >= sign_at:
        return Open() if seen.phase is Phase.SILENT else Keepalive()
    ends_at = inf if seen.finished_at is None else seen.finished_at + limits.usage_wait
    return Wait(until=min(stalls_at, sign_at, ends_at))


def _decide_broken(seen: Progress, failure: Failure) -> Action:
    match seen.phase:
        case Phase.SPOKEN if seen.finished_at is not None:
            return Complete()  # every choice has its finish: only usage and the end mark are missing
        case Phase.SPOKEN:
            return AppendError(failure)
        case Phase.SILENT | Phase.OPENED:
            return Refuse(failure) if refuses(failure) else Failover(failure)


def _stalls_at(seen: Progress, limits: Limits) -> float:
    """When silence becomes a failure: by one limit before the first word, by another after it."""
    match seen.phase:
        case Phase.SPOKEN:
            return _after(seen.heard_at, limits.idle)
        case Phase.SILENT | Phase.OPENED:
            first = _after(seen.attempt_at, limits.first_event)
            if seen.reasoning_at is None:
                return first
            return max(first, _after(seen.reasoning_at, limits.idle))


def _sign_at(seen: Progress, limits: Limits) -> float:
    """When the client is owed a sign of life."""
    match seen.phase:
        case Phase.SILENT:
            return _after(seen.accepted_at, limits.commit_after)
        case Phase.OPENED | Phase.SPOKEN:
            return _after(seen.wrote_at, limits.keepalive)


def _after(start: float, limit: float) -> float:
    return start + limit if limit > 0 else inf
