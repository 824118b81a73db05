from tests.unit.storage.records import record

from tidegate.exchange.ports import Journal
from tidegate.storage.database import Database
from tidegate.storage.journal import BatchedJournal
from tidegate.storage.journal_query import select_one
from tidegate.storage.writer import Writer


async def test_a_written_row_can_be_read_back_as_it_was(database: Database, writer: Writer) -> None:
    journal = BatchedJournal(writer)
    port: Journal = journal
    told = record(1, outcome="failed", error_code="upstream_error", model="ünïcode \U0001f600", key=None)
    port.write(told)
    await journal.flush()
    with database.engine.connect() as connection:
        assert select_one(connection, told.id) == told
        assert select_one(connection, "req_unknown") is None
