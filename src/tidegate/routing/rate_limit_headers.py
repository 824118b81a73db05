"""What a caller is told about limits: the headers of each protocol's provider, and the refusal."""

import math
from datetime import UTC, datetime

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.routing.quota import Level, Levels, Limited

_LAST_SECOND = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
_SHORTEST_WAIT = 0.001
"""Seconds; a `retry-after` of zero would be no wait at all."""


def rate_limit_headers(levels: Levels, protocol: Protocol, wall: float) -> list[tuple[str, str]]:
    """The headers of an answer; none for limits that nobody has set. `wall` is now in Unix seconds."""
    told = (("requests", levels.requests), ("tokens", levels.tokens))
    headers: list[tuple[str, str]] = []
    for what, level in told:
        if level is None:
            continue
        match protocol:
            case Protocol.MESSAGES:
                headers += _anthropic(what, level, wall)
            case Protocol.CHAT | Protocol.RESPONSES:
                headers += _openai(what, level)
    return headers


def limited_failure(limited: Limited) -> Failure:
    """The answer to a request that a limit turned away; it says whose limit, and never another's name."""
    seconds = max(1, math.ceil(limited.retry_after))
    again = f"Try again in {_counted(seconds, 'second')}."
    match limited.what:
        case "concurrency":
            limit = f"{_counted(limited.limit, 'request')} at the same time"
        case what:  # requests or tokens
            limit = f"{_counted(limited.limit, what.removesuffix('s'))} per minute"
    whose = limited.scope.partition(":")[0]
    return Failure(
        kind=Kind.RATE_LIMIT,
        message=f"Rate limit reached: the limit of this {whose} is {limit}. {again}",
        retry_after=max(limited.retry_after, _SHORTEST_WAIT),
    )


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _openai(what: str, level: Level) -> list[tuple[str, str]]:
    return [
        (f"x-ratelimit-limit-{what}", str(level.limit)),
        (f"x-ratelimit-remaining-{what}", str(level.remaining)),
        (f"x-ratelimit-reset-{what}", _duration(level.reset)),
    ]


def _anthropic(what: str, level: Level, wall: float) -> list[tuple[str, str]]:
    return [
        (f"anthropic-ratelimit-{what}-limit", str(level.limit)),
        (f"anthropic-ratelimit-{what}-remaining", str(level.remaining)),
        (f"anthropic-ratelimit-{what}-reset", _moment(wall + level.reset)),
    ]


def _duration(seconds: float) -> str:
    """Like "120ms", "1s" or "6m0s", rounded up so that it is never too early."""
    milliseconds = math.ceil(seconds * 1000)
    if 0 < milliseconds < 1000:
        return f"{milliseconds}ms"
    minutes, rest = divmod(math.ceil(milliseconds / 1000), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{rest}s"
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _moment(wall: float) -> str:
    """RFC 3339 in UTC, in whole seconds rounded up."""
    at = min(max(0, math.ceil(wall)), _LAST_SECOND)
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
