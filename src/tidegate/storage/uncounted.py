"""Reads how far the journal has been added up, and the rows that have not been."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, func, select

from tidegate.storage.database import running_transactions
from tidegate.storage.progress import Gap, Moment, Progress
from tidegate.storage.schema import figure_progress, requests
from tidegate.storage.statements import Statements
from tidegate.storage.tally import COLUMNS, Tally, tally

MOST_READ = 20_000
"""Rows that are added up for one answer. With more of them waiting the newest are left out."""

Row = Sequence[Any]
"""A row of COLUMNS after its number."""

_NAMES = ", ".join(f'"{name}"' for name in ("seq", *COLUMNS))
_to_progress = msgspec.json.Decoder(Progress).decode
_to_json = msgspec.json.Encoder().encode


class Known(Struct, frozen=True):
    """The progress, and the version that the buckets have with it."""

    version: int
    progress: Progress


class Uncounted(Struct, frozen=True):
    """Rows that the buckets do not count yet, as sums, and about how many more there are."""

    sums: Tally
    left_out: int


def known(connection: Connection) -> Known:
    """How far it has come."""
    return read_state(*connection.execute(select(figure_progress.c.version, figure_progress.c.state)).one())


def read_state(version: int, state: str) -> Known:
    """The progress as its row keeps it."""
    return Known(version, _to_progress(state))


def to_state(progress: Progress) -> str:
    """What `read_state` reads."""
    return _to_json(progress).decode()


def moment(connection: Connection, now: float) -> Moment:
    """What is true of the database in the snapshot of this transaction."""
    running = running_transactions(connection)
    return Moment(now) if running is None else Moment(now, *running)


def newest_number(connection: Connection) -> int:
    """The highest number of a row; 0: there is none."""
    return connection.execute(select(func.max(requests.c.seq))).scalar() or 0


def late_rows(connection: Connection, gaps: Sequence[Gap]) -> list[Row]:
    """The rows that numbers in these gaps have, in the order of the numbers."""
    if not gaps:
        return []
    ends = [end for gap in gaps for end in (gap.first, gap.last)]
    where = " OR ".join(["seq BETWEEN {mark} AND {mark}"] * len(gaps))
    return _rows(connection, where, "seq", ends, MOST_READ)


def new_rows(connection: Connection, beyond: int, limit: int) -> list[Row]:
    """The rows of the lowest numbers beyond one, at most `limit`."""
    return _rows(connection, "seq > {mark}", "seq", [beyond], limit)


def backlog_rows(connection: Connection, gap: Gap, limit: int) -> list[Row]:
    """The rows of the highest numbers in a gap, at most `limit`."""
    return _rows(connection, "seq BETWEEN {mark} AND {mark}", "seq DESC", [gap.first, gap.last], limit)


def _rows(connection: Connection, where: str, order: str, values: Sequence[int], limit: int) -> list[Row]:
    """Not through SQLAlchemy, which takes as long for a row as adding it up."""
    connection.execute(select(1))  # begins the transaction, if none has begun
    statements = Statements(connection)
    text = f"SELECT {_NAMES} FROM requests WHERE {where} ORDER BY {order} LIMIT {{mark}}"  # noqa: S608 (our own)
    return [*statements.rows(text.format(mark=statements.wording.mark), [*values, limit])]


def uncounted(connection: Connection, seconds: int) -> Uncounted:
    """What the buckets of the same snapshot lack, in buckets of so many seconds."""
    progress = known(connection).progress
    late = late_rows(connection, progress.gaps)
    new = new_rows(connection, progress.reached, MOST_READ)
    more = newest_number(connection) - new[-1][0] if len(new) == MOST_READ else 0
    if progress.backlog:
        first = connection.execute(select(func.min(requests.c.seq))).scalar() or 0
        more += sum(max(0, gap.last - max(gap.first, first) + 1) for gap in progress.backlog)
    return Uncounted(tally((row[1:] for row in (*late, *new)), seconds), more)


def within(gap: Gap) -> ColumnElement[bool]:
    """Whether a row's number is in a gap."""
    return requests.c.seq.between(gap.first, gap.last)
