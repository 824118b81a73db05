"""How long the buckets of a range of time are."""

from msgspec import Struct

MOST_BUCKETS = 200
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400

LENGTHS = (
    *(_MINUTE * count for count in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * count for count in (1, 2, 4, 6, 12)),
    *(_DAY * count for count in (1, 2, 5, 10, 20)),
)
"""In seconds. Those up to a day divide a day."""

LONGEST = LENGTHS[-1] * (MOST_BUCKETS - 1)
"""Seconds that a range may have: nearly eleven years."""


class Span(Struct, frozen=True):
    """A range of time in whole buckets, in Unix seconds; `until` is not in it."""

    since: int
    until: int
    bucket: int

    @property
    def starts(self) -> range:
        """The beginning of each bucket."""
        return range(self.since, self.until, self.bucket)


def span_of(since: float, until: float) -> Span:
    """The shortest whole buckets that hold the range, at most 200 of them.

    `until` must come after `since`, by LONGEST at most.
    """
    for bucket in LENGTHS:
        first, last = int(since // bucket) * bucket, -int(-until // bucket) * bucket
        if (last - first) // bucket <= MOST_BUCKETS:
            return Span(first, last, bucket)
    raise ValueError("the range is too long")
