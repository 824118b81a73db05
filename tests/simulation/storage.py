"""Plays the process's side of the storage: batches, delays, failures, a database that is away, the spool."""

import asyncio
from collections.abc import Sequence
from random import Random

from tests.simulation.disk import Checkpoint, Disk, Entry
from tests.simulation.life import Life
from tests.simulation.trace import Trace
from tests.simulation.troubles import Troubles

from tidegate.exchange.ports import Intent, RequestRecord
from tidegate.ledger.entries import Answer, Granted, Unavailable

PATIENCE = 3.0
"""Seconds after which a hold is answered whatever the database does."""
_BACKOFF = 0.2


class PlayedStorage:
    """Implements `Journal` and `Books`. What is not on the disk when the process is killed is lost."""

    def __init__(self, life: Life, trace: Trace, disk: Disk, troubles: Troubles, chance: Random) -> None:
        self.written: list[RequestRecord] = []
        self._life = life
        self._trace = trace
        self._disk = disk
        self._troubles = troubles
        self._chance = chance
        self._queue: list[Entry] = []
        self._answers: dict[str, asyncio.Future[Answer]] = {}
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    def write(self, record: RequestRecord) -> None:
        """See `Journal`."""
        if self._life.effect():
            self._trace.note("row %s: %s %d, costs %d", record.id, record.outcome, record.status, record.cost)
            self.written.append(record)
            self._put(record)

    async def hold(self, intent: Intent) -> Answer:
        """See `Books`."""
        request = intent.record.id
        self._trace.note("hold %s: %d, at least %d", request, intent.amount, intent.least)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._answers[request] = answer
        self._put(intent)
        try:
            async with asyncio.timeout(PATIENCE):  # wait_for would swallow a cancellation beside the answer
                return await answer
        except TimeoutError:
            return self._grant_on_trust(intent)
        finally:
            del self._answers[request]

    def _grant_on_trust(self, intent: Intent) -> Answer:
        """The database does not answer: what is not paid in advance goes on, with its intent in the spool."""
        if intent.prepaid or intent.budgets or not self._life.effect():
            return Unavailable("the database does not answer", 5.0)
        self._disk.put_in_spool(intent)
        self._trace.note("hold %s: granted on trust", intent.record.id)
        return Granted(intent.amount)

    def checkpoint(self, records: Sequence[RequestRecord]) -> None:
        """See `Books`."""
        for record in records:
            self._trace.note(
                "checkpoint %s: %d tokens, costs %d", record.id, record.output_tokens, record.cost
            )
            self._put(Checkpoint(record))

    async def start(self) -> None:
        """What was left open ends as its last checkpoint says."""
        now = asyncio.get_running_loop().time()
        for record in self._disk.left(now):
            if not self._life.effect():
                return
            self._disk.commit([record], now)
            self._trace.note(
                "recovered %s: %d tokens, costs %d", record.id, record.output_tokens, record.cost
            )

    async def run(self) -> None:
        """The writer."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await asyncio.sleep(self._chance.choice(self._troubles.windows))
            batch, self._queue = self._queue, []
            if batch or self._disk.spool:
                await self._commit(batch)
            if not self._queue and not self._disk.spool:
                self._idle.set()

    async def clean_up_beside(self) -> None:
        """There is no other worker."""

    def let_go(self) -> None:
        """The process has ended."""

    async def flush(self) -> None:
        """Everything is in the database."""
        await self._idle.wait()

    def _put(self, entry: Entry) -> None:
        self._queue.append(entry)
        self._idle.clear()
        self._wake.set()

    async def _commit(self, batch: list[Entry]) -> None:
        loop = asyncio.get_running_loop()
        while True:
            if self._troubles.is_away(loop.time()):
                self._spool(batch)
                await asyncio.sleep(_BACKOFF)
                self._wake.set()
                return
            if self._chance.random() >= self._troubles.fails:
                if not self._life.effect():
                    return
                self._disk.empty_spool(loop.time())
                answers = self._disk.commit(batch, loop.time())
                if not self._life.effect():
                    return
                if self._chance.random() >= self._troubles.loses_answers:
                    self._tell([entry for entry in batch if isinstance(entry, Intent)], answers)
                    return
                self._trace.note("the database does not say that it has committed")
            await asyncio.sleep(_BACKOFF)

    def _spool(self, batch: list[Entry]) -> None:
        """Every entry is a write of its own; a prepaid hold is refused."""
        for entry in batch:
            if isinstance(entry, Intent) and (entry.prepaid or entry.budgets):
                self._tell([entry], [Unavailable("the database is away", 5.0)])
                continue
            if not self._life.effect():
                return
            self._disk.put_in_spool(entry)
            if isinstance(entry, Intent):
                self._tell([entry], [Granted(entry.amount)])

    def _tell(self, intents: list[Intent], answers: Sequence[Answer]) -> None:
        for intent, answer in zip(intents, answers, strict=True):
            self._trace.note("hold %s: %r", intent.record.id, answer)
            waiting = self._answers.get(intent.record.id)
            if waiting is not None and not waiting.done():
                waiting.set_result(answer)
