"""Writes sums of requests into buckets of several lengths, and forgets the old ones."""

import hashlib
from collections.abc import Iterable, Sequence

import msgspec
from sqlalchemy import Connection, delete, func, select

from tidegate.storage.schema import figure_buckets, figure_combinations
from tidegate.storage.spans import LEVELS, Level
from tidegate.storage.statements import Statements, among
from tidegate.storage.sums import SUMS
from tidegate.storage.tally import DIMENSIONS, Combination, Tally, coarser

_PLACE = ("seconds", "at", "combination")
_COLUMNS = (*_PLACE, *SUMS)
_ADD = f"ON CONFLICT ({', '.join(_PLACE)}) DO UPDATE SET " + ", ".join(
    f"{name} = figure_buckets.{name} + excluded.{name}" for name in SUMS
)
_NAMES = ("digest", *DIMENSIONS)
_A_STATEMENT = 16
_DIGESTS_AT_ONCE = 500

_to_json = msgspec.json.Encoder().encode


def add_to_buckets(statements: Statements, fine: Tally, now: float) -> None:
    """Add sums by the finest level's buckets to the buckets of all levels that keep them at `now`."""
    numbers = _numbers(statements, {combination for _, combination in fine})
    lines: list[tuple[int, ...]] = []
    level_sums = fine
    for level in LEVELS:
        level_sums = coarser(level_sums, level.seconds)
        lines += [
            (level.seconds, at, numbers[combination], *sums)
            for (at, combination), sums in level_sums.items()
            if at >= level.oldest(now)
        ]
    # In one order, and so near each other in the table.
    lines.sort()
    statements.insert("figure_buckets", _COLUMNS, lines, _ADD, _A_STATEMENT)


def _numbers(statements: Statements, combinations: Iterable[Combination]) -> dict[Combination, int]:
    """The number of each combination; new ones get theirs."""
    digests = {_digest(one): one for one in combinations}
    found = _known(statements, list(digests))
    new = [digest for digest in digests if digest not in found]
    if new:
        lines = [(digest, *digests[digest]) for digest in new]
        statements.insert("figure_combinations", _NAMES, lines, "ON CONFLICT DO NOTHING")
        found |= _known(statements, new)
    return {digests[digest]: number for digest, number in found.items()}


def _known(statements: Statements, digests: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for start in range(0, len(digests), _DIGESTS_AT_ONCE):
        part = digests[start : start + _DIGESTS_AT_ONCE]
        text = "SELECT digest, number FROM figure_combinations WHERE digest IN"
        found |= dict(statements.rows(among(statements.wording, text, len(part), ""), part))
    return found


def _digest(combination: Combination) -> str:
    return hashlib.blake2b(_to_json(combination), digest_size=16).hexdigest()


def oldest_bucket(connection: Connection, level: Level) -> int | None:
    """When the oldest bucket of a level begins."""
    query = select(func.min(figure_buckets.c.at)).where(figure_buckets.c.seconds == level.seconds)
    found: int | None = connection.execute(query).scalar()
    return found


def forget_buckets(connection: Connection, level: Level, before: int) -> None:
    """Delete the buckets of a level that began before a time."""
    connection.execute(
        delete(figure_buckets).where(figure_buckets.c.seconds == level.seconds, figure_buckets.c.at < before)
    )


def unused_combinations(connection: Connection) -> list[int]:
    """Combinations that no bucket has any more."""
    used = select(figure_buckets.c.combination).distinct()
    query = select(figure_combinations.c.number).where(figure_combinations.c.number.not_in(used))
    return list(connection.execute(query).scalars())


def forget_combinations(connection: Connection, numbers: Sequence[int]) -> None:
    """Delete combinations."""
    connection.execute(delete(figure_combinations).where(figure_combinations.c.number.in_(numbers)))
