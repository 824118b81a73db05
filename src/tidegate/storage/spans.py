"""How long the buckets of a range of time are, and for how long buckets are kept."""

from msgspec import Struct

MOST_BUCKETS = 200
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


class Level(Struct, frozen=True):
    """Buckets that are kept: each of so many seconds, for so many seconds."""

    seconds: int
    kept: int

    def oldest(self, now: float) -> int:
        """When the oldest bucket that is kept at `now` begins (Unix seconds)."""
        return int(now - self.kept) // self.seconds * self.seconds


LEVELS = (
    Level(_MINUTE, 2 * _DAY),
    Level(10 * _MINUTE, 15 * _DAY),
    Level(_HOUR, 62 * _DAY),
    Level(4 * _HOUR, 400 * _DAY),
    Level(_DAY, 4_000 * _DAY),
)
"""From the finest to the coarsest; each divides the next."""

LENGTHS = (
    *(_MINUTE * count for count in (1, 2, 5, 10, 20, 30)),
    *(_HOUR * count for count in (1, 2, 4, 12)),
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

    @property
    def level(self) -> Level:
        """The coarsest level whose buckets make up those of the range."""
        return next(level for level in reversed(LEVELS) if self.bucket % level.seconds == 0)


class Tile(Struct, frozen=True):
    """A part of a range that whole buckets of one level make up."""

    level: Level
    since: int
    until: int


def tiles(span: Span) -> list[Tile]:
    """The fewest buckets that make up a range: the coarsest in its middle, finer ones at its ends."""
    finest = LEVELS.index(span.level)
    return _tiles(span.since, span.until, LEVELS[finest:])


def _tiles(since: int, until: int, levels: tuple[Level, ...]) -> list[Tile]:
    if since >= until:
        return []
    *finer, coarsest = levels
    first, last = (
        -(-since // coarsest.seconds) * coarsest.seconds,
        until // coarsest.seconds * coarsest.seconds,
    )
    if first >= last:
        return _tiles(since, until, tuple(finer))
    middle = Tile(coarsest, first, last)
    return [*_tiles(since, first, tuple(finer)), middle, *_tiles(last, until, tuple(finer))]


def span_of(since: float, until: float, now: float) -> Span:
    """The shortest whole buckets that hold the range, at most 200 of them, and are kept still at `now`.

    `until` must come after `since`, by LONGEST at most. All are Unix seconds.
    """
    for bucket in LENGTHS:
        first, last = int(since // bucket) * bucket, -int(-until // bucket) * bucket
        span = Span(first, last, bucket)
        if len(span.starts) <= MOST_BUCKETS and (span.level is LEVELS[-1] or first >= span.level.oldest(now)):
            return span
    raise ValueError("the range is too long")
