"""A gateway opens at once, or when its database is there, or not at all if it is told to stop."""

import asyncio
import logging

import pytest

from tidegate.storage.assembly import Unheard
from tidegate.storage.database import DatabaseAway, DatabaseUnusable
from tidegate.wiring.opening import opened
from tidegate.wiring.waiting_room import WaitingRoom


class Room(WaitingRoom):
    """Notes what is done with it."""

    def __init__(self) -> None:
        self.is_open = False
        self.times_opened = 0

    async def open(self) -> None:
        self.times_opened += not self.is_open
        self.is_open = True

    async def close(self) -> None:
        self.is_open = False


class Database:
    """Is away for some tries."""

    def __init__(self, away: int, error: Exception | None = None, *, silent: bool = False) -> None:
        self.away = away
        self.silent = silent
        self.error = error or DatabaseAway("postgresql://h/db: cannot be opened: refused")

    async def __call__(self, unheard: Unheard) -> str:
        if self.silent:
            await unheard("postgresql://h/db")
        self.away -= 1
        if self.away >= 0:
            raise self.error
        return "gateway"


async def open_with(
    database: Database,
    room: Room,
    *,
    stop: asyncio.Event | None = None,
    served: bool = False,
    aloud: bool = True,
) -> str | None:
    return await asyncio.wait_for(
        opened(database, room, stop or asyncio.Event(), served=lambda: served, aloud=aloud), 20
    )


async def test_a_database_that_is_there_is_not_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    room = Room()
    assert await open_with(Database(0), room) == "gateway"
    assert (room.times_opened, caplog.text) == (0, "")


async def test_callers_are_answered_while_it_is_away(caplog: pytest.LogCaptureFixture) -> None:
    room = Room()
    assert await open_with(Database(2), room) == "gateway"
    assert (room.times_opened, room.is_open) == (1, False)
    assert caplog.text.count("waits for its database: postgresql://h/db: cannot be opened: refused") == 1
    assert caplog.text.count("the database is there") == 1


async def test_a_database_that_says_nothing_is_told_before_a_try_has_failed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    room = Room()
    assert await open_with(Database(0, silent=True), room) == "gateway"
    assert (room.times_opened, room.is_open) == (1, False)
    assert caplog.text.count("waits for its database: postgresql://h/db: has not answered yet") == 1
    assert caplog.text.count("the database is there") == 1


async def test_its_silence_is_told_once_and_its_reason_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    assert await open_with(Database(2, silent=True), Room()) == "gateway"
    assert caplog.text.count("has not answered yet") == 1
    assert caplog.text.count("cannot be opened: refused") == 1


async def test_one_of_several_tells_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    assert await open_with(Database(1, silent=True), Room(), aloud=False) == "gateway"
    assert caplog.text == ""


async def test_who_starts_beside_others_that_serve_takes_no_requests() -> None:
    room = Room()
    assert await open_with(Database(2, silent=True), room, served=True) == "gateway"
    assert room.times_opened == 0


async def test_a_stop_ends_the_waiting() -> None:
    room, stop = Room(), asyncio.Event()
    asyncio.get_running_loop().call_later(0.1, stop.set)
    assert await open_with(Database(1000), room, stop=stop) is None
    assert not room.is_open


async def test_what_no_time_mends_is_raised() -> None:
    room = Room()
    with pytest.raises(DatabaseUnusable, match="newer"):
        await open_with(Database(1, DatabaseUnusable("newer")), room)
    with pytest.raises(RuntimeError):
        await open_with(Database(1, RuntimeError("broken")), room)
    assert room.times_opened == 0
