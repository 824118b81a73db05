"""The real storage on a database file: its writer is stepped by the virtual loop, its commits can fail."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError
from tests.simulation.life import Killed, Life
from tests.simulation.real_disk import RealDisk
from tests.simulation.trace import Trace
from tests.simulation.troubles import Troubles

from tidegate.exchange.ports import Intent, RequestRecord
from tidegate.ledger.entries import Answer, Granted
from tidegate.storage.accounting import Accounting
from tidegate.storage.batches import Batches
from tidegate.storage.books import DatabaseBooks
from tidegate.storage.database import Database
from tidegate.storage.journal import BatchedJournal
from tidegate.storage.owners import Owner, local
from tidegate.storage.probe import Probe
from tidegate.storage.recovery import Recovery
from tidegate.storage.refuge import Refuge
from tidegate.storage.scribe import Scribe
from tidegate.storage.spool import Kept, Spool, frame
from tidegate.storage.waiting import Waiting
from tidegate.storage.watch import PATIENCE, Watch
from tidegate.storage.writer import BOUND, Writer

_LOOK_AGAIN = 0.25
_TEND_EVERY = 5.0


class RealStorage:
    """`Journal` and `Books` as the gateway has them."""

    def __init__(
        self,
        life: Life,
        trace: Trace,
        disk: RealDisk,
        troubles: Troubles,
        chance: Random,
        wall: Callable[[], float],
    ) -> None:
        """`wall` tells Unix seconds."""
        folder = disk.spool
        self.written: list[RequestRecord] = []
        self._life = life
        self._trace = trace
        self._wall = wall
        self._disk = disk
        self._troubles = troubles
        self._chance = chance
        self._database = database = _PlayedDatabase(disk.url, self._is_away)
        self._play_commits(database)
        self._owner = Owner(folder)
        refuge = Refuge(folder, self._owner.id, ())
        self._refuge = refuge
        refuge._spool = _PlayedSpool(refuge._spool.path, life, chance)
        self._waiting = _Waiting()
        scribe = Scribe(database, Accounting(self._owner.id), wall, self._owner.say_so)
        self._batches = Batches(self._waiting, scribe, refuge, self._probe)
        self._scribe = scribe
        self._watch = _SteppedWatch(self._waiting, self._batches, refuge)
        self._writer = _SteppedWriter(self._waiting, self._batches, refuge)
        self._books = DatabaseBooks(self._writer, wall)
        self._journal = BatchedJournal(self._writer)
        self._recovery = Recovery(database, folder, self._owner.id, (), clock=wall, monotonic=trace.now)

    def write(self, record: RequestRecord) -> None:
        """See `Journal`."""
        if self._life.effect():
            self._trace.note("row %s: %s %d, costs %d", record.id, record.outcome, record.status, record.cost)
            self.written.append(record)
            self._journal.write(record)

    async def hold(self, intent: Intent) -> Answer:
        """See `Books`."""
        request = intent.record.id
        self._trace.note("hold %s: %d, at least %d", request, intent.amount, intent.least)
        answer = await self._books.hold(intent)
        self._trace.note("hold %s: %r", request, answer)
        if isinstance(answer, Granted) and not self._disk.knows(request):
            self._trace.breach(f"{request}: granted, but a kill would lose it")
        return answer

    def checkpoint(self, records: Sequence[RequestRecord]) -> None:
        """See `Books`."""
        for record in records:
            self._trace.note(
                "checkpoint %s: %d tokens, costs %d", record.id, record.output_tokens, record.cost
            )
        self._books.checkpoint(records)

    async def start(self) -> None:
        """End what the dead left open."""
        self._sweep()

    async def run(self) -> None:
        """The writer's thread, and the looks for the dead now and then."""
        loop = asyncio.get_running_loop()
        tended_at = loop.time()
        while self._life.killed_at is None:
            await self._waiting.nudged(_LOOK_AGAIN if self._batches.away else _TEND_EVERY)
            window = self._chance.choice(self._troubles.windows)
            try:
                while window > PATIENCE:  # the database hangs: another thread looks after what waits
                    await asyncio.sleep(PATIENCE)
                    window -= PATIENCE
                    self._watch.save(self._refuge)
                await asyncio.sleep(window)
                self._batches._work()
            except Killed:
                return
            if loop.time() >= tended_at + _TEND_EVERY and not self._batches.away:
                tended_at = loop.time()
                self._sweep()

    async def flush(self) -> None:
        """Everything is in the database, also what the dead have left."""
        await self._writer.flush()
        while self._writer.spooled and self._life.killed_at is None:
            await asyncio.sleep(_LOOK_AGAIN)
        living = sorted((self._disk.peer.id, self._owner.id))
        while local(self._disk.spool) != living and self._life.killed_at is None:
            await asyncio.sleep(_LOOK_AGAIN)
            self._sweep()

    async def clean_up_beside(self) -> None:
        """What the other worker does: it ends what the dead left, and never what this process has open."""
        database = Database(self._disk.url, busy_seconds=0.0)
        peer = Recovery(
            database, self._disk.spool, self._disk.peer.id, (), clock=self._wall, monotonic=self._trace.now
        )
        try:
            while True:
                await asyncio.sleep(self._chance.uniform(0.1, 4.0))
                if not self._is_away() and (found := peer.sweep()):
                    self._trace.note("the other worker recovered what %d processes have left", found)
        finally:
            database.close()

    def let_go(self) -> None:
        """What the kernel does when the process ends."""
        self._scribe.disconnect()
        self._database.close()
        self._owner.close()

    def _sweep(self) -> None:
        try:
            found = self._recovery.sweep()
        except Killed:
            return
        if found:
            self._trace.note("recovered what %d processes have left", found)

    def _is_away(self) -> bool:
        return self._troubles.is_away(self._trace.clock())

    def _probe(self, tell: Callable[[], None]) -> Probe:
        return _PlayedProbe(self._is_away, tell)

    def _play_commits(self, database: Database) -> None:
        """Each commit can fail, can be the last thing, and can succeed without a word."""
        dialect = database.engine.dialect
        commit = dialect.do_commit

        def played(connection: Any) -> None:
            if not self._life.effect():
                raise Killed
            if self._is_away() or self._chance.random() < self._troubles.fails:
                self._trace.note("a commit fails")
                raise sqlite3.OperationalError("disk I/O error")
            commit(connection)
            self._trace.note("a commit")
            if not self._life.effect():
                raise Killed
            if self._chance.random() < self._troubles.loses_answers:
                self._trace.note("the database does not say that it has committed")
                raise sqlite3.OperationalError("disk I/O error after the commit")

        dialect.do_commit = played  # type: ignore[method-assign,assignment]


