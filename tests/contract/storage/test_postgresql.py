"""What only a server can do to us: to be silent, to go, to come back, to number rows in another order."""

import asyncio
import logging
import signal
import time
from collections.abc import Callable

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from tests.contract.storage.conftest import SHORT
from tests.harness.postgres_server import PASSWORD, QUOTED_PASSWORD, PostgresServer
from tests.unit.storage.records import record

from tidegate.exchange.ports import RequestRecord
from tidegate.storage.assembly import open_storage
from tidegate.storage.database import Database, DatabaseUnusable, inserts, passes, reason
from tidegate.storage.items import REQUESTS
from tidegate.storage.journal_file import JournalFile
from tidegate.storage.migrate import bring_up_to_date
from tidegate.storage.pages import Filters
from tidegate.storage.purge import Purge
from tidegate.storage.writer import Writer

ALL = Filters()


@pytest.fixture
def database(impatient: Database) -> Database:
    """Some tests wait for a lock in vain."""
    return impatient


@pytest.fixture
def kind() -> str:
    return "postgresql"


def ids(database: Database) -> list[str]:
    with database.engine.connect() as connection:
        return [row[0] for row in connection.exec_driver_sql("SELECT id FROM requests ORDER BY seq")]


def insert(
    driver: "psycopg.Connection[tuple[object, ...]]", database: Database, *rows: RequestRecord
) -> None:
    """Insert rows in a transaction that the test ends."""
    for text, values in inserts(
        database.engine, "requests", REQUESTS.columns, [REQUESTS.encode(row) for row in rows], "", 64
    ):
        driver.execute(text.encode(), values)


async def until(condition: Callable[[], bool], within: float = 20.0) -> None:
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, "did not come true"
        await asyncio.sleep(0.02)


# Opening


def refused(url: str) -> str:
    with pytest.raises(DatabaseUnusable) as told:
        bring_up_to_date(Database(url))
    for word in (PASSWORD, QUOTED_PASSWORD, "hunter2"):
        assert word not in f"{told.value}{told.value!r}{told.value.__cause__!r}"
    return str(told.value)


def test_what_is_wrong_with_the_address_is_told_with_what_mends_it(postgres: PostgresServer) -> None:
    wrong_password = refused(postgres.url(password="hunter2"))
    assert "password authentication failed" in wrong_password
    assert "check user and password" in wrong_password
    assert "CREATE DATABASE" in refused(postgres.url("nowhere"))
    assert "write the password" in refused(f"postgresql://tidegate@127.0.0.1:{postgres.port}/postgres")
    assert "CREATE ROLE" in refused(
        f"postgresql://nobody@/postgres?host={postgres.folder}&port={postgres.port}"
    )
    assert "check host and port" in refused("postgresql://u:hunter2@127.0.0.1:1/db")
    assert "that the server runs" in refused("postgresql://u:hunter2@/db?host=/nowhere")
    assert "check the host" in refused("postgresql://u:hunter2@no-such-host.invalid/db")
    assert "port" in refused("postgresql://u:hunter2@host:port/db")
    assert "check sslmode" in refused(postgres.url() + "?sslmode=require")


