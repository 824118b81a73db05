"""Finds rows of names that are rare: the buckets tell in which hours there are any."""

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

from sqlalchemy import Connection, Select, literal_column, or_, select, tuple_, union_all

from tidegate.storage.buckets import oldest_bucket
from tidegate.storage.pages import OUTCOMES, Filters, Position
from tidegate.storage.progress import FAR_BEHIND
from tidegate.storage.rows import MICROSECONDS
from tidegate.storage.schema import figure_buckets, figure_combinations, requests
from tidegate.storage.spans import LEVELS, Level, Tile
from tidegate.storage.tally import DIMENSIONS, LONGEST_NAME, NO_SUCH_MODEL
from tidegate.storage.uncounted import known, newest_number, within

_WITHOUT_INDEX = ("model", "channel", "protocol", "stream")
_LEVELS = LEVELS[2:]
"""Hours and longer: few enough to look through, short enough to walk through their rows."""

_TILES_AT_ONCE = 16
_AT_FIRST, _LATER = 8, 200
"""Buckets asked for at once."""


def needs_guide(filters: Filters) -> bool:
    """Whether rows that fit have no index by which they are found."""
    given = [getattr(filters, name) for name in _WITHOUT_INDEX]
    return any(value is not None for value in given) and len(filters.model or "") < LONGEST_NAME


def guided_rows(
    connection: Connection, query: Select[Any], filters: Filters, place: Position | None, wanted: int
) -> list[Any] | None:
    """The first `wanted` rows that fit the filters and come after a place, the newest first.

    `query` has all filters but those of time. None: the buckets cannot tell yet.
    """
    progress = known(connection).progress
    if progress.backlog or newest_number(connection) - progress.reached > FAR_BEHIND:
        return None
    new = select(requests.c.seq).where(requests.c.seq > progress.reached).limit(FAR_BEHIND)
    # Said so that the numbers are looked up, and no index is walked through.
    uncounted = query.where(or_(requests.c.seq.in_(new), *map(within, progress.gaps)))
    found = list(connection.execute(in_time(uncounted, filters, place)))
    if filters.model is not None:
        nameless = newest_first(in_time(_nameless(query), filters, place)).limit(wanted)
        found += connection.execute(nameless).all()
    walked = 0
    for tiles in _batches(_stretches(connection, filters, place)):
        parts = [_part(query, tile, filters, place) for tile in tiles]
        more = connection.execute(newest_first(_together(query, parts)).limit(wanted - walked)).all()
        walked += len(more)
        found += more
        if walked >= wanted:
            break
    rows = {row.id: row for row in found}
    return sorted(rows.values(), key=lambda row: (row.created_at, row.id), reverse=True)[:wanted]


def _nameless(query: Select[Any]) -> Select[Any]:
    """Those of models that did not exist, which the buckets do not name: an index has their status."""
    beside_200 = requests.c.status != literal_column("200")  # what the partial index says, or it is not used
    return query.where(requests.c.status == NO_SUCH_MODEL, beside_200)


def _batches(tiles: Iterator[Tile]) -> Iterator[list[Tile]]:
    """The first by itself, where most names have rows enough; then some with each question."""
    yield from ([tile] for tile in islice(tiles, 1))
    while batch := list(islice(tiles, _TILES_AT_ONCE)):
        yield batch


def _together(query: Select[Any], parts: Sequence[Select[Any]]) -> Select[Any]:
    """Rows of any of the parts; each part walks its own stretch of an index."""
    if len(parts) == 1:
        return parts[0]
    numbers = union_all(*(part.with_only_columns(requests.c.seq) for part in parts))
    return query.where(requests.c.seq.in_(numbers))


def newest_first(query: Select[Any]) -> Select[Any]:
    """In the order of the pages."""
    return query.order_by(requests.c.created_at.desc(), requests.c.id.desc())


def in_time(query: Select[Any], filters: Filters, place: Position | None) -> Select[Any]:
    """Only rows of the range of time, and only those that come after a place."""
    if filters.since is not None:
        query = query.where(requests.c.created_at >= filters.since)
    if filters.until is not None:
        query = query.where(requests.c.created_at < filters.until)
    if place is not None:
        query = query.where(tuple_(requests.c.created_at, requests.c.id) < tuple_(place.created_at, place.id))
    return query


def _part(query: Select[Any], tile: Tile, filters: Filters, place: Position | None) -> Select[Any]:
    """The rows of a tile. One bound at each end, because SQLite may pick the wrong one of two."""
    since = max(tile.since * MICROSECONDS, filters.since or 0)
    until = min(
        tile.until * MICROSECONDS, tile.until * MICROSECONDS if filters.until is None else filters.until
    )
    if place is not None and place.created_at < until:
        return in_time(query, Filters(since=since), place)
    return in_time(query, Filters(since=since, until=until), None)


def _stretches(connection: Connection, filters: Filters, place: Position | None) -> Iterator[Tile]:
    """Where rows are that fit the filters which buckets know, the newest first."""
    ends = [] if place is None else [place.created_at + 1]
    ends += [] if filters.until is None else [filters.until]
    last = min(ends) // MICROSECONDS + 1 if ends else None
    first = 0 if filters.since is None else filters.since // MICROSECONDS
    for level, begin in _kept(connection):
        low = max(begin, first // level.seconds * level.seconds)
        step = _AT_FIRST
        while last is None or last > low:
            starts = _buckets(connection, level, filters, low, last, step)
            yield from _joined(level, starts)
            if len(starts) < step:
                break
            last, step = starts[-1], _LATER
        last = begin if last is None else min(last, begin)


def _kept(connection: Connection) -> Iterator[tuple[Level, int]]:
    """Each level with the time from which on it has all buckets, which begins one of the next level's."""
    for level, coarser in pairwise(_LEVELS):
        oldest = oldest_bucket(connection, level)
        if oldest is not None:
            yield level, -(-oldest // coarser.seconds) * coarser.seconds
    yield _LEVELS[-1], 0


def _buckets(
    connection: Connection, level: Level, filters: Filters, low: int, last: int | None, count: int
) -> Sequence[int]:
    buckets, names = figure_buckets.c, figure_combinations.c
    wanted = [(name, getattr(filters, name)) for name in DIMENSIONS]
    fitting = select(names.number).where(
        *(figure_combinations.c[name] == value for name, value in wanted if value is not None)
    )
    outcomes = OUTCOMES if filters.outcome is None else (filters.outcome,)
    query = (
        select(buckets.at)
        .where(
            buckets.seconds == level.seconds,
            buckets.at >= low,
            buckets.combination.in_(fitting),
            or_(*(figure_buckets.c[outcome] > 0 for outcome in outcomes)),
        )
        .distinct()
        .order_by(buckets.at.desc())
        .limit(count)
    )
    if last is not None:
        query = query.where(buckets.at < last)
    return connection.execute(query).scalars().all()


def _joined(level: Level, starts: Sequence[int]) -> Iterator[Tile]:
    """The stretches that buckets make up, each as long as there is no gap."""
    end: int | None = None
    for place, at in enumerate(starts):
        end = at + level.seconds if end is None else end
        if place + 1 == len(starts) or starts[place + 1] != at - level.seconds:
            yield Tile(level, at, end)
            end = None
