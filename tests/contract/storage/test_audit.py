"""The audit log and sessions, on SQLite and on PostgreSQL."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import Connection

from tidegate.storage import audit_trail, sessions
from tidegate.storage.assembly import Storage
from tidegate.storage.audit import NOBODY, Author, Deed, Noted, Via, Wanted, note, noted, read
from tidegate.storage.database import Database
from tidegate.storage.purge import Purge
from tidegate.storage.sessions import Session
from tidegate.storage.writer import Writer

ALICE = Author(operator="alice", via=Via.CONSOLE, address="2001:db8::1")
SESSION = Session(digest="d1", operator="alice", proof="p", created_at=1_000.25, seen_at=1_000.25)


def do(database: Database, task: Any) -> Any:
    with database.connect_writer() as connection, connection.begin():
        return task(connection)


def rows(database: Database, limit: int = 50, before: int | None = None, **wanted: str) -> list[Noted]:
    with database.connect_reader() as connection:
        return list(read(connection, Wanted(**wanted), limit=limit, before=before))


def add(database: Database, author: Author, action: str, kind: str, name: str, at: float = 5.5) -> None:
    deed = Deed(action=action, kind=kind, name=name, changes={"weight": (None, 1)})
    do(database, lambda connection: note(connection, author, deed, clock=lambda: at))


def test_rows_come_back_newest_first_and_by_filter(database: Database) -> None:
    add(database, ALICE, "create", "keys", "a")
    add(database, NOBODY, "delete", "keys", "b")
    add(database, ALICE, "create", "models", "a")
    first, *_ = rows(database, kind="keys", name="a")
    assert (first.at, first.author, first.deed.changes) == (5.5, ALICE, {"weight": (None, 1)})
    assert [row.deed.name for row in rows(database, operator="alice")] == ["a", "a"]
    assert [row.deed.kind for row in rows(database)] == ["models", "keys", "keys"]
    newest = rows(database, limit=1)[0]
    assert [row.deed.name for row in rows(database, before=newest.number)] == ["b", "a"]


def test_a_change_that_fails_leaves_no_row(database: Database) -> None:
    def fail(_connection: Connection) -> None:
        raise LookupError

    with pytest.raises(LookupError):
        do(database, noted(fail, ALICE, lambda _: Deed(action="create", kind="keys")))
    do(database, noted(lambda _connection: None, ALICE, lambda _: None))
    assert rows(database) == []


def test_a_very_long_value_is_cut(database: Database) -> None:
    deed = Deed(action="change", kind="keys", name="é", changes={"models": (["m"] * 9_000, "\ud800\0")})
    do(database, noted(lambda _connection: None, ALICE, lambda _: deed))
    (row,) = rows(database)
    before, _ = row.deed.changes["models"]
    assert isinstance(before, str)
    assert len(before) == 4_001


async def test_old_rows_are_deleted(database: Database, writer: Writer) -> None:
    for number in range(5):
        add(database, ALICE, "create", "keys", str(number), at=1_000.0 + number)
    purge = Purge(writer, 0.0, lambda: 1_103.0, audit=lambda: 100.0, step=2, pause=0.0)
    assert await purge.sweep() == 3
    assert [row.deed.name for row in rows(database)] == ["4", "3"]


async def test_what_is_told_is_there_with_the_next_batch(storage: Storage) -> None:
    storage.audit.tell(ALICE, Deed(action="reload", kind="config"))
    async with asyncio.timeout(10):
        while not (found := await storage.audit.page(Wanted(), limit=5, before=None)):
            await asyncio.sleep(0.01)
    assert [row.deed.action for row in found] == ["reload"]


async def test_a_row_that_cannot_be_written_stands_in_the_log(
    storage: Storage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ValueError("no room")

    monkeypatch.setattr(audit_trail, "note", fails)
    storage.audit.tell(ALICE, Deed(action="ask", kind="playground", name="laptop"))
    async with asyncio.timeout(10):
        while "a row is lost" not in caplog.text:
            await asyncio.sleep(0.01)
    for said in ("alice", "console", "2001:db8::1", "ask", "playground", "laptop", "no room"):
        assert said in caplog.text


def test_a_session_is_found_until_it_ends(database: Database) -> None:
    do(database, lambda connection: sessions.add(connection, SESSION))
    assert do(database, lambda connection: sessions.find(connection, "d1")) == SESSION
    do(database, lambda connection: sessions.touch(connection, "d1", 1_400.5))
    do(database, lambda connection: sessions.touch(connection, "d1", 1_300.0))
    found = do(database, lambda connection: sessions.find(connection, "d1"))
    assert found.seen_at == 1_400.5
    assert do(database, lambda connection: sessions.remove(connection, "d1")) is True
    assert do(database, lambda connection: sessions.remove(connection, "d1")) is False
    do(database, lambda connection: sessions.touch(connection, "d1", 2_000.0))
    assert do(database, lambda connection: sessions.find(connection, "d1")) is None


def test_expired_sessions_are_deleted(database: Database) -> None:
    for digest, created, seen in (("old", 1.0, 90.0), ("idle", 50.0, 60.0), ("good", 50.0, 90.0)):
        session = Session(digest=digest, operator="a", proof="p", created_at=created, seen_at=seen)
        do(database, lambda connection, one=session: sessions.add(connection, one))
    assert do(database, lambda connection: sessions.remove_expired(connection, 80.0, 40.0)) == 2
    assert do(database, lambda connection: sessions.find(connection, "good")) is not None


async def test_sessions_are_kept_by_the_writer_of_the_gateway(storage: Storage) -> None:
    await storage.sessions.write(lambda connection: sessions.add(connection, SESSION))
    assert await storage.sessions.find("d1") == SESSION
    assert await storage.sessions.find("d2") is None
