"""Reads what the headers of an upstream say about trying again."""

import re
from calendar import timegm
from collections.abc import Mapping

from msgspec import Struct

_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")
_MILLISECONDS = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?")
_HTTP_DATE = re.compile(
    r"[A-Z][a-z]{2}, (?P<day>\d{2}) (?P<month>[A-Z][a-z]{2}) (?P<year>(?:19|20)\d{2})"
    r" (?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2}) GMT"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SHOULD_RETRY = frozenset({"true", "false"})


class RetryHints(Struct, frozen=True):
    """When to try again: `after` in seconds; the other two are headers to be passed on as they are."""

    after: float | None = None
    after_ms: str | None = None
    should_retry: str | None = None


def read_retry_hints(headers: Mapping[str, str], now: float) -> RetryHints:
    """The hints, names in lower case; `now` in Unix seconds. What makes no sense counts as not told."""
    after_ms = headers.get("retry-after-ms", "").strip()
    told_ms = after_ms if _MILLISECONDS.fullmatch(after_ms) else None
    after = _seconds(headers.get("retry-after", "").strip(), now)
    if after is None and told_ms is not None:
        after = float(told_ms) / 1000
    should_retry = headers.get("x-should-retry", "").strip().lower()
    return RetryHints(after, told_ms, should_retry if should_retry in _SHOULD_RETRY else None)


def _seconds(value: str, now: float) -> float | None:
    """Seconds, or a date in the form that RFC 9110 prescribes for senders; one that is past tells nothing."""
    if _SECONDS.fullmatch(value):
        return float(value)
    found = _HTTP_DATE.fullmatch(value)
    if found is None or found["month"] not in _MONTHS:
        return None
    parts = [int(found[name]) for name in ("day", "hour", "minute", "second")]
    at = timegm((int(found["year"]), _MONTHS.index(found["month"]) + 1, *parts))
    return at - now if at >= now else None
