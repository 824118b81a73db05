from typing import TypeVar

from tidegate.routing.catalog import Duty
from tidegate.storage.catalog import Definition, Kind, Task, create, read_all, remove
from tidegate.storage.channel_duties import StoredDuty, set_duty
from tidegate.storage.database import Database

T = TypeVar("T")


def do(database: Database, task: Task[T]) -> T:
    with database.connect_writer() as connection, connection.begin():
        return task(connection)


def test_a_duty_is_kept_with_who_wanted_it_and_raises_the_version(database: Database) -> None:
    do(database, set_duty("a", Duty.PAUSED, "alice", clock=lambda: 10.5))
    do(database, set_duty("b", Duty.DRAINING, "bob", clock=lambda: 11.0))
    do(database, set_duty("a", Duty.ACTIVE, "carol", clock=lambda: 12.25))
    stored = do(database, read_all)
    assert stored.version == 3
    assert stored.duties == {
        "a": StoredDuty(duty=Duty.ACTIVE, changed_at=12.25, changed_by="carol"),
        "b": StoredDuty(duty=Duty.DRAINING, changed_at=11.0, changed_by="bob"),
    }


def test_who_wanted_it_first_stays(database: Database) -> None:
    do(database, set_duty("a", Duty.PAUSED, "alice", clock=lambda: 10.5))
    do(database, set_duty("a", Duty.PAUSED, "bob", clock=lambda: 11.0))
    assert do(database, read_all).duties["a"].changed_by == "alice"


def test_a_channel_that_is_deleted_or_made_anew_has_none(database: Database) -> None:
    do(database, set_duty("a", Duty.PAUSED, "alice"))
    do(database, create(Kind.CHANNELS, "a", Definition(text="{}")))
    assert do(database, read_all).duties == {}
    do(database, set_duty("a", Duty.PAUSED, "alice"))
    do(database, create(Kind.MODELS, "a", Definition(text="{}")))
    do(database, remove(Kind.MODELS, "a"))
    assert list(do(database, read_all).duties) == ["a"]
    do(database, remove(Kind.CHANNELS, "a"))
    assert do(database, read_all).duties == {}
