"""The database is locked, full, gone, frozen or out of connections while people use the gateway."""

import asyncio
import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import psycopg
import pytest
from tests.harness import settings
from tests.harness.books_seen import Ask as Query
from tests.harness.books_seen import in_postgres, in_sqlite, read_books
from tests.harness.chaos import by_hand, kill_everything, locked, stopped, verified
from tests.harness.client import fetch
from tests.harness.crowd import FRESH, PRICE, Ask, Caller, Seen, cost, send
from tests.harness.dialects import CHAT, RESPONSES, SIDES, Side
from tests.harness.gateway import Gateway, free_port
from tests.harness.postgres_server import PostgresServer
from tests.harness.simulated import Simulated

PREPAID = Caller("acme", settings.KEY, prepaid=True)
POSTPAID = Caller("globex", settings.OTHER_KEY, prepaid=False)
OPENING = 100 * 10**9
ANSWERED = 2.5
"""Seconds in which everybody gets an answer, whatever the database does."""
ROOM = 0.7
"""Seconds by which a busy machine may be late."""

Trouble = Callable[[], AbstractContextManager[None]]


@dataclass
class Scene:
    """A gateway on a database, and the requests of both accounts."""

    folder: Path
    config: settings.Config
    query: Query
    gateway: Gateway
    seen: list[Seen] = field(default_factory=list)

    def again(self) -> None:
        self.gateway = Gateway(self.config, self.folder).wait_ready()

    async def send(
        self, caller: Caller, side: Side = CHAT, *, words: int = 10, rate: int = 40, stream: bool = True
    ) -> Seen:
        ask = Ask(caller=caller, side=side, channel=side.tag, stream=stream, words=words, rate=rate)
        seen = await send(self.gateway, ask)
        self.seen.append(seen)
        return seen

    async def crowd(self, until: Callable[[], bool]) -> list[tuple[Seen, float]]:
        """Requests of both, in all protocols, one after another; with the moment of each answer's head."""
        heads: list[tuple[Seen, float]] = []

        async def client(caller: Caller, side: Side) -> None:
            while not until():
                seen = await self.send(caller, side, stream=side is not RESPONSES)
                assert seen.reply is not None, seen.trouble
                heads.append((seen, seen.sent_at + seen.head_took))
                if seen.status != 200:
                    await asyncio.sleep(0.1)

        await asyncio.gather(*(client(caller, side) for caller in (PREPAID, POSTPAID) for side in SIDES))
        return heads

    async def ready(self, status: int, within: float) -> None:
        deadline = time.monotonic() + within
        while (reply := await fetch(self.gateway.port, "GET", "/readyz")).status != status:
            assert time.monotonic() < deadline, f"/readyz is {reply.status} after {within} s"
            await asyncio.sleep(0.05)
        assert reply.json()["database"] == ("ok" if status == 200 else "unreachable")

    async def through(self, trouble: Trouble, seconds: float, *, sometimes: bool = False) -> None:
        """A crowd before, during and after; nobody waits, nobody rides free, and open streams go on.

        `sometimes`: the database can still be written now and then, and who is let in then pays for it.
        """
        over = False
        open_streams = [asyncio.create_task(self.send(one, words=40, rate=20)) for one in (PREPAID, POSTPAID)]
        await asyncio.sleep(0.4)
        context = trouble()
        await by_hand(context.__enter__)
        began = time.monotonic()
        crowd = asyncio.create_task(self.crowd(lambda: over))
        try:
            await self.ready(503, 4.0)
            await asyncio.sleep(began + seconds - time.monotonic())
            ended = time.monotonic()
        finally:
            over = True
            await by_hand(lambda: context.__exit__(None, None, None))
        for stream in open_streams:
            assert (await stream).whole, "a stream was cut"
        self.judge(await crowd, ended, sometimes=sometimes)
        await self.ready(200, 15.0)
        for one in (PREPAID, POSTPAID):
            assert (await self.send(one)).whole

    def judge(self, heads: list[tuple[Seen, float]], ended: float, *, sometimes: bool) -> None:
        during = [seen for seen, head in heads if head < ended]
        prepaid = [
            seen for seen in during if seen.ask.caller.prepaid and not (sometimes and seen.status == 200)
        ]
        postpaid = [seen for seen in during if not seen.ask.caller.prepaid]
        assert len(prepaid) > 1
        assert len(postpaid) > 1
        for seen in prepaid:
            assert seen.reply is not None
            assert seen.status == 503, "a free ride"
            assert int(seen.reply.header("retry-after") or "0") >= 1
            if seen.ask.side is not SIDES[2]:
                assert seen.reply.json()["error"]["code"] == "accounting_unavailable"
        assert all(seen.whole for seen in postpaid)
        waits = [seen.head_took for seen in (*prepaid, *(one for one in postpaid if one.ask.stream))]
        assert max(waits) < ANSWERED + ROOM, sorted(waits)[-5:]

    def settled(self) -> None:
        """The gateway ends; its books hold every answer once, and nothing else."""
        self.gateway.stop()
        verified(self.gateway)
        books = read_books(self.query)
        assert books.intents == []
        good = [seen for seen in self.seen if seen.status == 200]
        for seen in good:
            row = books.rows[seen.id]
            told = (row.outcome, row.input, row.output, row.cost)
            assert told == ("completed", FRESH, seen.ask.words, cost(seen.ask.words)), row
        assert {row.id for row in books.rows.values()} >= {seen.id for seen in self.seen if seen.reply}
        for caller, opening in ((PREPAID, OPENING), (POSTPAID, 0)):
            spent = sum(cost(seen.ask.words) for seen in good if seen.ask.caller is caller)
            assert books.balances[caller.account] == (opening - spent, 0)
        assert not list(self.folder.glob("*spool/*.spool"))


