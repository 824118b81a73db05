"""A process is killed in the middle of its load: whoever comes next finds and ends what it left open."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from tests.harness.postgres_server import PostgresServer

from tidegate.storage.assembly import open_storage
from tidegate.storage.database import Database
from tidegate.storage.verify import verify

LOAD = """
import asyncio, itertools, sys
from msgspec.structs import replace
from tests.unit.storage.stores import done, intent
from tidegate.ledger.entries import Granted
from tidegate.storage.assembly import open_storage

worker = int(sys.argv[2])
numbers = itertools.count(worker * 1_000_000)

async def one(storage, number):
    prepaid = number % 3 > 0
    account = "acme" if prepaid else "late"
    asked = intent(number, 100, prepaid=prepaid, account=account)
    answer = await storage.books.hold(asked)
    if not isinstance(answer, Granted):
        return
    print("admitted", asked.record.id, flush=True)
    for step in range(number % 4):
        storage.books.checkpoint([replace(asked.record, cost=step)])
        await asyncio.sleep(0.01)
    storage.journal.write(done(number, 1 + number % 150, account=account))

async def main():
    storage = await open_storage(sys.argv[1], 0)
    await storage.books.open_accounts([("acme", 10**9)])
    running = set()
    while True:
        task = asyncio.create_task(one(storage, next(numbers)))
        running.add(task)
        task.add_done_callback(running.discard)
        await asyncio.sleep(0.001)

asyncio.run(main())
"""


ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Site:
    """A database, and the folder for what waits on the disk."""

    url: str
    spool: Path

    def start(self, worker: int) -> "subprocess.Popen[str]":
        """A process with load."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
        command = [sys.executable, "-c", LOAD, self.url, str(worker)]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment, cwd=self.spool.parent
        )

    def ask(self, query: str) -> object:
        """The one value of a query."""
        database = Database(self.url)
        with database.engine.connect() as connection:
            found: object = connection.exec_driver_sql(query).scalar()
        database.close()
        return found

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody can write."""
        if self.url.startswith("postgresql"):
            with psycopg.connect(self.url) as driver:
                driver.execute("LOCK TABLE balances, requests")
                yield
            return
        connection = sqlite3.connect(self.url.removeprefix("sqlite:///"), isolation_level=None, timeout=10)
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")
        connection.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    if request.param == "sqlite":
        yield Site(f"sqlite:///{tmp_path}/tidegate.db", tmp_path / "tidegate.db.spool")
        return
    postgres: PostgresServer = request.getfixturevalue("postgres")
    name = postgres.fresh()
    yield Site(postgres.url(name), tmp_path / "tidegate-spool")
    postgres.drop(name)


def kill(process: "subprocess.Popen[str]") -> set[str]:
    """Kill -9; tells the ids of all requests that had been admitted."""
    process.send_signal(signal.SIGKILL)
    assert process.stdout is not None
    rest = process.stdout.read().splitlines()
    process.wait(10)
    return {line.split()[1] for line in rest if line.startswith("admitted req_") and len(line) > 13}


def admitted(process: "subprocess.Popen[str]", count: int) -> set[str]:
    assert process.stdout is not None
    return {process.stdout.readline().split()[1] for _ in range(count)}


async def check(site: Site, ids: set[str]) -> dict[str, str]:
    """Start again, and look at what there is: every admitted request has one row, nothing is held."""
    storage = await open_storage(site.url, 0, folder=site.spool)
    assert all(balance.held == 0 for balance in await storage.desk.balances())
    await storage.close()
    database = Database(site.url)
    assert verify(database) is None
    with database.engine.connect() as connection:
        found = connection.exec_driver_sql("SELECT id, outcome FROM requests").all()
        assert connection.exec_driver_sql("SELECT count(*) FROM intents").scalar() == 0
        assert connection.exec_driver_sql("SELECT count(*) FROM owners").scalar() == 0
    database.close()
    outcomes = {row[0]: row[1] for row in found}
    assert ids <= outcomes.keys()
    assert list(site.spool.iterdir()) == []
    return outcomes


async def test_nothing_stays_open_and_nothing_is_charged_twice(site: Site) -> None:
    process = site.start(1)
    ids = admitted(process, 300)
    ids |= kill(process)
    outcomes = await check(site, ids)
    assert set(outcomes.values()) == {"completed", "interrupted"}


async def test_a_process_that_lives_cleans_up_after_its_neighbour(site: Site) -> None:
    first, second = site.start(1), site.start(2)
    ids = admitted(first, 150) | admitted(second, 50)
    ids |= kill(first)
    killed_at = time.monotonic()
    while (owners := site.ask("SELECT count(*) FROM owners")) != 1 and time.monotonic() - killed_at < 20:
        ids |= admitted(second, 20)
    assert owners == 1
    ids |= admitted(second, 50)
    ids |= kill(second)
    await check(site, ids)


async def test_a_kill_while_the_database_is_away_loses_no_request(site: Site) -> None:
    process = site.start(1)
    ids = admitted(process, 100)
    with site.locked():
        # After two seconds the writer gives the database up; those who pay later are admitted on trust.
        deadline = time.monotonic() + 20
        while not list(site.spool.glob("*.spool")) and time.monotonic() < deadline:
            ids |= admitted(process, 1)
        ids |= admitted(process, 100)
        ids |= kill(process)
    assert list(site.spool.glob("*.spool"))
    await check(site, ids)
