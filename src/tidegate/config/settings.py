"""Every setting of the config file, typed and with its default."""

from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Network, IPv6Network

from msgspec import Struct

from tidegate.config.problems import Problem
from tidegate.core.secret import Secret
from tidegate.routing.catalog import Account as Payer
from tidegate.routing.catalog import Channel, Key, Model

DAY = 86400.0


class Address(Struct, frozen=True):
    """Where to listen; port 0 is any free one."""

    host: str
    port: int


class Server(Struct, frozen=True, kw_only=True):
    """The listening side. Durations are seconds; zero switches a limit off."""

    host: str = "127.0.0.1"
    port: int = 8080
    tls_cert: str | None = None
    tls_key: str | None = None
    cors_origins: tuple[str, ...] = ()
    drain_timeout: float = 30.0
    max_body_bytes: int = 33_554_432
    body_timeout: float = 30.0
    secret: Secret | None = None
    metrics_listen: Address | None = None


class Database(Struct, frozen=True, kw_only=True):
    """Where rows are kept. The URL may hold a password; `retention` is seconds, zero keeps rows for ever.

    `spool` is the folder for what waits while the database is away; None: beside an SQLite file, else in the
    working directory.
    """

    url: Secret = Secret("sqlite:///tidegate.db")
    retention: float = 90 * DAY
    spool: str | None = None


class Redis(Struct, frozen=True, kw_only=True):
    """Limits and holds shared by several nodes; None means that each process keeps its own."""

    url: Secret | None = None


class Admin(Struct, frozen=True, kw_only=True):
    """The admin API and console; without a token both are off. Durations are seconds.

    `operators` are further tokens by the operator's name; `trusted_proxies` are believed where a request
    comes from; `audit_retention` zero keeps the audit log for ever.
    """

    token: Secret | None = None
    operators: Mapping[str, Secret] = {}
    session_idle: float = 12 * 3600.0
    session_lifetime: float = 7 * DAY
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    audit_retention: float = 365 * DAY


class UsageChunk(Enum):
    """When a chat caller gets a chunk with the usage."""

    ON_REQUEST = "on_request"
    """Only with `stream_options.include_usage`."""
    ALWAYS = "always"


class Streaming(Struct, frozen=True, kw_only=True):
    """How streams behave. Durations are seconds; zero switches the thing off."""

    keepalive_interval: float = 10.0
    keepalive_comment: str = "tidegate-keepalive"
    commit_after: float = 10.0
    first_event_timeout: float = 120.0
    idle_timeout: float = 360.0
    client_timeout: float = 600.0
    usage_chunk: UsageChunk = UsageChunk.ON_REQUEST
    timeout_message: str = "upstream timed out after the response had started"
    failure_message: str = "upstream failed after the response had started"
    max_event_bytes: int = 16_777_216


class Routing(Struct, frozen=True, kw_only=True):
    """How often and how long to try. `cooldown` is seconds; zero means that failures lead to none."""

    max_attempts: int = 4
    cooldown: float = 30.0
    failures_before_cooldown: int = 3


class Capture(Struct, frozen=True, kw_only=True):
    """What is kept of the content of requests whose key says so.

    `max_bytes` holds for a request's body and for its answer each; what matches one of `redact` is taken out;
    `retention` is seconds, zero keeps content as long as its request's row.
    """

    max_bytes: int = 65_536
    redact: tuple[str, ...] = ()
    retention: float = 7 * DAY


class Tracing(Struct, frozen=True, kw_only=True):
    """Where spans go; without an endpoint nothing is traced. Headers may hold credentials.

    `sample` is the share of new traces that are recorded, from 0 to 1.
    """

    endpoint: str | None = None
    headers: Mapping[str, Secret] = {}
    service_name: str = "tidegate"
    sample: float = 1.0
    propagate: bool = False


class Account(Struct, frozen=True, kw_only=True):
    """Who pays. `balance` is USD, credited once; budgets are nano-USD. A limit of None means none."""

    name: str
    balance: Decimal | None = None
    prepaid: bool = False
    max_concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    budget_per_day: int | None = None
    budget_per_month: int | None = None

    @property
    def payer(self) -> Payer:
        """The account as requests see it."""
        return Payer(
            name=self.name,
            prepaid=self.prepaid,
            max_concurrency=self.max_concurrency,
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
            budget_per_day=self.budget_per_day,
            budget_per_month=self.budget_per_month,
        )


class Config(Struct, frozen=True, kw_only=True):
    """A whole config, checked. `keys` are by `routing.catalog.digest` of their secret, which is not kept."""

    server: Server = Server()
    database: Database = Database()
    redis: Redis = Redis()
    admin: Admin = Admin()
    streaming: Streaming = Streaming()
    routing: Routing = Routing()
    capture: Capture = Capture()
    tracing: Tracing = Tracing()
    channels: tuple[Channel, ...] = ()
    models: tuple[Model, ...] = ()
    accounts: tuple[Account, ...] = ()
    keys: Mapping[bytes, Key] = {}
    warnings: tuple[Problem, ...] = ()
