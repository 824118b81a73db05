import pytest
from tests.unit.storage.records import record

from tidegate.storage.database import Database, DatabaseUnusable
from tidegate.storage.items import REQUESTS
from tidegate.storage.journal_file import JournalFile
from tidegate.storage.pages import Filters
from tidegate.storage.writer import Writer

ALL = Filters()


async def put(writer: Writer, *numbers: int) -> None:
    for number in numbers:
        writer.put(REQUESTS, record(number))
    await writer.flush()


async def test_following_misses_and_doubles_nothing(url: str, database: Database, writer: Writer) -> None:
    other = Writer(database)  # another worker, whose older request ends later
    await put(writer, 1, 5, 9)
    journal = JournalFile(url)
    reached, rows = journal.newest(ALL, 2)
    assert [row.id for row in rows] == ["req_00005", "req_00009"]
    seen: list[str] = []
    for batch, worker in [((3,), writer), ((20, 2), other), ((), writer), ((4,), other)]:
        await put(worker, *batch)
        reached, rows = journal.since(reached, ALL)
        seen += [row.id for row in rows]
    assert seen == ["req_00003", "req_00020", "req_00002", "req_00004"]
    await other.close()
    journal.close()


async def test_many_rows_since_are_all_told(url: str, writer: Writer) -> None:
    journal = JournalFile(url)
    reached, rows = journal.newest(ALL, 0)
    assert rows == []
    await put(writer, *range(2_500))
    reached, rows = journal.since(reached, ALL)
    assert [row.id for row in rows] == [record(number).id for number in range(2_500)]
    assert journal.since(reached, ALL) == (reached, [])
    journal.close()


def test_an_empty_database_holds_no_journal(empty_url: str) -> None:
    with pytest.raises(DatabaseUnusable, match="there is no journal"):
        JournalFile(empty_url)


def test_a_database_of_another_version_is_told(url: str, database: Database) -> None:
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(DatabaseUnusable, match="its tables are at 9999"):
        JournalFile(url)
