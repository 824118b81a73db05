from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from tidegate.core.failure import TidegateError
from tidegate.storage.catalog import Definition, Kind, NameTaken, create
from tidegate.storage.catalog_access import CatalogFile, CatalogStore
from tidegate.storage.database import Database, DatabaseUnusable
from tidegate.storage.writer import Writer

MODEL = create(Kind.MODELS, "haiku", Definition(text="{}"))


@pytest.fixture
def database(impatient: Database) -> Database:
    """Some tests wait for a lock in vain."""
    return impatient


@pytest.fixture
def store(database: Database, writer: Writer) -> CatalogStore:
    return CatalogStore(database, writer, ThreadPoolExecutor(1))


async def test_a_gateway_reads_what_it_changes(store: CatalogStore) -> None:
    await store.change(MODEL)
    assert await store.version() == 1
    assert list((await store.all()).rows[Kind.MODELS]) == ["haiku"]


async def test_a_refusal_comes_out(store: CatalogStore) -> None:
    await store.change(MODEL)
    with pytest.raises(NameTaken):
        await store.change(MODEL)
    await store.change(create(Kind.MODELS, "opus", Definition(text="{}")))


async def test_a_locked_database_is_told(store: CatalogStore, url: str, kind: str) -> None:
    other = Database(url)
    with other.connect_writer() as connection, connection.begin():
        if kind == "postgresql":  # SQLite's writer keeps all others out already
            connection.exec_driver_sql("LOCK TABLE catalog_version IN EXCLUSIVE MODE")
        with pytest.raises(TidegateError, match="cannot be written"):
            await store.change(MODEL)
        assert await store.version() == 0
    other.close()
    await store.change(MODEL)


async def test_version_and_rows_are_of_one_moment(store: CatalogStore, database: Database) -> None:
    """A change that is committed between the two reads is in neither or in both."""

    pending = [MODEL]

    def change_meanwhile(_connection: Connection, _cursor: object, statement: str, *_: object) -> None:
        if pending and statement.startswith("SELECT catalog_version"):
            task = pending.pop()
            with database.connect_writer() as other, other.begin():
                task(other)

    event.listen(database.engine, "after_cursor_execute", change_meanwhile)
    found = await store.all()
    assert (found.version, list(found.rows[Kind.MODELS]), pending) == (0, [], [])
    found = await store.all()
    assert (found.version, list(found.rows[Kind.MODELS])) == (1, ["haiku"])


async def test_a_database_without_tables_is_told(store: CatalogStore, database: Database) -> None:
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql("DROP TABLE catalog_version")
    with pytest.raises(TidegateError, match="cannot be read"):
        await store.version()
    with pytest.raises(TidegateError, match="cannot be written"):
        await store.change(MODEL)


async def test_a_command_makes_the_database_where_there_is_none(empty_url: str) -> None:
    file = CatalogFile(empty_url)
    await file.change(MODEL)
    file.close()
    again = CatalogFile(empty_url)
    assert (await again.version(), list((await again.all()).rows[Kind.MODELS])) == (1, ["haiku"])
    again.close()


async def test_a_command_leaves_another_versions_tables_alone(database: Database, url: str) -> None:
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    with pytest.raises(DatabaseUnusable, match="start the gateway once"):
        CatalogFile(url)


async def test_a_command_tells_of_what_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "tidegate.db").write_bytes(b"no database" * 100)
    with pytest.raises(DatabaseUnusable, match="cannot be read"):
        CatalogFile(f"sqlite:///{tmp_path}/tidegate.db")


async def test_a_command_tells_of_tables_that_are_gone(database: Database, url: str) -> None:
    file = CatalogFile(url)
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql("DROP TABLE catalog_version")
    with pytest.raises(DatabaseUnusable, match="cannot be written"):
        await file.change(MODEL)
    file.close()
