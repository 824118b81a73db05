"""Keeps which channels the operator has paused or lets drain."""

import time
from collections.abc import Callable

from msgspec import Struct
from sqlalchemy import Connection, delete, insert, select, update

from tidegate.routing.catalog import Duty
from tidegate.storage.catalog_version import next_version
from tidegate.storage.schema import channel_duties

_MICROSECONDS = 1_000_000


class StoredDuty(Struct, frozen=True, kw_only=True):
    """What is wanted of a channel, since when (Unix seconds), and by whom."""

    duty: Duty
    changed_at: float
    changed_by: str


def read_duties(connection: Connection) -> dict[str, StoredDuty]:
    """What is kept, by the channel's name; a channel that is not there is active."""
    return {
        row.name: StoredDuty(
            duty=Duty(row.duty), changed_at=row.changed_at / _MICROSECONDS, changed_by=row.changed_by
        )
        for row in connection.execute(select(channel_duties))
    }


def set_duty(
    name: str, duty: Duty, by: str, *, clock: Callable[[], float] = time.time
) -> Callable[[Connection], Duty]:
    """Keep what is wanted of a channel, and tell what was wanted before.

    If that is so already, who wanted it first stays.
    """

    def task(connection: Connection) -> Duty:
        table = channel_duties
        next_version(connection)
        kept = connection.execute(select(table.c.duty).where(table.c.name == name)).scalar()
        if kept == duty.value:
            return duty
        row = {"duty": duty.value, "changed_at": int(clock() * _MICROSECONDS), "changed_by": by}
        if kept is None:
            connection.execute(insert(table).values(name=name, **row))
        else:
            connection.execute(update(table).where(table.c.name == name).values(row))
        return Duty.ACTIVE if kept is None else Duty(kept)

    return task


def forget_duty(connection: Connection, name: str) -> None:
    """A channel that is deleted, or made anew, has none."""
    connection.execute(delete(channel_duties).where(channel_duties.c.name == name))
