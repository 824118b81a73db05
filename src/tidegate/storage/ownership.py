"""Remembers whose a stored response is, and which channel group holds it."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Executor

from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.storage.database import Database, reason
from tidegate.storage.items import Sheet
from tidegate.storage.pages import storable
from tidegate.storage.schema import owned_ids
from tidegate.storage.writer import Writer

KEPT_SECONDS = 30 * 86_400
"""As long as the providers keep a stored response."""

SECOND_LOOK = 0.15
"""Seconds after which another worker's batch has surely come, if it was on its way."""

_REMEMBERED = 20_000
_LONGEST_ID = 1_024  # bytes; the index takes 2,700 with the account


class _Owned(Struct, frozen=True):
    id: str
    account: str
    group: str
    expires_at: int


def _encode(owned: _Owned) -> tuple[object, ...]:
    return (owned.id, owned.account, owned.group, owned.expires_at)


def _mended(owned: _Owned) -> _Owned:
    identifier, account, group = (
        text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
        for text in (owned.id, owned.account, owned.group)
    )
    return _Owned(identifier, account, group, owned.expires_at)


OWNED_IDS = Sheet(
    table=owned_ids.name,
    columns=("id", "account", "channel_group", "expires_at"),
    on_conflict="(id, account) DO UPDATE"
    " SET channel_group = excluded.channel_group, expires_at = excluded.expires_at",
    encode=_encode,
    mend=_mended,
    distinct=2,
)


def _keepable(identifier: str) -> bool:
    return storable(identifier) and 0 < len(identifier.encode()) <= _LONGEST_ID


class RememberedOwnership:
    """The ownership port: this process's newest ids in memory, all of the last 30 days in the database."""

    def __init__(
        self,
        database: Database,
        writer: Writer,
        threads: Executor,
        *,
        clock: Callable[[], float] = time.time,
        second_look: float = SECOND_LOOK,
        remembered: int = _REMEMBERED,
    ) -> None:
        self._database = database
        self._writer = writer
        self._threads = threads
        self._clock = clock
        self._second_look = second_look
        self._bound = remembered
        self._newest: OrderedDict[tuple[str, str], _Owned] = OrderedDict()

    def remember(self, ids: Iterable[str], account: str, group: str) -> None:
        """Note ids of a stored answer; visible at once here, and to other workers with the next batch."""
        expires_at = int(self._clock()) + KEPT_SECONDS
        for identifier in ids:
            if _keepable(identifier):
                owned = _Owned(identifier, account, group, expires_at)
                self._keep(owned)
                self._writer.put(OWNED_IDS, owned)

    def _keep(self, owned: _Owned) -> None:
        place = (owned.id, owned.account)
        self._newest[place] = owned
        self._newest.move_to_end(place)
        while len(self._newest) > self._bound:
            self._newest.popitem(last=False)

    async def find(self, identifier: str, account: str) -> str | None:
        """The group that holds `identifier` if it is this account's, else None.

        A database that cannot be read raises TidegateError: "not found" would be a lie then.
        """
        owned = self._newest.get((identifier, account))
        if owned is not None and owned.expires_at > self._clock():
            return owned.group
        if not _keepable(identifier):
            return None
        group = await self._look_up(identifier, account)
        if group is None:
            await asyncio.sleep(self._second_look)
            group = await self._look_up(identifier, account)
        return group

    async def _look_up(self, identifier: str, account: str) -> str | None:
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, self._select, identifier, account)
        except SQLAlchemyError as error:
            raise TidegateError(
                Failure(
                    kind=Kind.INTERNAL,
                    message="the gateway could not look up the stored response",
                    detail=reason(error),
                )
            ) from error

    def _select(self, identifier: str, account: str) -> str | None:
        query = select(owned_ids.c.channel_group).where(
            owned_ids.c.id == identifier,
            owned_ids.c.account == account,
            owned_ids.c.expires_at > int(self._clock()),
        )
        with self._database.connect_reader() as connection:
            group: str | None = connection.execute(query).scalar()
            return group
