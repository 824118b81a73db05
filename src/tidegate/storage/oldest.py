"""Deletes what is older than a time, the oldest first."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Column, Connection, Select, delete, select


def oldest(key: Column[Any], time: Column[Any], before: int, limit: int) -> Select[Any]:
    """The keys of the oldest rows from before `before` (in the unit of `time`), at most `limit`, locked."""
    return (
        select(key)
        .where(time < before)
        .order_by(time)
        .limit(limit)
        .with_for_update(skip_locked=True)  # on PostgreSQL: what another node deletes now is not waited for
    )


def delete_oldest(
    key: Column[Any], time: Column[Any], before: int, limit: int
) -> Callable[[Connection], int]:
    """Deletes the rows of `oldest`, and tells how many there were."""
    statement = delete(key.table).where(key.in_(oldest(key, time, before, limit)))
    return lambda connection: connection.execute(statement).rowcount
