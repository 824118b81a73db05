"""Adds up what the journal holds of a range of time."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast, get_args

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Integer, Select, func, literal, select

from tidegate.storage.schema import figure_buckets, figure_combinations, intents
from tidegate.storage.spans import Span, Tile, tiles
from tidegate.storage.sums import SUMS
from tidegate.storage.tally import DIMENSIONS, Combination, Sums, add, nothing, requests_in
from tidegate.storage.uncounted import uncounted

GROUPS = 50
"""Groups told one by one."""

Dimension: TypeAlias = Literal["model", "channel", "key", "account", "protocol"]

_BUCKETS = figure_buckets.c
_SUMS = [func.sum(_BUCKETS[name]) for name in SUMS]


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
    """The answer, all of it as of one moment: what the buckets count, and the rows that they do not."""
    span = question.span
    recent = uncounted(connection, span.bucket)
    new = [
        (at, combination, sums)
        for (at, combination), sums in recent.sums.items()
        if span.since <= at < span.until and _passes(combination, question)
    ]
    series = {at: nothing() for at in span.starts}
    for at, *sums in connection.execute(_series(question)):
        add(series[at], list(map(int, sums)))
    totals = nothing()
    for at, _, sums in new:
        add(series[at], sums)
    for sums in series.values():
        add(totals, sums)
    return Overview(
        totals=totals,
        series=tuple(series.items()),
        groups=_groups(connection, question, [(combination, sums) for _, combination, sums in new]),
        open_requests=connection.execute(select(func.count()).select_from(intents)).scalar_one(),
        uncounted_rows=recent.left_out,
    )


def _within(question: Question, tile: Tile) -> ColumnElement[bool]:
    """The buckets of the tile that are asked for."""
    place = (
        (_BUCKETS.seconds == tile.level.seconds) & (_BUCKETS.at >= tile.since) & (_BUCKETS.at < tile.until)
    )
    wanted = [(name, getattr(question, name)) for name in get_args(Dimension)]
    fitting = [figure_combinations.c[name] == value for name, value in wanted if value is not None]
    if not fitting:
        return place
    return place & _BUCKETS.combination.in_(select(figure_combinations.c.number).where(*fitting))


def _series(question: Question) -> Select[*tuple[Any, ...]]:
    span, at = question.span, cast("ColumnElement[int]", _BUCKETS.at)
    if span.bucket != span.level.seconds:
        at = at - at % literal(span.bucket, Integer)
    whole = Tile(span.level, span.since, span.until)
    return select(at, *_SUMS).where(_within(question, whole)).group_by(at)


def _passes(combination: Combination, question: Question) -> bool:
    for name, value in zip(DIMENSIONS, combination, strict=True):
        wanted = getattr(question, name, None)
        if wanted is not None and wanted != value:
            return False
    return True


def _groups(
    connection: Connection, question: Question, new: Sequence[tuple[Combination, Sums]]
) -> tuple[Group, ...]:
    dimension = question.group_by
    if dimension is None:
        return ()
    name = figure_combinations.c[dimension]
    joined = figure_buckets.join(figure_combinations, _BUCKETS.combination == figure_combinations.c.number)
    found: dict[str | None, Sums] = {}
    for tile in tiles(question.span):
        query = select(name, *_SUMS).select_from(joined).where(_within(question, tile)).group_by(name)
        for value, *sums in connection.execute(query):
            add(found.setdefault(value, nothing()), list(map(int, sums)))
    place = DIMENSIONS.index(dimension)
    for combination, more in new:
        value = combination[place]
        add(found.setdefault(None if value is None else str(value), nothing()), more)
    return _ordered(found)


def _ordered(found: Mapping[str | None, Sums]) -> tuple[Group, ...]:
    """The largest, and what all others come to."""
    ordered = sorted(found.items(), key=lambda one: (-requests_in(one[1]), one[0] or ""))
    groups = [Group("none" if name is None else "name", name, sums) for name, sums in ordered[:GROUPS]]
    if len(ordered) > GROUPS:
        rest = nothing()
        for _, sums in ordered[GROUPS:]:
            add(rest, sums)
        groups.append(Group("rest", None, rest))
    return tuple(groups)
