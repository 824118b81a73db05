"""How far the rows of the journal have been added up, and which numbers below may still get a row."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

WAITED_SECONDS = 60.0
"""How long a number without a row is waited for at least; see `Moment`."""

MOST_GAPS = 200
"""Gaps waited for at once. With more of them nothing further is counted until the first are over."""

FAR_BEHIND = 20_000
"""Numbers. With more than these to count the newest come first, and the rest waits as a backlog."""


class Moment(Struct, frozen=True):
    """What was true of the database when rows were read; `now` is in Unix seconds.

    PostgreSQL gives a number when a row is inserted and shows it when its transaction is committed, so a
    lower number may appear after a higher one. It does not appear any more once every transaction is over
    that ran when the gap was found: all below `upcoming` then, all below `oldest` now. A transaction gets its
    number a moment after its first row's, so the gap is also waited for by the clock. `upcoming` None:
    numbers appear in order.
    """

    now: float
    oldest: int = 0
    upcoming: int | None = None


class Gap(Struct, frozen=True):
    """Numbers from `first` to `last`, to be looked at until a time and until all transactions before one."""

    first: int
    last: int
    until: float = 0.0
    before: int = 0

    def is_over(self, moment: Moment) -> bool:
        """Whether whatever has no row by now never gets one."""
        return moment.now >= self.until and moment.oldest >= self.before


class Progress(Struct, frozen=True):
    """Every row is counted up to the number `reached`, but for those in gaps and in the backlog."""

    reached: int = 0
    gaps: tuple[Gap, ...] = ()
    backlog: tuple[Gap, ...] = ()

    def is_counted(self, number: int) -> bool:
        """Whether the row of this number is in the sums."""
        if number > self.reached:
            return False
        return not any(gap.first <= number <= gap.last for gap in (*self.gaps, *self.backlog))


def advance(progress: Progress, late: Sequence[int], new: Sequence[int], moment: Moment) -> Progress:
    """The progress once more rows are counted.

    `late` are all numbers that rows have now in gaps, `new` the lowest beyond what was reached, all in order.
    No more of `new` may be counted than `acceptable` gives.
    """
    waited: list[Gap] = []
    for gap in progress.gaps:
        if not gap.is_over(moment):
            waited += _without(gap, late)
    if not new:
        return replace(progress, gaps=tuple(waited))
    if moment.upcoming is not None:
        until, before = moment.now + WAITED_SECONDS, moment.upcoming
        waited += [Gap(first, last, until, before) for first, last in _between(progress.reached, new)]
    return replace(progress, reached=new[-1], gaps=tuple(waited))


def acceptable(progress: Progress, new: Sequence[int], moment: Moment) -> int:
    """How many of the numbers `new` can be counted before there are too many gaps."""
    if moment.upcoming is None:
        return len(new)
    room, reached = MOST_GAPS - len(progress.gaps), progress.reached
    for place, number in enumerate(new):
        room -= number > reached + 1
        if room < 0:
            return place
        reached = number
    return len(new)


def put_off(progress: Progress, newest: int, moment: Moment) -> Progress:
    """Where far too much is to be counted: all but the newest becomes a backlog."""
    if newest - progress.reached <= FAR_BEHIND:
        return progress
    last = newest - FAR_BEHIND // 4
    wait = 0.0 if moment.upcoming is None else WAITED_SECONDS
    more = Gap(progress.reached + 1, last, moment.now + wait, moment.upcoming or 0)
    return replace(progress, reached=last, backlog=(*progress.backlog, more))


def shorten(progress: Progress, counted: Sequence[int], *, more: bool) -> Progress:
    """The progress once the highest rows of the last backlog are counted; `more`: it may have others."""
    *others, last = progress.backlog
    rest = [replace(last, last=min(counted) - 1)] if more else []
    return replace(progress, backlog=(*others, *(gap for gap in rest if gap.first <= gap.last)))


def _without(gap: Gap, found: Sequence[int]) -> list[Gap]:
    """What is left of a gap when these numbers have rows."""
    rest, first = [], gap.first
    for number in found:
        if gap.first <= number <= gap.last:
            rest.append(replace(gap, first=first, last=number - 1))
            first = number + 1
    rest.append(replace(gap, first=first))
    return [part for part in rest if part.first <= part.last]


def _between(reached: int, numbers: Sequence[int]) -> list[tuple[int, int]]:
    """The ranges that lie between numbers that rise from `reached` on."""
    found = []
    for number in numbers:
        if number > reached + 1:
            found.append((reached + 1, number - 1))
        reached = number
    return found
