"""Requests are added up exactly, whoever does it, and whatever happens in the middle."""

import random
import signal
import subprocess
import sys
import threading
import time

import psycopg
import pytest
from msgspec.structs import replace
from sqlalchemy import Connection
from tests.harness.gateway import environment
from tests.unit.storage.records import ATTEMPT, RECORD, record
from tests.unit.storage.stores import rows as found_by

from tidegate.exchange.ports import RequestRecord
from tidegate.storage import counting, figure_keeper, progress, rows
from tidegate.storage.booking import Booking
from tidegate.storage.buckets import unused_combinations
from tidegate.storage.counting import count_backlog, count_new, write_counted
from tidegate.storage.database import Database
from tidegate.storage.figure_keeper import FigureKeeper
from tidegate.storage.journal_query import select_page
from tidegate.storage.late_ends import book_late_ends
from tidegate.storage.overview import Overview, Question, read_overview
from tidegate.storage.pages import EQUAL, Filters
from tidegate.storage.progress import WAITED_SECONDS
from tidegate.storage.spans import LEVELS, span_of
from tidegate.storage.statements import Statements
from tidegate.storage.sums import COUNTS
from tidegate.storage.tally import requests_in
from tidegate.storage.uncounted import known

NOW = RECORD.created_at + 3_600
DAY = 86_400


def put(database: Database, records: list[RequestRecord]) -> None:
    with database.connect_writer() as connection, connection.begin():
        insert(connection, records)


def insert(connection: Connection, records: list[RequestRecord]) -> None:
    Statements(connection).insert("requests", rows.COLUMNS, [rows.encode(one) for one in records])


def count(database: Database, now: float = NOW, limit: int = 1_000) -> bool:
    with database.connect_reader() as connection:
        counted = count_new(connection, now, limit)
    with database.connect_writer() as connection, connection.begin():
        return write_counted(connection, counted, now)


def ask(database: Database) -> Overview:
    with database.connect_reader() as connection:
        return read_overview(
            connection, Question(span=span_of(RECORD.created_at - 3_600, NOW, NOW), group_by="key")
        )


def requests(database: Database) -> int:
    return requests_in(ask(database).totals)


def in_buckets(database: Database, level: int = DAY) -> int:
    """How many requests the buckets of a level count."""
    outcomes = "completed + incomplete + failed + interrupted + client_closed + rejected"
    query = f"SELECT COALESCE(SUM({outcomes}), 0) FROM figure_buckets WHERE seconds = {level}"
    return int(str(found_by(database, query)[0][0]))


def test_rows_are_told_before_and_after_they_are_counted(database: Database) -> None:
    put(database, [record(number, cost=1) for number in range(10)])
    before = ask(database)
    assert (requests_in(before.totals), in_buckets(database)) == (10, 0)
    assert count(database)
    assert ask(database) == before
    assert [in_buckets(database, level.seconds) for level in LEVELS] == [10] * len(LEVELS)
    put(database, [record(number, cost=1) for number in range(10, 13)])
    assert requests(database) == 13


ROWS = [
    record(
        number,
        model=model,
        channel=channel,
        status=status,
        outcome=outcome,
        protocol="chat" if number % 3 else "messages",
        stream=bool(number % 2),
    )
    for number, (model, channel, status, outcome) in enumerate(
        [
            ("sonnet", "main", 200, "completed"),
            ("made-up", None, 404, "rejected"),
            (None, None, 400, "rejected"),
            ("sonnet", None, 404, "rejected"),
            ("sonnet", "other", 404, "failed"),
            ("made-up", None, 429, "rejected"),
            ("x" * 300, None, 404, "rejected"),
        ]
        * 6
    )
]
WANTED = [
    Filters(model=model, channel=channel, outcome=outcome, status=status, stream=stream)
    for model in (None, "sonnet", "made-up", "x" * 300, "never asked for")
    for channel in (None, "other")
    for outcome in (None, "rejected", "failed")
    for status in (None, 404)
    for stream in (None, True)
]


def fitting(wanted: Filters) -> list[RequestRecord]:
    names = [name for name in EQUAL if getattr(wanted, name) is not None]
    rows = [row for row in ROWS if all(getattr(row, name) == getattr(wanted, name) for name in names)]
    return rows[::-1]


