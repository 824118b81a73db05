"""Sums of finished requests: how many, how they ended, their tokens, their cost, their first-token times."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from tidegate.storage.pages import OUTCOMES
from tidegate.storage.rows import MICROSECONDS
from tidegate.storage.sums import BINS_AN_OCTAVE, COUNTS, EDGES, SHIFT, SUMS, TOKENS

DIMENSIONS = ("model", "channel", "key", "account", "protocol", "stream")
"""What sums can be told apart by."""

COLUMNS = (
    "created_at",
    *DIMENSIONS,
    "outcome",
    "status",
    "first_token_ms",
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "cost",
    "attempts",
)
"""What is read of a row, in the order that `tally` expects."""

_MOST_TOKENS = 10**12
_MOST_COST = 10**14
"""What a single row counts at most, so that sums stay within 64 bits whatever an upstream claims."""
LONGEST_NAME = 256
"""Letters of a model's name that are told apart: a caller may ask for anything."""

_LOW = (1 << SHIFT) - 1

NO_SUCH_MODEL = 404
"""The status of a request that was turned away since there is no such model, in every protocol."""

Combination: TypeAlias = tuple[str | None, str | None, str | None, str | None, str, bool]
"""One value for each of DIMENSIONS."""
Sums: TypeAlias = list[int]
"""A number for each of SUMS."""
Tally: TypeAlias = dict[tuple[int, Combination], Sums]
"""By the beginning of a bucket (Unix seconds) and combination."""

_OUTCOME = {outcome: number for number, outcome in enumerate(OUTCOMES)}
_UNKNOWN = OUTCOMES.index("failed")
"""Where an outcome counts that only a later version knows."""
_INPUT, _CACHE_READ, _CACHE_WRITE, _OUTPUT = (COUNTS.index(name) for name in TOKENS)
_COST, _ATTEMPTS, _FAILED = (COUNTS.index(name) for name in ("cost", "attempts", "attempts_failed"))
_FIRST_BIN = len(COUNTS)


class _Attempt(Struct, frozen=True):
    channel: str
    outcome: str


_to_attempts = msgspec.json.Decoder(tuple[_Attempt, ...]).decode


def nothing() -> Sums:
    """Sums of no request."""
    return [0] * len(SUMS)


def tally(rows: Iterable[Sequence[Any]], seconds: int) -> Tally:
    """The sums of rows of COLUMNS in buckets of that many seconds.

    A request counts in the bucket in which it began. An attempt counts at its own channel, which may be
    another than the request's.
    """
    found: Tally = {}
    length = seconds * MICROSECONDS
    for row in rows:
        created_at, model, channel, key, account, protocol, stream, outcome, *rest = row
        status, first, *tokens, cost, tried = rest
        named = _name_of(model, outcome, status)
        at = created_at // length * seconds
        place = (at, (named, channel, key, account, protocol, bool(stream)))
        sums = found.get(place)
        if sums is None:
            sums = found[place] = nothing()
        sums[_OUTCOME.get(outcome, _UNKNOWN)] += 1
        for number, count in enumerate(tokens, _INPUT):
            sums[number] += min(count, _MOST_TOKENS)
        sums[_COST] += min(cost, _MOST_COST)
        if first is not None:
            one = bin_of(first)
            sums[_FIRST_BIN + (one >> 1)] += 1 << SHIFT if one & 1 else 1
        for attempt in _to_attempts(tried):
            there = sums
            if attempt.channel != channel:
                elsewhere = (at, (named, attempt.channel, key, account, protocol, bool(stream)))
                there = found.setdefault(elsewhere, nothing())
            there[_ATTEMPTS] += 1
            there[_FAILED] += attempt.outcome == "failed"
    return found


def _name_of(model: str | None, outcome: str, status: int) -> str | None:
    """What a model counts as: callers can make up any name, and each that counts is kept for years."""
    if model is None or (outcome == "rejected" and status == NO_SUCH_MODEL):
        return None
    return model[:LONGEST_NAME]


def difference(more: Tally, less: Tally) -> Tally:
    """What must be added to the one to have the other."""
    found = {place: list(sums) for place, sums in more.items()}
    for place, sums in less.items():
        add(found.setdefault(place, nothing()), [-count for count in sums])
    return found


def coarser(fine: Tally, seconds: int) -> Tally:
    """The same in longer buckets, each a whole number of the finer ones."""
    found: Tally = {}
    for (at, combination), sums in fine.items():
        add(found.setdefault((at // seconds * seconds, combination), nothing()), sums)
    return found


def add(to: Sums, more: Sequence[int]) -> None:
    """Add sums to others, in place."""
    for number, count in enumerate(more):
        if count:
            to[number] += count


def requests_in(sums: Sequence[int]) -> int:
    """How many requests the sums count."""
    return sum(sums[: len(OUTCOMES)])


def bin_of(milliseconds: float) -> int:
    """The number of a first-token time's bin."""
    return bisect_right(EDGES, milliseconds)


def bins(sums: Sequence[int]) -> list[int]:
    """How many requests each bin counts."""
    return [count for pair in sums[_FIRST_BIN:] for count in (pair & _LOW, pair >> SHIFT)]


def percentile(counts: Sequence[int], part: float) -> float | None:
    """The time in milliseconds that `part` of the requests did not exceed; None: there are none.

    It is the middle of its bin, so that it is at most 12.3 % (a sixth of an octave) beside the exact one of
    any time from 1 ms to 262 s.
    """
    total = sum(counts)
    if not total:
        return None
    rank, seen = part * total, 0
    for number, count in enumerate(counts):
        seen += count
        if count and seen >= rank:
            return _middle(number)
    raise AssertionError("the last bin ends all of them")


def _middle(number: int) -> float:
    half = 2 ** (1 / BINS_AN_OCTAVE / 2)
    if number == 0:
        return EDGES[0] / half
    return EDGES[min(number, len(EDGES)) - 1] * half
