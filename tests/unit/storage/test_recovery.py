import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.unit.storage.stores import done, intent, request, rows

from tidegate.ledger.books import Wish
from tidegate.ledger.entries import Balance
from tidegate.storage import owners
from tidegate.storage.accounting import Accounting
from tidegate.storage.booking import Wanted
from tidegate.storage.checkpoints import CheckpointFile, note, to_json
from tidegate.storage.database import Database
from tidegate.storage.items import REQUESTS, Entry, Noted, Row
from tidegate.storage.ledger_desk import LedgerFile, read_balances
from tidegate.storage.openings import Openings
from tidegate.storage.owners import Owner, lock_path
from tidegate.storage.recovery import SILENT, WATCHED, Recovery
from tidegate.storage.refuge import Refuge
from tidegate.storage.scribe import Scribe
from tidegate.storage.verify import verify


def wanted(number: int, amount: int = 100) -> Wanted:
    asked = intent(number, amount)
    return Wanted(
        id=asked.record.id,
        account="acme",
        key="laptop",
        wish=Wish(amount=amount, least=amount, prepaid=False),
        budgets=(),
        record=to_json(asked.record),
        at=1_700_000_000_000_000,
    )


class Process:
    """A gateway process as the database and the folder see it."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.owner = Owner(folder)
        self.scribe = Scribe(database, Accounting(self.owner.id), lambda: 1_700_000_000.0, self.owner.say_so)
        self.refuge = Refuge(folder, self.owner.id, [])
        self.folder = folder

    def hold(self, *numbers: int) -> None:
        self.scribe.write([], [wanted(number) for number in numbers])

    def die(self) -> None:
        self.scribe.disconnect()
        self.owner.close()

    def die_elsewhere(self) -> None:
        self.die()
        lock_path(self.folder, self.owner.id).unlink()


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "spool"


@pytest.fixture
def process(database: Database, folder: Path) -> Iterator[Process]:
    running = Process(database, folder)
    running.scribe.do(lambda connection: Openings([("acme", 1_000)]).credit(connection, 1))
    yield running
    running.die()


def recovery(database: Database, folder: Path, clock: Clock | None = None) -> Recovery:
    return Recovery(database, folder, "me", [], monotonic=clock or Clock())


def balance(database: Database) -> Balance:
    (found,) = LedgerFile(database).read(read_balances)
    return found


def test_who_lives_is_left_alone(database: Database, folder: Path, process: Process) -> None:
    process.hold(1)
    assert recovery(database, folder).sweep() == 0
    assert balance(database) == Balance("acme", 1_000, 100)


def test_what_the_dead_held_is_settled_as_they_noted_it(
    database: Database, folder: Path, process: Process
) -> None:
    process.hold(1, 2, 3)
    noted = request(2, cost=20, output_tokens=7)
    process.scribe.do(lambda connection: note(connection, [noted]))
    CheckpointFile(owners.checkpoint_path(folder, process.owner.id)).note([request(3, cost=130)])
    process.die()
    assert recovery(database, folder).sweep() == 1
    assert balance(database) == Balance("acme", 850, 0)
    assert rows(database, "SELECT id, outcome, cost, output_tokens FROM requests ORDER BY id") == [
        ("req_00001", "interrupted", 0, 12),
        ("req_00002", "interrupted", 20, 7),
        ("req_00003", "interrupted", 130, 12),
    ]
    assert rows(database, "SELECT * FROM owners") == []
    assert list(folder.iterdir()) == []
    assert verify(database) is None
    assert recovery(database, folder).sweep() == 0


def test_their_spool_is_written_first(database: Database, folder: Path, process: Process) -> None:
    process.hold(1)
    entries: list[Entry] = [Noted(wanted(2)), Row(REQUESTS, done(1, 30)), Row(REQUESTS, done(2, 40))]
    process.refuge.keep([*entries, Noted(wanted(3))])
    process.die()
    assert recovery(database, folder).sweep() == 1
    assert balance(database) == Balance("acme", 930, 0)
    assert rows(database, "SELECT id, outcome FROM requests ORDER BY id") == [
        ("req_00001", "completed"),
        ("req_00002", "completed"),
        ("req_00003", "interrupted"),
    ]
    assert verify(database) is None


@pytest.mark.parametrize("step", range(9))
def test_a_recovery_that_is_interrupted_anywhere_is_finished_by_the_next(
    database: Database, folder: Path, process: Process, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    process.hold(1, 2)
    process.refuge.keep([Row(REQUESTS, done(1, 30)), Noted(wanted(3))])
    process.die()
    steps = iter(range(100))
    with monkeypatch.context() as patch:
        for name in ("write", "do"):
            patch.setattr(Scribe, name, interrupted(getattr(Scribe, name), steps, step))
        try:
            recovery(database, folder).sweep()
        except KeyboardInterrupt:
            assert lock_path(folder, process.owner.id).exists()
    recovery(database, folder).sweep()
    assert balance(database) == Balance("acme", 970, 0)
    assert rows(database, "SELECT count(*) FROM requests") == [(3,)]
    assert verify(database) is None
    assert list(folder.iterdir()) == []


def interrupted(method: Callable[..., object], steps: Iterator[int], step: int) -> Callable[..., object]:
    """`method`, killed before its work at an even step and after it at an odd one."""

    def broken(scribe: Scribe, *arguments: object, **options: object) -> object:
        now = next(steps)
        if now * 2 == step:
            raise KeyboardInterrupt
        answer = method(scribe, *arguments, **options)
        if now * 2 + 1 == step:
            raise KeyboardInterrupt
        return answer

    return broken


def test_two_at_once_do_no_harm(url: str, folder: Path, process: Process) -> None:
    process.hold(*range(1, 251))
    process.die()
    one_database, other_database = Database(url), Database(url)
    recoveries = [recovery(one_database, folder), recovery(other_database, folder)]
    # As if both had found it unlocked: each ends everything it still sees.
    threads = [threading.Thread(target=one._recover, args=(process.owner.id,)) for one in recoveries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert balance(one_database) == Balance("acme", 1_000, 0)
    assert rows(one_database, "SELECT count(*) FROM requests") == [(250,)]
    assert verify(one_database) is None


def test_another_machine_is_dead_when_it_has_been_silent_for_long(
    database: Database, folder: Path, tmp_path: Path
) -> None:
    elsewhere = Process(database, tmp_path / "elsewhere")
    elsewhere.hold(1)
    elsewhere.die()
    clock = Clock()
    looking = recovery(database, folder, clock)
    age(database, SILENT + 1)
    assert looking._unheard() == []  # the database's clock may have jumped: look for a while
    clock.now += WATCHED
    assert looking._unheard() == [elsewhere.owner.id]
    age(database, SILENT - 60)
    looking._unheard()
    clock.now += WATCHED
    assert looking._unheard() == []
    age(database, SILENT + 1)
    looking._unheard()
    clock.now += WATCHED
    looking._recover(elsewhere.owner.id)
    assert rows(database, "SELECT * FROM intents") == []
    assert verify(database) is None


def test_a_machine_that_is_heard_lives_whatever_the_clock_says(
    database: Database, folder: Path, tmp_path: Path
) -> None:
    elsewhere = Process(database, tmp_path / "elsewhere")
    elsewhere.hold(1)
    clock = Clock()
    looking = recovery(database, folder, clock)
    for step in range(10):
        age(database, 10_000 - step)  # it says that it lives, and then the clock jumps
        assert looking._unheard() == []
        clock.now += WATCHED
    elsewhere.die()


def age(database: Database, seconds: int) -> None:
    with database.connect_writer() as connection, connection.begin():
        now = "CAST(strftime('%s', 'now') AS INTEGER)"
        connection.exec_driver_sql(f"UPDATE owners SET seen_at = {now} - {seconds}")


def test_a_hold_of_an_unknown_owner_is_ended_after_a_while(
    database: Database, folder: Path, process: Process
) -> None:
    process.hold(1)
    process.die_elsewhere()
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql("DELETE FROM owners")
    clock = Clock()
    looking = recovery(database, folder, clock)
    assert looking.sweep() == 0
    clock.now += WATCHED
    assert [looking.sweep() for _ in range(12)] == [0] * 11 + [1]
    assert balance(database) == Balance("acme", 1_000, 0)


def test_a_record_that_cannot_be_read_gives_the_hold_back(
    database: Database, folder: Path, process: Process, caplog: pytest.LogCaptureFixture
) -> None:
    process.hold(1)
    with database.connect_writer() as connection, connection.begin():
        connection.exec_driver_sql("UPDATE intents SET record = '{\"id\":'")
    process.die()
    assert recovery(database, folder).sweep() == 1
    assert balance(database) == Balance("acme", 1_000, 0)
    assert rows(database, "SELECT id, outcome FROM requests") == [("req_00001", "interrupted")]
    assert "cannot be read" in caplog.text


def test_a_failing_database_is_left_for_the_next_time(
    database: Database, folder: Path, process: Process, caplog: pytest.LogCaptureFixture
) -> None:
    process.hold(1)
    process.die()
    with database.connect_writer() as connection, connection.begin():
        assert recovery(database, folder).sweep() == 0
    assert "the next try goes on" in caplog.text
    assert recovery(database, folder).sweep() == 1
    assert balance(database) == Balance("acme", 1_000, 0)


def test_the_spool_of_another_database_is_left_alone(
    database: Database, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Two gateways were started in one folder, with a database each."""
    stranger = Owner(folder, database="other.db")
    Refuge(folder, stranger.id, []).keep([Row(REQUESTS, done(1, 30))])
    stranger.close()
    looking = recovery(database, folder)
    assert [looking.sweep(), looking.sweep()] == [0, 0]
    assert rows(database, "SELECT * FROM requests") == []
    assert owners.spool_path(folder, stranger.id).exists()
    assert caplog.text.count("other.db") == 1
    lock_path(folder, stranger.id).write_text("")  # as an operator would who wants it written here
    assert looking.sweep() == 1
    assert rows(database, "SELECT cost FROM requests") == [(30,)]


def test_one_that_cannot_be_recovered_does_not_keep_others_from_it(
    database: Database, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = sorted(
        (Process(database, folder), Process(database, folder)), key=lambda one: one.owner.id
    )
    owners.spool_path(folder, first.owner.id).mkdir()
    second.hold(1)
    for one in (first, second):
        one.die()
    assert recovery(database, folder).sweep() == 1
    assert rows(database, "SELECT id, outcome FROM requests") == [("req_00001", "interrupted")]
    assert "the next try goes on" in caplog.text
