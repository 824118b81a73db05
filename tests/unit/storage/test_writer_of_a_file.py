import pytest
from tests.unit.storage.records import record

from tidegate.storage.database import Database
from tidegate.storage.items import REQUESTS
from tidegate.storage.sqlite import sqlite_path
from tidegate.storage.writer import Writer


async def test_rows_go_on_into_a_new_file_when_the_old_one_was_removed(
    url: str, database: Database, writer: Writer, caplog: pytest.LogCaptureFixture
) -> None:
    writer.put(REQUESTS, record(1))
    await writer.flush()
    path = sqlite_path(url)
    for file in path.parent.glob(path.name + "*"):
        file.unlink()
    for number in (2, 3):
        writer.put(REQUESTS, record(number))
    await writer.flush()
    with database.engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT id FROM requests ORDER BY seq").scalars().all()
    assert rows == ["req_00002", "req_00003"]
    assert writer.lost == 0
    assert "removed or replaced" in caplog.text
