"""Books that can be away, and a catalog with nothing in it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiohttp import web
from sqlalchemy import Connection

from tidegate.admin.gatekeeper import Gatekeeper
from tidegate.admin.operators import ADMIN, Operators
from tidegate.admin.ports import Entry, Settings
from tidegate.admin.session_ids import SessionIds
from tidegate.admin.sessions import Lifetimes, Sessions, Store
from tidegate.admin.throttle import Throttle
from tidegate.admin.visitors import Networks
from tidegate.core.failure import Failure, TidegateError
from tidegate.core.failure import Kind as FailureKind
from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.ledger.entries import Balance, Posting
from tidegate.routing.catalog import Duty, Key
from tidegate.storage import ledger_desk
from tidegate.storage.audit import NOBODY, Author, Noted, Wanted
from tidegate.storage.booking import Booking, Held
from tidegate.storage.catalog import Kind, NotThere
from tidegate.storage.channel_duties import StoredDuty
from tidegate.storage.database import Database, DatabaseUnusable
from tidegate.storage.ledger_desk import LedgerFile, Refund
from tidegate.storage.scope_table import ScopeTable
from tidegate.storage.sessions import Session
from tidegate.storage.statements import Statements


class NoCatalog:
    """Nothing is managed, and nothing can be."""

    async def entries(self, kind: Kind) -> tuple[Entry, ...]:
        return ()

    async def entry(self, kind: Kind, name: str) -> Entry | None:
        return None

    def doubts(self, entry: Entry) -> tuple[str, ...]:
        return ()

    def duty(self, channel: str) -> StoredDuty | None:
        return None

    def by(self, author: Author) -> "NoCatalog":
        return self

    async def set_duty(self, channel: str, duty: Duty) -> Entry:
        raise NotThere

    async def check(self, kind: Kind, settings: Settings) -> None:
        raise NotThere

    async def create(self, kind: Kind, settings: Settings) -> tuple[Entry, Secret | None]:
        raise NotThere

    async def change(self, kind: Kind, name: str, settings: Settings, version: int | None) -> Entry:
        raise NotThere

    async def remove(self, kind: Kind, name: str, version: int | None, *, revoke_keys: bool) -> None:
        raise NotThere


class Books:
    """The books of a file, which can be told to be away."""

    def __init__(self, folder: Path) -> None:
        """Its tables must be there."""
        self.database = Database(f"sqlite:///{folder}/tidegate.db")
        self.file = LedgerFile(self.database)
        self.away = False
        self.author = NOBODY

    def by(self, author: Author) -> "Books":
        self.author = author
        return self

    @property
    def rows(self) -> tuple[Posting, ...]:
        """All postings, the newest first."""
        return self.file.read(lambda connection: ledger_desk.read_postings(connection, None, 1_000, None))

    def charge(self, request_id: str, account: str, amount: int) -> None:
        """As if a request had been served."""

        def settle(connection: Connection) -> None:
            booking = Booking(Statements(connection), 1_700_000_000_500_000)
            booking.lock([account])
            booking.end(Held(request_id, account, None, 0, 0), amount)
            booking.save()

        self.file.write(settle)

    async def credit(self, account: str, amount: int, reference: str) -> bool:
        self._check()
        return self.file.write(
            ledger_desk.noted_credit(account, amount, reference, 1_700_000_000.5, self.author)
        )

    async def refund(self, request_id: str, amount: int | None, reference: str) -> Refund:
        self._check()
        return self.file.write(
            ledger_desk.noted_refund(request_id, amount, reference, 1_700_000_000.5, self.author)
        )

    async def balance(self, account: str) -> Balance:
        self._check()
        return self.file.read(lambda connection: ledger_desk.read_balance(connection, account))

    async def balances(self) -> list[Balance]:
        self._check()
        return self.file.read(ledger_desk.read_balances)

    async def postings(self, account: str | None, *, limit: int, before: int | None) -> tuple[Posting, ...]:
        self._check()
        return self.file.read(
            lambda connection: ledger_desk.read_postings(connection, account, limit, before)
        )

    def _check(self) -> None:
        if self.away:
            raise DatabaseUnusable("the books are away")


class NoSessions:
    """Keeps nobody signed in."""

    async def find(self, digest: str) -> Session | None:
        return None

    async def write(self, task: Callable[[Any], Any]) -> Any:
        raise TidegateError(Failure(kind=FailureKind.INTERNAL, message="away"))


def gate(token: str, store: Store | None = None, trusted: Networks = ()) -> Gatekeeper:
    """Lets in who knows the token."""
    return Gatekeeper(
        Operators({ADMIN: Secret(token)}),
        Sessions(store or NoSessions(), SessionIds(Secret("the gateway's own secret")), Lifetimes()),
        Throttle(ScopeTable(1, 64), None),
        trusted,
    )


class NoTrail:
    """Nobody did anything."""

    async def page(self, wanted: Wanted, *, limit: int, before: int | None) -> tuple[Noted, ...]:
        return ()


class NoPlane:
    """Has no keys, and no answers."""

    def key_named(self, name: str | None) -> Key | None:
        return None

    async def serve_as(self, request: web.Request, protocol: Protocol, key: Key) -> web.StreamResponse:
        raise AssertionError("there is no key to ask as")
