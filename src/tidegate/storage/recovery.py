"""Ends what processes that died have left open: their spool is written, their holds are settled."""

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace
from sqlalchemy import Connection, delete, func, select
from sqlalchemy.exc import SQLAlchemyError

from tidegate.exchange.ports import RequestRecord
from tidegate.storage.accounting import Accounting
from tidegate.storage.checkpoints import newest
from tidegate.storage.database import Database, DatabaseUnusable, reason
from tidegate.storage.items import REQUESTS, Release, Row, Sheet
from tidegate.storage.owners import (
    checkpoint_path,
    database_of,
    dead,
    everyone,
    forget_files,
    local,
    lock_path,
    spool_path,
)
from tidegate.storage.refuge import batches, by_table
from tidegate.storage.schema import intents, owners
from tidegate.storage.scribe import Scribe

log = logging.getLogger("tidegate.storage")

SILENT = 600
"""Seconds for which an owner on another machine may be unheard, by the database's clock."""

WATCHED = 30.0
"""Seconds for which this process must have seen an owner unheard too: a clock that jumps kills nobody."""

_UNHEARD_EVERY = 12
"""Sweeps from one look at all open requests to the next: it reads much and finds hardly anything."""

_STEP = 100

_read_record = msgspec.json.Decoder(RequestRecord).decode


class Recovery:
    """Looks for the dead. Every step can be done again, by this process or by another at the same time."""

    def __init__(
        self,
        database: Database,
        folder: Path,
        own: str,
        sheets: Sequence[Sheet],
        *,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`own` is the id of this process, `folder` where it keeps its lock and its spool."""
        self._database = database
        self._folder = folder
        self._own = own
        self._sheets = by_table(sheets)
        self._clock = clock
        self._monotonic = monotonic
        self._sweeps = 0
        self._foreign: set[str] = set()
        self._watched: dict[str, tuple[int | None, float]] = {}

    def sweep(self) -> int:
        """Recover all who are dead now and tell how many. Blocks; what fails is left for next time."""
        recovered = 0
        for owner in local(self._folder):
            if owner != self._own:
                recovered += self._tried(partial(self._recover_if_unlocked, owner))
        if self._sweeps % _UNHEARD_EVERY == 0:
            recovered += self._tried(self._recover_unheard)
        self._sweeps += 1
        return recovered

    def _tried(self, work: Callable[[], int]) -> int:
        try:
            return work()
        except (SQLAlchemyError, DatabaseUnusable, OSError) as error:
            log.warning("recovery: not finished, the next try goes on: %s", reason(error))
            return 0

    def _recover_if_unlocked(self, owner: str) -> int:
        with dead(self._folder, owner) as is_dead:
            if not is_dead or self._is_foreign(owner):
                return 0
            self._recover(owner)
            return 1

    def _is_foreign(self, owner: str) -> bool:
        """Whether a spool belongs to another database: written here, its requests would be charged here."""
        name = database_of(self._folder, owner)
        foreign = name not in ("", self._database.name)
        if foreign and owner not in self._foreign:
            self._foreign.add(owner)
            log.error(
                "recovery: %s is of the database %s and left alone; empty it to have its spool written here",
                lock_path(self._folder, owner),
                name,
            )
        return foreign

    def _recover_unheard(self) -> int:
        unheard = self._unheard()
        for owner in unheard:
            self._recover(owner)
        return len(unheard)

    def _unheard(self) -> list[str]:
        """Owners without a lock here that have been silent for long, and unknown ones that hold something."""
        with self._database.engine.connect() as connection:
            seen = {one.id: one for one in everyone(connection)}
            holding = set(connection.execute(select(intents.c.owner).distinct()).scalars())
        elsewhere = {
            owner for owner in seen.keys() | holding if not lock_path(self._folder, owner).exists()
        } - {self._own}
        now = self._monotonic()
        signs = {owner: seen[owner].seen_at if owner in seen else None for owner in elsewhere}
        before, self._watched = self._watched, {}
        for owner, sign in signs.items():
            old = before.get(owner)
            self._watched[owner] = old if old is not None and old[0] == sign else (sign, now)
        return [
            owner
            for owner, (_, since) in self._watched.items()
            if now - since >= WATCHED and (owner not in seen or seen[owner].age >= SILENT)
        ]

    def _recover(self, owner: str) -> None:
        scribe = Scribe(self._database, Accounting(owner), self._clock, _say_nothing)
        try:
            spooled = 0
            for entries in batches(spool_path(self._folder, owner), self._sheets):
                scribe.write(entries, [])
                spooled += len(entries)
            ended = self._end_all(scribe, owner)
            scribe.do(lambda connection: connection.execute(delete(owners).where(owners.c.id == owner)))
        finally:
            scribe.disconnect()
        forget_files(self._folder, owner)
        if spooled or ended:
            log.warning(
                "recovery: a process ended without a word: %d entries of its spool written,"
                " %d open requests ended",
                spooled,
                ended,
            )

    def _end_all(self, scribe: Scribe, owner: str) -> int:
        noted = newest(checkpoint_path(self._folder, owner))
        ended = 0
        while True:
            left: list[tuple[str, str, str | None, str]] = scribe.do(
                lambda connection: _some(connection, owner)
            )
            if not left:
                return ended
            records = [_newer(_record(*line), noted.get(line[0])) for line in left]
            scribe.write([Row(REQUESTS, replace(one, outcome="interrupted")) for one in records], [])
            # A row that the database refuses must not keep its hold for ever.
            scribe.write([Release(line[0], line[1]) for line in left], [])
            ended += len(left)


def leave(connection: Connection, owner: str) -> bool:
    """Take an owner out of the table; False: it holds something, so it stays for a recovery."""
    open_holds = select(func.count()).select_from(intents).where(intents.c.owner == owner)
    if connection.execute(open_holds).scalar_one():
        return False
    connection.execute(delete(owners).where(owners.c.id == owner))
    return True


def _some(connection: Connection, owner: str) -> list[tuple[str, str, str | None, str]]:
    query = select(intents.c.id, intents.c.account, intents.c.key, intents.c.record)
    found = connection.execute(query.where(intents.c.owner == owner).limit(_STEP))
    return [(row[0], row[1], row[2], row[3]) for row in found]


def _record(identifier: str, account: str, key: str | None, text: str) -> RequestRecord:
    try:
        return _read_record(text)
    except msgspec.DecodeError as error:
        log.error("recovery: the record of %s cannot be read, nothing is charged: %s", identifier, error)
        return RequestRecord(
            id=identifier,
            created_at=0.0,
            key=key,
            account=account,
            protocol="chat",
            stream=False,
            model=None,
            channel=None,
            status=500,
            outcome="interrupted",
            finish_reason=None,
            first_token_ms=None,
            duration_ms=0.0,
            input_tokens=0,
            cache_read_tokens=0,
            cache_write_tokens=0,
            output_tokens=0,
            usage_source="none",
            error_type=None,
            error_code=None,
            error_message="the gateway was killed, and what it had noted cannot be read",
            warnings=(),
            attempts=(),
        )


def _newer(one: RequestRecord, other: RequestRecord | None) -> RequestRecord:
    """The later of two checkpoints: a file may have been left from before the database came back."""
    return one if other is None or other.duration_ms < one.duration_ms else other


def _say_nothing(_connection: Connection) -> None:
    """Whoever cleans up has said elsewhere that it lives."""
