"""Adds finished requests to the buckets, some at a time, each exactly once."""

from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy import Connection

from tidegate.storage.buckets import add_to_buckets, forget_combinations
from tidegate.storage.progress import Progress, acceptable, advance, put_off, shorten
from tidegate.storage.spans import LEVELS
from tidegate.storage.statements import Statements
from tidegate.storage.tally import Tally, difference, tally
from tidegate.storage.uncounted import (
    Known,
    Row,
    backlog_rows,
    known,
    late_rows,
    moment,
    new_rows,
    newest_number,
    read_state,
    to_state,
)

STEP = 2_000
"""Rows added up at once: some 8 ms of SQLite's write lock, and 9 µs for each row in all."""

_FINEST = LEVELS[0].seconds


class Counted(Struct, frozen=True):
    """Some rows added up in memory: what they come to, and the progress once it is written."""

    version: int
    before: Progress
    after: Progress
    sums: Tally
    rows: int


def count_new(connection: Connection, now: float, limit: int = STEP) -> Counted:
    """Add up the oldest rows that came since the last time. Reads only; all in one snapshot."""
    found = known(connection)
    at = moment(connection, now)
    progress = put_off(found.progress, newest_number(connection), at)
    late = late_rows(connection, progress.gaps)
    new = new_rows(connection, progress.reached, limit)
    numbers = [row[0] for row in new]
    count = acceptable(progress, numbers, at)
    after = advance(progress, [row[0] for row in late], numbers[:count], at)
    rows = [*late, *new[:count]]
    return Counted(found.version, found.progress, after, _sums(rows), len(rows))


def count_backlog(connection: Connection, now: float, limit: int = STEP) -> Counted | None:
    """Add up the newest rows of the backlog. None: there is none, or it is to be waited for."""
    found = known(connection)
    progress = found.progress
    if not progress.backlog or not progress.backlog[-1].is_over(moment(connection, now)):
        return None
    rows = backlog_rows(connection, progress.backlog[-1], limit)
    after = shorten(progress, [row[0] for row in rows], more=len(rows) == limit)
    return Counted(found.version, progress, after, _sums(rows), len(rows))


def write_counted(connection: Connection, counted: Counted, now: float) -> bool:
    """Write what was added up, in the transaction of the caller. False: somebody else was faster."""
    statements = Statements(connection)
    if _lock(statements).version != counted.version:
        return False
    if counted.sums:
        add_to_buckets(statements, counted.sums, now)
    _save(statements, counted.after)
    return True


def correct(statements: Statements, number: int, old: Row, new: Row, now: float) -> None:
    """The row of this number has been replaced in this transaction: put right what the buckets count of it.

    `old` and `new` are in the columns of a tally.
    """
    progress = _lock(statements).progress
    if progress.is_counted(number):
        add_to_buckets(statements, difference(tally([new], _FINEST), tally([old], _FINEST)), now)
    # Whoever has read the old row in the meantime must not write what it made of it.
    _save(statements, progress)


def forget_unused(connection: Connection, numbers: Sequence[int], version: int) -> None:
    """Delete combinations that no bucket had when the buckets had this version, if they have it still."""
    statements = Statements(connection)
    found = _lock(statements)
    if found.version == version:
        forget_combinations(connection, numbers)
        _save(statements, found.progress)


def _lock(statements: Statements) -> Known:
    """The progress, which nobody else can change until the transaction ends."""
    text = f"SELECT version, state FROM figure_progress{statements.wording.lock}"  # noqa: S608 (our own text)
    [(version, state)] = statements.rows(text, ())
    return read_state(version, state)


def _save(statements: Statements, progress: Progress) -> None:
    mark = statements.wording.mark
    text = f"UPDATE figure_progress SET version = version + 1, state = {mark}"  # noqa: S608 (our own text)
    statements.run(text, (to_state(progress),))


def _sums(rows: Sequence[Row]) -> Tally:
    return tally((row[1:] for row in rows), _FINEST)