def test_a_counted_row_is_found_by_every_filter_as_any_other(database: Database) -> None:
    put(database, ROWS)
    for _ in range(2):
        with database.connect_reader() as connection:
            for wanted in WANTED:
                page = select_page(connection, wanted, 4, None)
                found = [*page.requests]
                while page.next is not None:
                    page = select_page(connection, wanted, 4, page.next)
                    found += page.requests
                assert found == fitting(wanted), wanted
        count(database)


def test_who_is_slower_writes_nothing(database: Database) -> None:
    put(database, [record(1)])
    with database.connect_reader() as connection:
        late = count_new(connection, NOW)
    assert count(database)
    with database.connect_writer() as connection, connection.begin():
        assert not write_counted(connection, late, NOW)
    assert in_buckets(database) == 1


def test_many_keepers_count_each_row_once(database: Database, url: str) -> None:
    records = [record(number, key=f"k{number % 7}", cost=number) for number in range(600)]
    end, began, patient = threading.Event(), time.monotonic(), Database(url)

    def keep() -> None:
        own = Database(url)
        keeper = FigureKeeper(own, lambda: NOW + (time.monotonic() - began) * 100, step=20)
        while not end.is_set():
            keeper._work()
        own.close()

    threads = [threading.Thread(target=keep) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for start in range(0, 600, 60):
            put(patient, records[start : start + 60])
            assert requests(database) == start + 60
    finally:
        end.set()
        for thread in threads:
            thread.join(30)
        patient.close()
    found = ask(database)
    assert found.totals[COUNTS.index("cost")] == sum(range(600))
    assert {group.name: requests_in(group.sums) for group in found.groups} == {
        f"k{number}": len(range(number, 600, 7)) for number in range(7)
    }


_KEEPER = """
import sys, time
from tidegate.storage.database import Database
from tidegate.storage.figure_keeper import FigureKeeper
began = time.monotonic()
now = lambda: float(sys.argv[2]) + (time.monotonic() - began) * 1000
keeper = FigureKeeper(Database(sys.argv[1]), now, step=3)
print("begun", flush=True)
while True:
    keeper.work()
"""


def test_a_keeper_that_is_killed_leaves_no_row_out_and_counts_none_twice(
    database: Database, url: str
) -> None:
    put(database, [record(number, cost=1) for number in range(3_000)])
    for _ in range(3):
        command = [sys.executable, "-c", _KEEPER, url, str(NOW)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment())
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        time.sleep(random.uniform(0.05, 0.25))
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        process.stdout.close()
        assert requests(database) == 3_000
    while in_buckets(database) < 3_000:
        count(database)
    assert requests(database) == 3_000
    assert ask(database).totals[COUNTS.index("cost")] == 3_000


def test_a_step_that_fails_changes_nothing(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    put(database, [record(1)])

    def fail(*_: object) -> None:
        raise RuntimeError("in the middle")

    monkeypatch.setattr(counting, "_save", fail)
    with pytest.raises(RuntimeError):
        count(database)
    monkeypatch.undo()
    assert (in_buckets(database), requests(database)) == (0, 1)
    assert count(database)
    assert (in_buckets(database), requests(database)) == (1, 1)


def test_an_old_database_is_counted_from_its_newest_rows(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "FAR_BEHIND", 40)
    put(database, [record(number) for number in range(100)])
    assert count(database, limit=50)
    found = ask(database)
    assert (requests_in(found.totals), found.uncounted_rows) == (10, 90)
    now, left = NOW + WAITED_SECONDS + 1, []
    while True:
        with database.connect_reader() as connection:
            counted = count_backlog(connection, now, 25)
        if counted is None:
            break
        with database.connect_writer() as connection, connection.begin():
            assert write_counted(connection, counted, now)
        left.append(ask(database).uncounted_rows)
    assert (left, in_buckets(database), requests(database)) == ([65, 40, 15, 0], 100, 100)


def test_rows_that_are_deleted_stay_in_the_figures(database: Database) -> None:
    put(database, [record(1), record(2)])
    count(database)
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql("DELETE FROM requests")
    assert requests(database) == 2


@pytest.mark.parametrize("counted_before", [True, False])
def test_a_row_that_is_replaced_counts_as_it_is_now(database: Database, *, counted_before: bool) -> None:
    put(database, [record(1, outcome="interrupted", cost=5, account=None), record(2)])
    if counted_before:
        count(database)
    end = record(1, cost=7, account=None, first_token_ms=9.0, attempts=(replace(ATTEMPT, channel="other"),))
    with database.connect_writer() as connection, connection.begin():
        book_late_ends(Booking(Statements(connection), rows.to_microseconds(NOW)), [end])
    for _ in range(2):
        found = ask(database)
        told = dict(zip(COUNTS, found.totals, strict=False))
        assert (told["completed"], told["interrupted"], told["cost"], told["attempts"]) == (2, 0, 7, 2)
        count(database)


def test_what_was_read_before_a_row_was_replaced_is_not_written(database: Database) -> None:
    put(database, [record(1, outcome="interrupted", account=None)])
    with database.connect_reader() as connection:
        early = count_new(connection, NOW)
    with database.connect_writer() as connection, connection.begin():
        book_late_ends(
            Booking(Statements(connection), rows.to_microseconds(NOW)), [record(1, cost=7, account=None)]
        )
    with database.connect_writer() as connection, connection.begin():
        assert not write_counted(connection, early, NOW)


def test_old_buckets_are_forgotten(database: Database) -> None:
    put(database, [record(1), record(2, model="other")])
    count(database)
    later = [NOW + 20 * DAY, NOW + 20 * DAY + 601]
    keeper = FigureKeeper(database, lambda: later[0])
    keeper._clock = lambda: later[1]
    for _ in range(10):
        keeper.work()
    assert [in_buckets(database, level.seconds) for level in LEVELS] == [0, 0, 2, 2, 2]
    with database.connect_reader() as connection:
        assert unused_combinations(connection) == []
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql("DELETE FROM figure_buckets")
    keeper = FigureKeeper(database, lambda: later[0])
    keeper._clock = lambda: later[1]
    keeper.work()
    assert found_by(database, "SELECT count(*) FROM figure_combinations") == [(0,)]
    put(database, [record(3)])
    assert count(database)
    assert in_buckets(database) == 1


def test_a_database_that_is_away_is_told_once(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql("DROP TABLE figure_progress")
    keeper = FigureKeeper(database, time.time)
    assert [keeper._work() for _ in range(3)] == [figure_keeper._AGAIN] * 3
    assert caplog.text.count("rows cannot be added up now") == 1


class TestLateCommits:
    """Only PostgreSQL shows a lower number after a higher one."""

    @pytest.fixture
    def kind(self) -> str:
        return "postgresql"

    def test_a_row_that_is_committed_late_is_counted_once(self, database: Database, url: str) -> None:
        names = ",".join(f'"{name}"' for name in rows.COLUMNS)
        marks = ",".join(["%s"] * len(rows.COLUMNS))
        statement = f"INSERT INTO requests ({names}) VALUES ({marks})"
        with psycopg.connect(url) as late:
            late.execute(statement, rows.encode(record(1)))
            put(database, [record(2)])
            assert count(database)
            with database.connect_reader() as connection:
                [gap] = known(connection).progress.gaps
            assert (gap.first, gap.last, in_buckets(database)) == (1, 1, 1)
            # However long it takes: its transaction is not over.
            assert count(database, NOW + 10 * WAITED_SECONDS)
            late.commit()
        assert requests(database) == 2
        assert count(database, NOW + 10 * WAITED_SECONDS)
        with database.connect_reader() as connection:
            assert known(connection).progress.gaps == ()
        assert (in_buckets(database), requests(database)) == (2, 2)

    def test_a_row_that_is_undone_is_not_waited_for_for_ever(self, database: Database, url: str) -> None:
        with psycopg.connect(url) as undone:
            undone.execute("SELECT nextval('requests_seq_seq')")
            undone.rollback()
        put(database, [record(2)])
        for later, gaps in ((0.0, 1), (WAITED_SECONDS - 1, 1), (WAITED_SECONDS + 1, 0)):
            count(database, NOW + later)
            with database.connect_reader() as connection:
                assert len(known(connection).progress.gaps) == gaps


def test_the_migration_leaves_all_rows_to_be_counted(database: Database) -> None:
    with database.connect_reader() as connection:
        assert known(connection).progress == progress.Progress()
