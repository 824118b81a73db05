"""Signs operators in and out, and knows who is signed in even while the database is away."""

import asyncio
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from msgspec import Struct, structs

from tidegate.admin.operators import Operators
from tidegate.admin.session_ids import SessionIds, digest
from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.storage import sessions as stored
from tidegate.storage.sessions import Session

log = logging.getLogger("tidegate.admin")

TRUSTED = 1.0
"""Seconds for which a session is not looked up again: so long after a sign-out elsewhere it may go on."""
PATIENCE = 2.0
"""Seconds that a look-up may take before the database counts as away."""
SEEN_EVERY = 300.0
"""Seconds between two notes that a session is in use."""
STALE = 900.0
"""Seconds after which a session is not gone on with while the database is away: it may be over since."""
_MOST_KNOWN = 1000

Now = Callable[[], float]


class Lifetimes(Struct, frozen=True):
    """Seconds after which a session ends: without a request, and in any case."""

    idle: float = 12 * 3600.0
    absolute: float = 7 * 86_400.0


class Store(Protocol):
    """Where sessions are kept. A database that is away raises TidegateError."""

    async def find(self, digest: str) -> Session | None:
        """The session with this digest."""

    async def write(self, task: Callable[[Any], Any]) -> Any:
        """Do something of `storage.sessions` in a transaction."""


class SignedIn(Struct, frozen=True):
    """A session in use; `id` is what its cookie holds, `expires_at` Unix seconds."""

    id: str
    operator: str
    expires_at: float

    def __repr__(self) -> str:
        return f"SignedIn({self.operator})"


class _Known(Struct, frozen=True):
    session: Session
    looked_at: float
    """Monotonic seconds"""


class Sessions:
    """The sessions of one process."""

    def __init__(
        self,
        store: Store,
        ids: SessionIds,
        lifetimes: Lifetimes,
        wall: Now = time.time,
        clock: Now = time.monotonic,
    ) -> None:
        self._store = store
        self._ids = ids
        self.lifetimes = lifetimes
        self._wall = wall
        self._clock = clock
        self._known: dict[str, _Known] = {}

    async def open(
        self,
        operator: str,
        operators: Operators,
        also: Callable[[Any], None],
        instead_of: str | None = None,
    ) -> SignedIn:
        """Sign an operator in; `also` is done in the same transaction. Raises TidegateError.

        `instead_of` is the id that the browser had before; that session ends.
        """
        if instead_of is not None and not self._ids.is_ours(instead_of):
            instead_of = None
        identifier, now = self._ids.new(), self._wall()
        proof = operators.proof(operator, identifier)
        if proof is None:
            raise ValueError("there is no such operator")
        session = Session(
            digest=digest(identifier), operator=operator, proof=proof, created_at=now, seen_at=now
        )

        def task(connection: Any) -> None:
            self._sweep(connection, now)
            if instead_of is not None:
                stored.remove(connection, digest(instead_of))
            stored.add(connection, session)
            also(connection)

        await self._store.write(task)
        if instead_of is not None:
            self._known.pop(digest(instead_of), None)
        self._keep(session)
        return self._signed_in(identifier, session)

    async def find(self, identifier: str, operators: Operators) -> SignedIn | None:
        """The session of a cookie, if it is still one. Raises TidegateError where that is not known."""
        if not self._ids.is_ours(identifier):
            return None
        key = digest(identifier)
        session = await self._current(key)
        if session is None or session.proof != operators.proof(session.operator, identifier):
            return None
        now = self._wall()
        if now >= self._expiry(session):
            return None
        if now - session.seen_at >= SEEN_EVERY:
            session = await self._see(session, now)
        return self._signed_in(identifier, session)

    async def close(self, identifier: str, also: Callable[[Any], None]) -> None:
        """Sign out; `also` is done in the same transaction. Raises TidegateError."""
        key = digest(identifier)
        self._known.pop(key, None)

        def task(connection: Any) -> None:
            if stored.remove(connection, key):
                also(connection)

        await self._store.write(task)

    async def _current(self, key: str) -> Session | None:
        """As the database has it, or had it a moment ago; while it is away, as known not long ago."""
        known = self._known.get(key)
        if known is not None and self._clock() - known.looked_at < TRUSTED:
            return known.session
        try:
            async with asyncio.timeout(PATIENCE):
                session = await self._store.find(key)
        except (TidegateError, TimeoutError) as error:
            if known is None or self._clock() - known.looked_at > STALE:
                raise _unknown(error) from error
            self._keep(known.session)
            return known.session
        if session is None:
            self._known.pop(key, None)
            return None
        if known is not None and known.session.seen_at > session.seen_at:
            session = structs.replace(session, seen_at=known.session.seen_at)
        self._keep(session)
        return session

    async def _see(self, session: Session, now: float) -> Session:
        """Note that it is in use; where that cannot be written, this process alone knows it."""
        session = structs.replace(session, seen_at=now)
        self._keep(session)
        try:
            async with asyncio.timeout(PATIENCE):
                await self._store.write(partial(stored.touch, digest=session.digest, at=now))
        except (TidegateError, TimeoutError) as error:
            log.debug("a session in use could not be noted: %s", error)
        return session

    def _keep(self, session: Session) -> None:
        self._known.pop(session.digest, None)
        while len(self._known) >= _MOST_KNOWN:
            self._known.pop(next(iter(self._known)))
        self._known[session.digest] = _Known(session, self._clock())

    def _sweep(self, connection: Any, now: float) -> None:
        stored.remove_expired(connection, now - self.lifetimes.idle, now - self.lifetimes.absolute)

    def _expiry(self, session: Session) -> float:
        return min(session.seen_at + self.lifetimes.idle, session.created_at + self.lifetimes.absolute)

    def _signed_in(self, identifier: str, session: Session) -> SignedIn:
        return SignedIn(identifier, session.operator, self._expiry(session))


def _unknown(error: Exception) -> TidegateError:
    if isinstance(error, TidegateError):
        return error
    return TidegateError(Failure(kind=Kind.INTERNAL, message="the database does not answer", detail=""))
