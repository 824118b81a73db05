"""Adds up what the journal holds of a range of time."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import Struct
from sqlalchemy import Connection, func, select

from tidegate.storage.rows import MICROSECONDS
from tidegate.storage.schema import intents, requests
from tidegate.storage.spans import Span
from tidegate.storage.tally import COLUMNS, DIMENSIONS, Combination, Sums, add, nothing, requests_in, tally

GROUPS = 50
"""Groups told one by one."""

Dimension: TypeAlias = Literal["model", "channel", "key", "account", "protocol"]

_COLUMNS = [requests.c[name] for name in COLUMNS]


class Question(Struct, frozen=True, kw_only=True):
    """What to add up: every value that is not None must be equal."""

    span: Span
    group_by: Dimension | None = None
    model: str | None = None
    channel: str | None = None
    key: str | None = None
    account: str | None = None
    protocol: str | None = None


class Group(Struct, frozen=True):
    """The requests of one name; `kind` tells what it means that there is no name."""

    kind: Literal["name", "none", "rest"]
    name: str | None
    sums: Sums


class Overview(Struct, frozen=True, kw_only=True):
    """An answer; `series` has the beginning of each bucket with its sums."""

    totals: Sums
    series: tuple[tuple[int, Sums], ...]
    groups: tuple[Group, ...]
    open_requests: int
    uncounted_rows: int
    """Rows that the sums leave out, because the database was taken over lately; about so many."""


def read_overview(connection: Connection, question: Question) -> Overview:
    """The answer, all of it as of one moment."""
    span = question.span
    query = select(*_COLUMNS).where(
        requests.c.created_at >= span.since * MICROSECONDS, requests.c.created_at < span.until * MICROSECONDS
    )
    found = tally(connection.execute(query), span.bucket)
    parts = [(at, one, sums) for (at, one), sums in found.items() if _passes(one, question)]
    series = {at: nothing() for at in span.starts}
    totals = nothing()
    for at, _, sums in parts:
        add(series[at], sums)
        add(totals, sums)
    return Overview(
        totals=totals,
        series=tuple(series.items()),
        groups=_groups(((one, sums) for _, one, sums in parts), question.group_by),
        open_requests=connection.execute(select(func.count()).select_from(intents)).scalar_one(),
        uncounted_rows=0,
    )


def _passes(combination: Combination, question: Question) -> bool:
    for name, value in zip(DIMENSIONS, combination, strict=True):
        wanted = getattr(question, name, None)
        if wanted is not None and wanted != value:
            return False
    return True


def _groups(parts: Iterable[tuple[Combination, Sums]], dimension: Dimension | None) -> tuple[Group, ...]:
    if dimension is None:
        return ()
    place = DIMENSIONS.index(dimension)
    found: dict[str | None, Sums] = {}
    for combination, sums in parts:
        value = combination[place]
        add(found.setdefault(None if value is None else str(value), nothing()), sums)
    ordered = sorted(found.items(), key=lambda one: (-requests_in(one[1]), one[0] or ""))
    groups = [Group("none" if name is None else "name", name, sums) for name, sums in ordered[:GROUPS]]
    if len(ordered) > GROUPS:
        rest = nothing()
        for _, sums in ordered[GROUPS:]:
            add(rest, sums)
        groups.append(Group("rest", None, rest))
    return tuple(groups)