def test_another_encoding_is_refused(postgres: PostgresServer) -> None:
    name = f"latin_{postgres.port}"
    postgres.run(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    assert "ENCODING 'UTF8'" in refused(postgres.url(name))
    postgres.drop(name)


def test_a_user_without_rights_is_told_which(postgres: PostgresServer) -> None:
    name = postgres.fresh()
    postgres.run("CREATE ROLE visitor LOGIN PASSWORD 'hunter2'")
    told = refused(postgres.url(name, "visitor", "hunter2"))
    assert "permission denied" in told
    assert "owner of the database" in told
    postgres.drop(name)
    postgres.run("DROP ROLE visitor")


def test_a_server_that_only_reads_is_told(empty_url: str) -> None:
    assert "primary" in refused(empty_url + "?options=-c%20default_transaction_read_only%3Don")


def test_a_unix_socket_will_do(postgres: PostgresServer, migrated: str) -> None:
    name = postgres.fresh(template=migrated)
    database = Database(postgres.socket_url(name))
    bring_up_to_date(database)
    assert ids(database) == []
    assert database.place == f"postgresql:///{name}?host={postgres.folder}&port={postgres.port}"
    database.close()
    postgres.drop(name)


def test_only_one_process_migrates_at_a_time(postgres: PostgresServer, empty_url: str) -> None:
    database = Database(empty_url)
    database.prepare()
    with database.connect_writer() as first, first.begin():
        database.lock_tables(first)
        with psycopg.connect(empty_url) as other:
            locks = other.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted")
            assert locks.fetchone() == (1,)
    with database.connect_writer() as second, second.begin():
        assert second.exec_driver_sql("SHOW statement_timeout").scalar() == "10s"  # the longer one is gone
        assert (
            second.exec_driver_sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").scalar() == 0
        )
    database.close()


# Rows


async def test_rows_that_postgresql_refuses_are_mended(database: Database, writer: Writer) -> None:
    rows = [
        record(1),
        record(2, model="a\0b", warnings=("x\0y",)),
        record(3, model="\ud800"),
        record(4, output_tokens=2**63),
        record(5, input_tokens=2**80),
        record(6, error_message='{"a": "\\u0000"} % %s ; DROP TABLE requests; --'),
        record(7, duration_ms=float("nan")),
    ]
    for row in rows:
        writer.put(REQUESTS, row)
    await writer.flush()
    assert ids(database) == [row.id for row in rows]
    assert writer.lost == 0


async def test_one_row_too_long_for_an_index_takes_no_other_with_it(
    database: Database, writer: Writer
) -> None:
    noise = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(3_000))  # hard to compress
    for row in (record(1), record(2, key=noise), record(3)):
        writer.put(REQUESTS, row)
    await writer.flush()
    assert ids(database) == ["req_00001", "req_00003"]
    assert writer.lost == 1


# A server in trouble


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
async def test_rows_wait_for_a_server_that_is_away(
    postgres: PostgresServer,
    database: Database,
    writer: Writer,
    how: signal.Signals,
    caplog: pytest.LogCaptureFixture,
) -> None:
    writer.put(REQUESTS, record(1))
    await writer.flush()
    postgres.stop(how)
    for number in range(2, 800):
        writer.put(REQUESTS, record(number))
    await until(lambda: "cannot be written" in caplog.text)
    postgres.start()
    await writer.flush()
    assert ids(database) == [record(number).id for number in range(1, 800)]
    assert writer.lost == 0
    assert [entry.levelno for entry in caplog.records] == [logging.WARNING] * 2
    assert PASSWORD not in caplog.text


