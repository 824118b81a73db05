import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.unit.storage.records import record

from tidegate.storage.assembly import open_storage
from tidegate.storage.database import Database
from tidegate.storage.pages import Filters


async def test_what_was_written_before_a_close_is_there_after_it(url: str) -> None:
    first = await open_storage(url, 0)
    assert await first.ready()
    for number in range(1_000):
        first.journal.write(record(number))
    first.ownership.remember(["resp_1"], "acme", "openai")
    await first.close()
    second = await open_storage(url, 0)
    page = await second.requests.page(Filters(), limit=1, before=None)
    assert page.requests == (record(999),)
    assert await second.ownership.find("resp_1", "acme") == "openai"
    assert (second.waiting, second.lost) == (0, 0)
    await second.close()


async def test_old_rows_are_purged_while_it_runs(url: str) -> None:
    first = await open_storage(url, 0)
    first.journal.write(record(1))
    first.journal.write(record(50_000))
    await first.close()
    second = await open_storage(url, 3_600, clock=lambda: record(50_000).created_at)
    for _ in range(2_000):  # each look flushes the writer, whose jobs the purge's steps are
        if await second.requests.one("req_00001") is None:
            break
    assert await second.requests.one("req_00001") is None
    assert await second.requests.one("req_50000") is not None
    await second.close()


ROOT = Path(__file__).parents[3]
KILLED = """
import asyncio, itertools, sys
from tests.unit.storage.records import record
from tidegate.storage.assembly import open_storage

async def main():
    storage = await open_storage(sys.argv[1], 0)
    for number in itertools.count():
        storage.journal.write(record(number))
        if number % 50 == 49:
            await asyncio.sleep(0.001)
        if number % 500 == 499:
            await storage.journal.flush()
            print(number, flush=True)

asyncio.run(main())
"""


def test_a_kill_leaves_whole_rows_and_all_that_was_flushed(url: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, url], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    flushed = [int(process.stdout.readline()) for _ in range(4)][-1]
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read().split()
    process.wait(10)
    flushed = int(rest[-1]) if rest else flushed

    database = Database(url)
    with database.engine.connect() as connection:
        if database.engine.dialect.name == "sqlite":
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
        query = "SELECT id, warnings, attempts FROM requests ORDER BY seq"
        rows = connection.exec_driver_sql(query).all()
    database.close()
    assert len(rows) > flushed
    assert [row[0] for row in rows] == [record(number).id for number in range(len(rows))]
    assert all(json.loads(row[1]) == ["dropped:top_k"] and len(json.loads(row[2])) == 1 for row in rows)
