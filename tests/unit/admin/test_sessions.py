import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine

from tidegate.admin import sessions as module
from tidegate.admin.operators import ADMIN, Operators
from tidegate.admin.session_ids import SessionIds, digest
from tidegate.admin.sessions import SEEN_EVERY, STALE, TRUSTED, Lifetimes, Sessions, SignedIn
from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.core.secret import Secret
from tidegate.storage import sessions as stored
from tidegate.storage.schema import admin_sessions
from tidegate.storage.sessions import Session

IDS = SessionIds(Secret("own"))
OPERATORS = Operators({ADMIN: Secret("token-one"), "alice": Secret("token-of-alice")})
LIFETIMES = Lifetimes(idle=3_600.0, absolute=86_400.0)


class Store:
    """A database of its own, which can be away."""

    def __init__(self) -> None:
        self.connection: Connection = create_engine("sqlite://").connect()
        admin_sessions.create(self.connection)
        self.away = False
        self.hangs = False
        self.looks = 0

    async def find(self, digest: str) -> Session | None:
        await self._check()
        self.looks += 1
        return stored.find(self.connection, digest)

    async def write(self, task: Callable[[Any], Any]) -> Any:
        await self._check()
        return task(self.connection)

    async def _check(self) -> None:
        if self.hangs:
            await asyncio.sleep(60)
        if self.away:
            raise TidegateError(Failure(kind=Kind.INTERNAL, message="away"))


class Worker:
    """One process; several may have the same store."""

    def __init__(self, store: Store, times: "Times") -> None:
        self.sessions = Sessions(store, IDS, LIFETIMES, lambda: times.now, lambda: times.now)

    async def sign_in(self, operator: str = "admin") -> SignedIn:
        return await self.sessions.open(operator, OPERATORS, lambda _connection: None)

    async def operator(self, identifier: str, operators: Operators = OPERATORS) -> str | None:
        found = await self.sessions.find(identifier, operators)
        return None if found is None else found.operator


class Times:
    def __init__(self) -> None:
        self.now = 1_000_000.0


@pytest.fixture
def times() -> Times:
    return Times()


@pytest.fixture
def store() -> Store:
    return Store()


async def test_a_session_holds_on_every_worker_and_ends_on_every_worker(store: Store, times: Times) -> None:
    here, there = Worker(store, times), Worker(store, times)
    opened = await here.sign_in("alice")
    assert opened.expires_at == times.now + 3_600
    assert await there.operator(opened.id) == "alice"
    done: list[object] = []
    await here.sessions.close(opened.id, done.append)
    assert len(done) == 1
    assert await here.operator(opened.id) is None
    times.now += TRUSTED
    assert await there.operator(opened.id) is None
    await there.sessions.close(opened.id, done.append)
    assert len(done) == 1


async def test_only_a_hash_is_stored(store: Store, times: Times) -> None:
    opened = await Worker(store, times).sign_in()
    row = stored.find(store.connection, digest(opened.id))
    assert row is not None
    assert opened.id not in str(row)
    assert "token-one" not in str(row)
    assert opened.id not in repr(opened)


async def test_it_ends_without_use_and_in_any_case(store: Store, times: Times) -> None:
    here = Worker(store, times)
    idle, used = await here.sign_in(), await here.sign_in()
    for _ in range(24):
        times.now += 3_599
        assert await here.operator(used.id) == "admin"
    assert await here.operator(idle.id) is None
    times.now = 1_000_000 + 86_400
    assert await here.operator(used.id) is None


async def test_use_is_noted_now_and_then_and_known_elsewhere(store: Store, times: Times) -> None:
    here, there = Worker(store, times), Worker(store, times)
    opened = await here.sign_in()
    times.now += SEEN_EVERY
    await here.operator(opened.id)
    row = stored.find(store.connection, digest(opened.id))
    assert row is not None
    assert row.seen_at == times.now
    times.now += 3_500
    assert await there.operator(opened.id) == "admin"


async def test_it_ends_with_its_token(store: Store, times: Times) -> None:
    here = Worker(store, times)
    opened = await here.sign_in("alice")
    changed = Operators({ADMIN: Secret("token-one"), "alice": Secret("another-token")})
    gone = Operators({ADMIN: Secret("token-one")})
    assert await here.operator(opened.id, changed) is None
    assert await here.operator(opened.id, gone) is None
    assert await here.operator(opened.id) == "alice"


async def test_a_known_session_goes_on_while_the_database_is_away(
    store: Store, times: Times, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.01)
    here, there = Worker(store, times), Worker(store, times)
    opened = await here.sign_in()
    for trouble in ("away", "hangs"):
        setattr(store, trouble, True)
        times.now += SEEN_EVERY
        assert await here.operator(opened.id) == "admin"
        with pytest.raises(TidegateError):
            await there.sessions.find(opened.id, OPERATORS)
        setattr(store, trouble, False)
    store.away = True
    with pytest.raises(TidegateError):
        await here.sessions.close(opened.id, lambda _connection: None)
    times.now += 3_600
    with pytest.raises(TidegateError):  # given up here: it does not come back by itself
        await here.operator(opened.id)


async def test_one_that_ended_elsewhere_does_not_come_back_with_the_database_away(
    store: Store, times: Times
) -> None:
    here, there = Worker(store, times), Worker(store, times)
    opened = await here.sign_in()
    assert await there.operator(opened.id) == "admin"
    await here.sessions.close(opened.id, lambda _connection: None)
    times.now += STALE + 1
    store.away = True
    with pytest.raises(TidegateError):
        await there.operator(opened.id)


@pytest.mark.parametrize("before", ["\udcff\udcfe", "x", "y" * 64])
async def test_a_cookie_of_somebody_else_s_making_hinders_no_sign_in(
    store: Store, times: Times, before: str
) -> None:
    here = Worker(store, times)
    opened = await here.sessions.open("admin", OPERATORS, lambda _connection: None, instead_of=before)
    assert await here.operator(opened.id) == "admin"


async def test_a_made_up_id_asks_nobody(store: Store, times: Times) -> None:
    here = Worker(store, times)
    for garbage in ("", "x" * 64, SessionIds(Secret("other")).new(), "é" * 64):
        assert await here.operator(garbage) is None
    assert store.looks == 0
    assert await here.operator(IDS.new()) is None
    assert store.looks == 1


async def test_who_signs_in_sweeps_what_has_expired(store: Store, times: Times) -> None:
    here = Worker(store, times)
    old = await here.sign_in()
    times.now += 4_000
    await here.sign_in()
    assert stored.find(store.connection, digest(old.id)) is None


async def test_many_sessions_take_no_more_memory(store: Store, times: Times) -> None:
    here = Worker(store, times)
    first = await here.sign_in()
    for _ in range(1_100):
        await here.sign_in()
    assert len(here.sessions._known) == 1_000
    assert await here.operator(first.id) == "admin"
