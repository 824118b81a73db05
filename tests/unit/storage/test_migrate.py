import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import tidegate.storage
from tidegate.storage.database import Database, DatabaseUnusable
from tidegate.storage.migrate import bring_up_to_date, revision
from tidegate.storage.schema import HEAD, metadata


def test_the_newest_migration_is_the_one_that_the_code_knows() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(tidegate.storage.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


def test_the_migrations_make_the_tables_of_the_schema(database: Database) -> None:
    with database.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        assert revision(connection) == HEAD


def test_what_alembic_does_not_compare_is_equal_too(database: Database, tmp_path: Path) -> None:
    other = Database(f"sqlite:///{tmp_path}/other.db")
    with other.connect_writer() as connection, connection.begin():
        metadata.create_all(connection)
    assert definitions(database) == definitions(other)


def definitions(database: Database) -> set[str]:
    query = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'alembic%'"
    with database.engine.connect() as connection:
        return {" ".join(row[0].split()) for row in connection.exec_driver_sql(query)}


def test_a_second_start_changes_nothing(database: Database) -> None:
    before = definitions(database)
    bring_up_to_date(database)
    assert definitions(database) == before


def test_a_newer_database_is_a_clear_error(database: Database) -> None:
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(DatabaseUnusable, match="newer version of Tidegate"):
        bring_up_to_date(database)


def test_many_processes_may_start_at_once(url: str) -> None:
    program = (
        "import sys\n"
        "from tidegate.storage.database import Database\n"
        "from tidegate.storage.migrate import bring_up_to_date\n"
        "sys.stdin.readline()\n"
        "bring_up_to_date(Database(sys.argv[1]))\n"
    )
    starting = [
        subprocess.Popen(
            [sys.executable, "-c", program, url], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for process in starting:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in starting:
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")
    with Database(url).engine.connect() as connection:
        assert revision(connection) == HEAD
