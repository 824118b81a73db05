import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

import tidegate.storage
from tidegate.storage.database import Database, DatabaseUnusable
from tidegate.storage.journal_file import JournalFile
from tidegate.storage.journal_query import select_one
from tidegate.storage.migrate import bring_up_to_date, known_revisions, revision, upgrade
from tidegate.storage.schema import HEAD, metadata


def test_the_newest_migration_is_the_one_that_the_code_knows() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(tidegate.storage.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


@pytest.fixture
def made(empty_url: str) -> Iterator[Database]:
    """A database whose tables the migrations made here."""
    database = Database(empty_url)
    bring_up_to_date(database)
    yield database
    database.close()


def test_the_migrations_make_the_tables_of_the_schema(made: Database) -> None:
    with made.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        assert revision(connection) == HEAD


def test_what_alembic_does_not_compare_is_equal_too(made: Database) -> None:
    found = definitions(made)
    with made.connect_writer() as connection, connection.begin():
        metadata.drop_all(connection)
        metadata.create_all(connection)
    assert found == definitions(made)


def definitions(database: Database) -> set[str]:
    query = _DEFINITIONS[database.engine.dialect.name]
    with database.engine.connect() as connection:
        found = connection.execute(text(query)).scalars().all()
        # A column that was added later is set apart by other spaces.
        return {re.sub(r"\s*([(),])\s*", r"\1", " ".join(words.split())) for words in found}


_DEFINITIONS = {
    "sqlite": "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'alembic%'",
    "postgresql": """
        SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default)
        FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE 'alembic%'
        UNION ALL SELECT indexdef FROM pg_indexes
        WHERE schemaname = 'public' AND tablename NOT LIKE 'alembic%'
        UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid))
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace
        UNION ALL SELECT sequencename || data_type || cycle || cache_size FROM pg_sequences
    """,
}


def test_a_second_start_changes_nothing(made: Database) -> None:
    before = definitions(made)
    bring_up_to_date(made)
    assert definitions(made) == before


def test_a_newer_database_is_a_clear_error(database: Database) -> None:
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(DatabaseUnusable, match="newer version of Tidegate"):
        bring_up_to_date(database)


def test_many_processes_may_start_at_once(empty_url: str) -> None:
    program = (
        "import sys\n"
        "from tidegate.storage.database import Database\n"
        "from tidegate.storage.migrate import bring_up_to_date\n"
        "sys.stdin.readline()\n"
        "bring_up_to_date(Database(sys.argv[1]))\n"
    )
    starting = [
        subprocess.Popen(
            [sys.executable, "-c", program, empty_url],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
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
    with Database(empty_url).engine.connect() as connection:
        assert revision(connection) == HEAD


OLD_ROW = {
    **{"id": "req_old", "created_at": 1_700_000_000_123_000, "key": "laptop", "account": "acme"},
    **{"protocol": "chat", "stream": True, "model": "sonnet", "channel": "main", "status": 200},
    **{"outcome": "completed", "finish_reason": "stop", "first_token_ms": 1.5, "duration_ms": 20.25},
    **{"input_tokens": 18, "cache_read_tokens": 1, "cache_write_tokens": 2, "output_tokens": 12},
    **{"usage_source": "upstream", "warnings": '["dropped:top_k"]'},
    "attempts": '[{"channel":"main","upstream_model":"up","status":200,"outcome":"served","error":null,'
    '"started_at":1700000000.25,"duration_ms":20.0}]',
}
"""A row as the first version wrote it."""


def earlier() -> list[str]:
    return [known for known in known_revisions() if known != HEAD]


@pytest.mark.parametrize("start", earlier())
def test_an_earlier_database_is_upgraded_with_its_rows(empty_url: str, start: str) -> None:
    database = Database(empty_url)
    database.prepare()
    with database.connect_writer() as connection, connection.begin():
        upgrade(connection, start)
        names, marks = ",".join(OLD_ROW), ",".join(f":{name}" for name in OLD_ROW)
        connection.execute(text(f"INSERT INTO requests ({names}) VALUES ({marks})"), OLD_ROW)
        owned = "INSERT INTO owned_ids (id, account, channel_group, expires_at) VALUES ('a', 'b', 'c', 9)"
        connection.exec_driver_sql(owned)
    with pytest.raises(DatabaseUnusable, match=f"its tables are at {start}"):
        JournalFile(empty_url)
    bring_up_to_date(database)
    with database.engine.connect() as connection:
        assert revision(connection) == HEAD
        kept = select_one(connection, "req_old")
        assert connection.exec_driver_sql("SELECT channel_group FROM owned_ids").scalar() == "c"
    database.close()
    assert kept is not None
    assert (kept.created_at, kept.stream, kept.first_token_ms) == (1_700_000_000.123, True, 1.5)
    assert (kept.warnings, kept.output_tokens, kept.cost) == (("dropped:top_k",), 12, 0)
    assert (kept.skipped, kept.user_agent, kept.trace_id) == ((), None, None)
    [attempt] = kept.attempts
    assert (attempt.outcome, attempt.reason, attempt.connected_ms, attempt.upstream_cost) == (
        "served",
        None,
        None,
        None,
    )


def test_a_migration_that_fails_leaves_nothing_behind(
    empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(connection: Connection, _revision: str) -> None:
        upgrade(connection, "0001")
        connection.exec_driver_sql("CREATE TABLE requests (id text)")  # is there already

    monkeypatch.setattr("tidegate.storage.migrate.upgrade", half)
    database = Database(empty_url)
    with pytest.raises(DatabaseUnusable, match="already exists"):
        bring_up_to_date(database)
    with database.engine.connect() as connection:
        assert inspect(connection).get_table_names() == []
    database.close()


def test_every_migration_can_be_taken_back(made: Database) -> None:
    with made.connect_writer() as connection, connection.begin():
        config = Config()
        config.set_main_option("script_location", str(Path(tidegate.storage.__file__).parent / "migrations"))
        config.attributes["connection"] = connection
        command.downgrade(config, "0001")
        assert revision(connection) == "0001"
    bring_up_to_date(made)
    with made.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