class _PlayedDatabase(Database):
    """Nobody can connect while it is away."""

    def __init__(self, url: str, is_away: Callable[[], bool]) -> None:
        super().__init__(url, busy_seconds=0.0)
        self._away = is_away

    def connect_writer(self) -> Connection:
        if self._away():
            raise OperationalError("connect", None, sqlite3.OperationalError("unable to open database file"))
        return super().connect_writer()


class _PlayedSpool(Spool):
    """A kill may come before, after, and in the middle of a write."""

    def __init__(self, path: Any, life: Life, chance: Random) -> None:
        super().__init__(path)
        self._life = life
        self._chance = chance

    def add(self, entries: Sequence[Kept]) -> None:
        if not self._life.effect():
            whole = b"".join(map(frame, entries))
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                file.write(whole[: self._chance.randrange(len(whole) + 1)])
            raise Killed
        super().add(entries)
        if not self._life.effect():
            raise Killed


class _Waiting(Waiting):
    """Wakes a task instead of a thread."""

    def __init__(self) -> None:
        super().__init__(0.0)
        self._event = asyncio.Event()

    def nudge(self) -> None:
        self._event.set()

    def rush(self) -> None:
        self._event.set()

    async def nudged(self, longest: float) -> None:
        """Return when something has come, or after so many seconds."""
        try:
            async with asyncio.timeout(longest):
                await self._event.wait()
        except TimeoutError:
            return
        self._event.clear()


class _SteppedWriter(Writer):
    """The writer without its thread."""

    def __init__(self, waiting: Waiting, batches: Batches, refuge: Refuge) -> None:
        self._bound = BOUND
        self._refuge = refuge
        self._refused = 0
        self._waiting = waiting
        self._batches = batches


class _SteppedWatch(Watch):
    """The watch without its thread."""

    def __init__(self, waiting: Waiting, batches: Batches, refuge: Refuge) -> None:
        self._waiting = waiting
        self._batches = batches
        self._refuge = refuge
        self._kept = ()
        self._noted = ()
        self._stopping = threading.Event()


class _PlayedProbe(Probe):
    """Looks on the virtual clock."""

    def __init__(self, is_away: Callable[[], bool], tell: Callable[[], None]) -> None:
        self._is_away = is_away
        self._tell = tell
        self._found = False
        self._loop = asyncio.get_running_loop()
        self._loop.call_later(_LOOK_AGAIN, self._look)

    @property
    def succeeded(self) -> bool:
        return self._found

    def stop(self) -> None:
        """The process ends."""

    def _look(self) -> None:
        if self._is_away():
            self._loop.call_later(_LOOK_AGAIN, self._look)
        else:
            self._found = True
            self._tell()
