"""The number that every change of the stored catalog raises, so that all processes see that there is one."""

from sqlalchemy import Connection, select, update

from tidegate.storage.schema import catalog_version


def read_version(connection: Connection) -> int:
    """The number as it is now."""
    found: int = connection.execute(select(catalog_version.c.version)).scalar_one()
    return found


def next_version(connection: Connection) -> int:
    """Raise it. Comes first in every change: its lock lets changes happen one after the other."""
    connection.execute(update(catalog_version).values(version=catalog_version.c.version + 1))
    return read_version(connection)
