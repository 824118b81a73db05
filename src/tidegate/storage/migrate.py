"""Brings a database to the tables of this version when the program starts."""

from pathlib import Path

from sqlalchemy import Connection, inspect
from sqlalchemy.exc import SQLAlchemyError

from tidegate.storage.database import Database, DatabaseUnusable, patiently, reason
from tidegate.storage.schema import HEAD

_MIGRATIONS = Path(__file__).parent / "migrations"


def bring_up_to_date(database: Database) -> None:
    """Make or upgrade the tables. Several processes may do so at once: the write lock lets one do the work.

    A database that cannot be opened, or that a newer version has changed, raises DatabaseUnusable.
    """
    database.prepare()
    try:
        patiently(lambda: _upgrade(database))
    except SQLAlchemyError as error:
        raise DatabaseUnusable(f"{database.path}: cannot be brought up to date: {reason(error)}") from error


def _upgrade(database: Database) -> None:
    with database.engine.connect() as connection:
        if revision(connection) == HEAD:
            return
    # Read again under the lock: another process may have done it in between.
    with database.connect_writer() as connection, connection.begin():
        found = revision(connection)
        if found != HEAD:
            _run_migrations(database, connection, found)


def revision(connection: Connection) -> str | None:
    """The newest migration that the database has had; None for a new file."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return found


def _run_migrations(database: Database, connection: Connection, found: str | None) -> None:
    from alembic import command  # late: slow to load, and hardly ever needed
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise DatabaseUnusable(
            f"{database.path}: was changed by a newer version of Tidegate (its tables are at {found},"
            f" this version knows {HEAD}); install that version again or restore an older backup"
        )
    command.upgrade(config, "head")
