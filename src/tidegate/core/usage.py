"""Token counts in buckets that never overlap."""

from msgspec import Struct

_BEYOND = 10**18
"""No count reaches this; a number that does is a fault, and would not fit a database column."""


class Usage(Struct, frozen=True, kw_only=True):
    """What one answer used. None means "not told"; zero means zero.

    `input` is fresh input without cache reads and writes, `output` includes `reasoning`, `cache_write`
    includes `cache_write_1h`. The whole prompt is input + cache_read + cache_write.
    """

    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cache_write_1h: int | None = None
    web_searches: int | None = None
    service_tier: str | None = None
    """The service tier that the upstream says it served at."""

    @property
    def total(self) -> int:
        """All tokens as far as told."""
        return (self.input or 0) + (self.cache_read or 0) + (self.cache_write or 0) + (self.output or 0)

    def merged(self, later: "Usage") -> "Usage":
        """Cumulative counts: each field that `later` tells replaces the one told before."""
        return Usage(
            input=self.input if later.input is None else later.input,
            cache_read=self.cache_read if later.cache_read is None else later.cache_read,
            cache_write=self.cache_write if later.cache_write is None else later.cache_write,
            output=self.output if later.output is None else later.output,
            reasoning=self.reasoning if later.reasoning is None else later.reasoning,
            cache_write_1h=self.cache_write_1h if later.cache_write_1h is None else later.cache_write_1h,
            web_searches=self.web_searches if later.web_searches is None else later.web_searches,
            service_tier=self.service_tier if later.service_tier is None else later.service_tier,
        )


def count(value: object) -> int | None:
    """A token count as providers write it: whole and not negative, else not told.

    Numbers with a zero fraction and digit strings are taken, since some servers write those.
    """
    match value:
        case bool() | None:
            return None
        case int():
            return value if 0 <= value < _BEYOND else None
        case float():
            return int(value) if 0 <= value < _BEYOND and value.is_integer() else None
        case str():
            return int(value) if value.isascii() and value.isdigit() and len(value) < 19 else None
        case _:
            return None
