"""Brings a database to the tables of this version when the program starts."""

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect
from sqlalchemy.exc import SQLAlchemyError

from tidegate.storage.database import Database, DatabaseUnusable, patiently
from tidegate.storage.schema import HEAD

if TYPE_CHECKING:
    from alembic.config import Config

_MIGRATIONS = Path(__file__).parent / "migrations"


def bring_up_to_date(database: Database) -> None:
    """Make or upgrade the tables. Several processes may do so at once: a lock lets one do the work.

    A database that cannot be opened, or that a newer version has changed, raises DatabaseUnusable.
    """
    database.prepare()
    try:
        patiently(lambda: _upgrade(database))
    except SQLAlchemyError as error:
        raise database.unusable("cannot be brought up to date", error) from error


def _upgrade(database: Database) -> None:
    with database.engine.connect() as connection:
        if revision(connection) == HEAD:
            return
    # Read again under the lock: another process may have done it in between.
    with database.connect_writer() as connection, connection.begin():
        database.lock_tables(connection)
        found = revision(connection)
        if found != HEAD:
            _run_migrations(database, connection, found)


def revision(connection: Connection) -> str | None:
    """The newest migration that the database has had; None for a new file."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return found


def demand_current(database: Database, missing: str) -> None:
    """Raise DatabaseUnusable unless the tables are of this version; `missing`: what to say without any."""
    try:
        found = found_revision(database)
    except SQLAlchemyError as error:
        raise database.unusable("cannot be read", error) from error
    if found is None:
        raise DatabaseUnusable(f"{database.place}: {missing}")
    if found != HEAD:
        raise DatabaseUnusable(
            f"{database.place}: its tables are at {found}, this version reads {HEAD};"
            " start the gateway once to upgrade them, or use the version that wrote them"
        )


def found_revision(database: Database) -> str | None:
    """As `revision`; None too where there is no database. Raises SQLAlchemyError."""
    if not database.exists():
        return None
    with database.connect_reader() as connection:
        return revision(connection)


def _run_migrations(database: Database, connection: Connection, found: str | None) -> None:
    if found is not None and found not in known_revisions():
        raise DatabaseUnusable(
            f"{database.place}: was changed by a newer version of Tidegate (its tables are at {found},"
            f" this version knows {HEAD}); install that version again or restore an older backup"
        )
    upgrade(connection, HEAD)


def known_revisions() -> list[str]:
    """All migrations of this version, the oldest first."""
    from alembic.script import ScriptDirectory  # late: slow to load, and hardly ever needed

    scripts = ScriptDirectory.from_config(_config()).walk_revisions()
    return [script.revision for script in reversed(list(scripts))]


def upgrade(connection: Connection, revision: str) -> None:
    """Run the migrations up to `revision` in the transaction of `connection`."""
    from alembic import command  # late: slow to load, and hardly ever needed

    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _config() -> "Config":
    from alembic.config import Config  # late: slow to load, and hardly ever needed

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    return config
