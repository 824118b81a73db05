"""How far a follower of the journal has come, and which numbers below may still appear."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

WAITED_SECONDS = 60.0
"""How long a number that was given but not seen is waited for.

PostgreSQL gives a number when a row is inserted and shows it when its transaction is committed, so a lower
number may appear after a higher one. Long before this time the server ends a transaction (10 seconds for each
statement). A number whose transaction was undone never appears.
"""

MOST_WAITED = 5_000
"""Numbers waited for at once, the newest: more than all writers insert in one moment."""


class Place(Struct, frozen=True):
    """The highest number seen, and until when each missing number below it is waited for."""

    number: int
    missing: dict[int, float] = {}


def begin(newest: Sequence[int], now: float) -> Place:
    """The place after the newest numbers of a journal: what is missing among them may be on its way."""
    if not newest:
        return Place(0)
    return Place(max(newest), _gaps(newest, min(newest), now))


def advance(place: Place, seen: Sequence[int], now: float) -> Place:
    """The place after reading `seen` (any order): numbers that were missing, and such beyond the place."""
    found = set(seen)
    waited = {number: until for number, until in place.missing.items() if number not in found and until > now}
    new = [number for number in seen if number > place.number]
    if not new:
        return Place(place.number, waited)
    return Place(max(new), _newest(waited | _gaps(new, place.number + 1, now)))


def _gaps(numbers: Iterable[int], start: int, now: float) -> dict[int, float]:
    """The numbers from `start` on that are not among `numbers`, but below the highest of them."""
    there = set(numbers)
    highest = max(there)
    start = max(start, highest - MOST_WAITED)  # a sequence that was set far ahead must not fill the memory
    return {number: now + WAITED_SECONDS for number in range(start, highest) if number not in there}


def _newest(missing: dict[int, float]) -> dict[int, float]:
    if len(missing) <= MOST_WAITED:
        return missing
    return {number: missing[number] for number in sorted(missing)[-MOST_WAITED:]}
