"""What the admin API needs from the world."""

from collections.abc import Collection, Mapping
from typing import Protocol, TypeAlias

from msgspec import Struct

from tidegate.core.secret import Secret
from tidegate.doctor.report import Report
from tidegate.exchange.ports import RequestRecord
from tidegate.ledger.entries import Balance, Posting
from tidegate.routing.catalog import Account, Channel, Duty, Key, Model
from tidegate.storage.audit import Author, Noted, Wanted
from tidegate.storage.catalog import Kind
from tidegate.storage.channel_duties import StoredDuty
from tidegate.storage.content_desk import Also
from tidegate.storage.contents import KeptContent
from tidegate.storage.ledger_desk import Refund
from tidegate.storage.pages import Filters, Page

Value: TypeAlias = Channel | Model | Account | Key
Settings: TypeAlias = Mapping[str, object]
"""Settings as the config file has them, read from JSON with fractions as decimals; None means the default."""


class RequestReader(Protocol):
    """Reads the journal. A journal that cannot be read raises TidegateError."""

    async def page(self, filters: Filters, *, limit: int, before: str | None) -> Page:
        """The newest `limit` rows before a cursor or a request id; UnknownPosition if `before` is neither."""

    async def one(self, identifier: str) -> RequestRecord | None:
        """The row of a request, if there is one."""


class ContentDesk(Protocol):
    """What is kept of what requests said. All raise TidegateError where that cannot be reached."""

    async def one(self, identifier: str, also: Also) -> KeptContent | None:
        """What is kept of a request; `also` is done in the same transaction if there is something."""

    async def present(self, identifiers: Collection[str]) -> frozenset[str]:
        """Those of the requests of which something is kept."""

    async def forget(self, identifier: str, also: Also) -> bool:
        """Keep nothing of a request any more, and do `also` with it; False: nothing was kept."""


class Origin(Struct, frozen=True, kw_only=True):
    """Where a thing that is managed in the database comes from; times are Unix seconds."""

    version: int
    created_at: float
    changed_at: float
    hint: str | None = None
    """What may be shown of a key's secret."""


class Entry(Struct, frozen=True, kw_only=True):
    """One channel, model, account or key. `origin` None: the config file declares it.

    `value` is None where what is stored cannot be used; `problem` then says why.
    """

    kind: Kind
    name: str
    value: Value | None
    origin: Origin | None = None
    problem: str | None = None


class Fault(Struct, frozen=True):
    """What is wrong with one setting, and what mends it; never shows its value."""

    field: str
    message: str
    mend: str


class Invalid(Exception):
    """Settings that cannot be used, with everything that is wrong with them."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("; ".join(f"{fault.field}: {fault.message}" for fault in faults))
        self.faults = faults


class GoneMeanwhile(Exception):
    """It was made, but is not there any more, or cannot be read back."""


class DeclaredByFile(Exception):
    """The config file declares it, so it is changed there."""


class CatalogDesk(Protocol):
    """Channels, models, accounts and keys. Changes raise TidegateError where the database is away.

    Besides they raise Invalid, DeclaredByFile and what storage.catalog has: NameTaken, NotThere,
    ChangedMeanwhile, InUse.
    """

    async def entries(self, kind: Kind) -> tuple[Entry, ...]:
        """All of them by name, as they are in force; while the database is away, as last known."""

    async def entry(self, kind: Kind, name: str) -> Entry | None:
        """One of them."""

    def doubts(self, entry: Entry) -> tuple[str, ...]:
        """What about an entry is likely not meant."""

    def duty(self, channel: str) -> StoredDuty | None:
        """What was wanted last of a channel; None: it has always been active."""

    def by(self, author: Author) -> "CatalogDesk":
        """The desk for changes that this author makes."""

    async def set_duty(self, channel: str, duty: Duty) -> Entry:
        """Pause a channel, let it drain or resume it; that of the config file too."""

    async def check(self, kind: Kind, settings: Settings) -> None:
        """Raise what `create` would raise, and change nothing."""

    async def create(self, kind: Kind, settings: Settings) -> tuple[Entry, Secret | None]:
        """Add one; the secret is that of a new key, known only now."""

    async def change(self, kind: Kind, name: str, settings: Settings, version: int | None) -> Entry:
        """Replace the given settings."""

    async def remove(self, kind: Kind, name: str, version: int | None, *, revoke_keys: bool) -> None:
        """Delete one; an account that has keys only together with them."""


class LedgerDesk(Protocol):
    """The books. Amounts are nano-USD. While the database is away all raise DatabaseUnusable.

    What they do not take is a LedgerRefusal; the kinds are in ledger.refusals.
    """

    def by(self, author: Author) -> "LedgerDesk":
        """The desk for what this author pays."""

    async def credit(self, account: str, amount: int, reference: str) -> bool:
        """Add a payment; False if it is there already. BalanceTooLarge, ReferenceTaken."""

    async def refund(self, request_id: str, amount: int | None, reference: str) -> Refund:
        """Pay back what a request was charged, None: all that is left. RefundRefused, ReferenceTaken."""

    async def balance(self, account: str) -> Balance:
        """What the account has; zero where it has no postings."""

    async def balances(self) -> list[Balance]:
        """Of every account with postings."""

    async def postings(self, account: str | None, *, limit: int, before: int | None) -> tuple[Posting, ...]:
        """The newest postings before a number, the newest first."""


class AuditReader(Protocol):
    """The audit log. While the database is away it raises DatabaseUnusable."""

    async def page(self, wanted: Wanted, *, limit: int, before: int | None) -> tuple[Noted, ...]:
        """The newest rows before a number, the newest first."""


class ModelHealth(Struct, frozen=True, kw_only=True):
    """How a channel stands with one upstream model: ready, cooling, may_probe or probing."""

    upstream_model: str
    state: str
    why: str
    until: float | None = None
    """Unix seconds at which it is tried again."""


class ChannelHealth(Struct, frozen=True, kw_only=True):
    """How a channel stands on this node: ready, cooling, probing, paused or draining."""

    name: str
    state: str
    open_requests: int
    models: tuple[ModelHealth, ...]


class NodeHealth(Struct, frozen=True, kw_only=True):
    """How this node stands, over all its workers. Times are Unix seconds."""

    version: str
    started_at: float
    workers: int
    database: str
    """ok | away"""
    redis: str
    """ok | away | none"""
    spool_rows: int
    open_requests: int
    channels: tuple[ChannelHealth, ...]


class HealthReader(Protocol):
    """Tells how this node stands."""

    def health(self) -> NodeHealth:
        """As of now; of other workers as of at most a second ago."""


class ChannelTester(Protocol):
    """Tries a channel out."""

    async def test(self, channel: Channel, model: str | None) -> Report:
        """What the doctor finds on it. NoSuchModel for a public model name that it does not serve."""


class NoSuchModel(Exception):
    """The channel does not serve this model, or none must be guessed; the text says which."""