async def test_a_silent_server_holds_nobody_for_long(
    postgres: PostgresServer,
    database: Database,
    writer: Writer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("tidegate.storage.watch.HANGS", 60)  # the connection's own patience is meant here
    writer.put(REQUESTS, record(1))
    await writer.flush()
    with postgres.frozen():
        writer.put(REQUESTS, record(2))
        started = time.monotonic()
        await until(lambda: "has not answered" in caplog.text)
        assert time.monotonic() - started < SHORT + 2 + 2
    await writer.flush()
    assert ids(database) == ["req_00001", "req_00002"]


def test_a_silent_server_ends_reads_and_openings_too(postgres: PostgresServer, url: str) -> None:
    database = Database(f"{url}?connect_timeout=2", statement_seconds=SHORT)
    assert ids(database) == []  # now there is an idle connection
    with postgres.frozen():
        for _ in range(2):
            started = time.monotonic()
            with pytest.raises(SQLAlchemyError, match=r"timeout|has not answered") as told:
                ids(database)
            assert passes(told.value)
            assert time.monotonic() - started < SHORT + 2 + 2 + 2
    assert ids(database) == []
    database.close()


async def test_readers_do_not_notice_a_restart(postgres: PostgresServer, url: str) -> None:
    storage = await open_storage(url, 0)
    storage.journal.write(record(1))
    assert await storage.requests.one("req_00001") is not None
    assert await storage.ready()
    postgres.stop()
    assert not await storage.ready()
    postgres.start()
    assert await storage.ready()
    assert await storage.requests.one("req_00001") is not None
    await storage.close()


async def test_a_statement_that_takes_too_long_is_ended_by_the_server(database: Database) -> None:
    with database.engine.connect() as connection, pytest.raises(OperationalError) as told:
        connection.exec_driver_sql("SELECT pg_sleep(5)")
    assert passes(told.value)
    assert "statement timeout" in reason(told.value)


def test_a_transaction_that_sleeps_holds_no_lock_for_long(database: Database) -> None:
    with (
        pytest.raises(DBAPIError, match="idle-in-transaction") as told,
        database.connect_writer() as connection,
        connection.begin(),
    ):
        connection.exec_driver_sql("LOCK TABLE requests")
        time.sleep(SHORT * 3)
        connection.exec_driver_sql("SELECT 1")
    assert passes(told.value)


async def test_dropped_tables_are_made_again(url: str, database: Database, writer: Writer) -> None:
    writer.put(REQUESTS, record(1))
    await writer.flush()
    with psycopg.connect(url, autocommit=True) as driver:
        driver.execute("DROP SCHEMA public CASCADE")
        driver.execute("CREATE SCHEMA public")
    writer.put(REQUESTS, record(2))
    await writer.flush()
    assert ids(database) == ["req_00002"]


# Following


def test_a_row_that_is_committed_late_is_followed_too(url: str, database: Database) -> None:
    journal = JournalFile(url)
    place, _ = journal.newest(ALL, 10)
    with psycopg.connect(url) as slow, psycopg.connect(url) as quick:
        insert(slow, database, record(1), record(2))
        insert(quick, database, record(3))
        quick.commit()
        place, rows = journal.since(place, ALL)
        assert [row.id for row in rows] == ["req_00003"]
        assert journal.since(place, ALL) == (place, [])
        slow.commit()
        place, rows = journal.since(place, ALL)
        assert [row.id for row in rows] == ["req_00001", "req_00002"]
        assert journal.since(place, ALL) == (place, [])
    journal.close()


def test_a_row_that_was_on_its_way_at_the_start_is_followed_too(url: str, database: Database) -> None:
    with psycopg.connect(url) as slow, psycopg.connect(url) as quick:
        insert(quick, database, record(1))
        insert(slow, database, record(2))
        insert(quick, database, record(3))
        quick.commit()
        journal = JournalFile(url)
        place, rows = journal.newest(ALL, 10)
        assert [row.id for row in rows] == ["req_00001", "req_00003"]
        slow.commit()
        place, rows = journal.since(place, ALL)
        assert [row.id for row in rows] == ["req_00002"]
    journal.close()


def test_numbers_of_undone_transactions_are_forgotten(url: str, database: Database) -> None:
    now = 0.0
    journal = JournalFile(url, clock=lambda: now)
    place, _ = journal.newest(ALL, 0)
    with psycopg.connect(url) as driver:
        insert(driver, database, record(1))
        driver.rollback()
        insert(driver, database, record(2))
    place, rows = journal.since(place, ALL)
    assert [row.id for row in rows] == ["req_00002"]
    now = 61.0
    place, rows = journal.since(place, ALL)
    assert (rows, place.missing) == ([], {})
    journal.close()


# Several nodes


async def test_nodes_that_purge_at_once_do_not_wait_for_each_other(
    url: str, database: Database, writer: Writer
) -> None:
    for number in range(20):
        writer.put(REQUESTS, record(number))
    await writer.flush()
    with psycopg.connect(url) as other:
        other.execute("SELECT seq FROM requests ORDER BY created_at LIMIT 5 FOR UPDATE")
        assert await Purge(writer, 1.0, lambda: record(100).created_at).sweep() == 15