@pytest.fixture
def simulated(tmp_path: Path) -> Iterator[Simulated]:
    running = Simulated(tmp_path)
    yield running
    running.stop()


def config_for(folder: Path, simulated: Simulated, database: str) -> settings.Config:
    config = settings.server(free_port(), str(folder)) | {"database": {"url": database}}
    config["accounts"] = [{"name": "acme", "balance": "100"}, {"name": "globex"}]
    for tag in ("chat", "resp", "msgs"):
        config["channels"].append(settings.channel(tag, tag, simulated.base, [f"sim{tag}*"]))
        config["models"].append({"name": f"sim{tag}*", "price": PRICE})
    return config


@pytest.fixture
def scene(tmp_path: Path, simulated: Simulated) -> Iterator[Scene]:
    """On SQLite."""
    path = tmp_path / "tidegate.db"
    config = config_for(tmp_path, simulated, f"sqlite:///{path}")
    scene = Scene(tmp_path, config, in_sqlite(path), Gateway(config, tmp_path).wait_ready())
    yield scene
    scene.gateway.stop()


@pytest.fixture
def served(tmp_path: Path, simulated: Simulated, postgres: PostgresServer) -> Iterator[Scene]:
    """On PostgreSQL."""
    name = postgres.fresh()
    config = config_for(tmp_path, simulated, postgres.url(name))
    scene = Scene(tmp_path, config, in_postgres(postgres, name), Gateway(config, tmp_path).wait_ready())
    yield scene
    scene.gateway.stop()
    postgres.start()
    postgres.drop(name)


async def test_a_locked_file(scene: Scene) -> None:
    await scene.through(lambda: locked(scene.folder / "tidegate.db"), 3.0)
    scene.settled()


@contextmanager
def full(gateway: Gateway, size: int) -> Iterator[None]:
    """No file of the gateway can grow beyond `size` bytes."""
    _, most = resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE, (size, most))
    try:
        yield
    finally:
        resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE, (most, most))


async def test_a_full_disk_that_has_room_for_the_spool(scene: Scene) -> None:
    size = (scene.folder / "tidegate.db-wal").stat().st_size
    await scene.through(lambda: full(scene.gateway, size), 3.0, sometimes=True)
    scene.settled()


async def test_a_disk_that_takes_nothing_at_all(scene: Scene) -> None:
    await scene.through(lambda: full(scene.gateway, 1), 3.0)
    scene.settled()


async def test_a_removed_file(scene: Scene) -> None:
    assert (await scene.send(PREPAID)).whole
    open_streams = [asyncio.create_task(scene.send(one, words=30, rate=20)) for one in (PREPAID, POSTPAID)]
    await asyncio.sleep(0.5)
    for path in scene.folder.glob("tidegate.db*"):
        with suppress(IsADirectoryError):
            path.unlink()
    scene.seen.clear()  # went with the file
    ends_at = time.monotonic() + 2.0
    heads = await scene.crowd(lambda: time.monotonic() > ends_at)
    assert all(seen.whole for seen, _ in heads)
    for stream in open_streams:
        assert (await stream).whole
    scene.settled()


@contextmanager
def crowded(server: PostgresServer) -> Iterator[None]:
    """Others take every connection that the gateway had or could have."""
    with ExitStack() as stack:
        first = stack.enter_context(psycopg.connect(server.socket_url("postgres"), autocommit=True))
        for _ in range(10):
            first.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname IS NOT NULL AND datname <> 'postgres'"
            )
            with suppress(psycopg.OperationalError):
                while True:
                    stack.enter_context(psycopg.connect(server.socket_url("postgres"), connect_timeout=5))
        yield


async def test_a_frozen_server(served: Scene, postgres: PostgresServer) -> None:
    await served.through(postgres.frozen, 3.0)
    served.settled()


async def test_a_stopped_server(served: Scene, postgres: PostgresServer) -> None:
    await served.through(partial(stopped, postgres, signal.SIGQUIT), 3.0)
    served.settled()


async def test_a_server_without_a_free_connection(served: Scene, postgres: PostgresServer) -> None:
    await served.through(partial(crowded, postgres), 3.0)
    served.settled()


async def test_a_killed_gateway_whose_database_is_away_has_lost_nothing(
    served: Scene, postgres: PostgresServer
) -> None:
    await asyncio.gather(*(served.send(one, side) for one in (PREPAID, POSTPAID) for side in SIDES))
    postgres.stop(signal.SIGQUIT)
    await served.ready(503, 4.0)
    await asyncio.gather(*(served.send(POSTPAID, side) for side in SIDES for _ in range(5)))
    await asyncio.sleep(1.0)
    kill_everything(served.gateway)
    assert list(served.folder.glob("*spool/*.spool"))
    postgres.start()
    served.again()
    served.settled()


async def test_a_gateway_that_is_stopped_while_its_database_is_away_ends_in_order(
    served: Scene, postgres: PostgresServer
) -> None:
    await asyncio.gather(*(served.send(one, side) for one in (PREPAID, POSTPAID) for side in SIDES))
    open_streams = [asyncio.create_task(served.send(one, words=40, rate=20)) for one in (PREPAID, POSTPAID)]
    await asyncio.sleep(0.5)
    postgres.stop(signal.SIGQUIT)
    await served.ready(503, 4.0)
    served.gateway.signal(signal.SIGTERM)
    for stream in open_streams:
        assert (await stream).whole
    assert await asyncio.to_thread(served.gateway.exit_code, 15) == 0
    postgres.start()
    served.again()
    served.settled()
