"""The tables as the newest migration leaves them."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)

from tidegate.storage.sums import SUMS

HEAD = "0009"
"""The newest migration. Known here so that a start with nothing to migrate does not load Alembic."""

metadata = MetaData()

_ROW_NUMBER = BigInteger().with_variant(Integer, "sqlite")

requests = Table(
    "requests",
    metadata,
    # Counts up in the order of commits and is never used again: `tidegate logs --follow` reads on from it.
    Column("seq", _ROW_NUMBER, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),  # microseconds since 1970
    Column("key", Text),
    Column("account", Text),
    Column("protocol", Text, nullable=False),
    Column("stream", Boolean, nullable=False),
    Column("model", Text),
    Column("channel", Text),
    Column("status", Integer, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("finish_reason", Text),
    Column("first_token_ms", Float),
    Column("duration_ms", Float, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("cache_read_tokens", BigInteger, nullable=False),
    Column("cache_write_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("usage_source", Text, nullable=False),
    Column("error_type", Text),
    Column("error_code", Text),
    Column("error_message", Text),
    Column("warnings", Text, nullable=False),  # JSON
    Column("attempts", Text, nullable=False),  # JSON
    Column("cost", BigInteger, nullable=False, server_default="0"),  # nano-USD, as all amounts
    Column("items", Text, nullable=False, server_default="[]"),  # JSON
    Column("skipped", Text),  # JSON; NULL where no channel was left out
    Column("user_agent", Text),
    Column("trace_id", Text),
    # Each index is paid for by every request (0.5 to 3 µs), so there are few.
    # One by its id; also makes a batch that is written twice after an unclear failure count once.
    Index("requests_id", "id", unique=True),
    # Newest first, and what is too old.
    Index("requests_created", "created_at", "id"),
    # "What did this key do", "what did this account do": rare among the rows of all.
    Index("requests_key", "key", "created_at", "id"),
    Index("requests_account", "account", "created_at", "id"),
    # "What went wrong": free for a request that went well. Models, channels and protocols are few, so a walk
    # through the newest rows finds them soon and they have no index.
    Index(
        "requests_trouble",
        "outcome",
        "created_at",
        "id",
        sqlite_where=text("outcome <> 'completed'"),
        postgresql_where=text("outcome <> 'completed'"),
    ),
    Index(
        "requests_status",
        "status",
        "created_at",
        "id",
        sqlite_where=text("status <> 200"),
        postgresql_where=text("status <> 200"),
    ),
    sqlite_autoincrement=True,
)

owned_ids = Table(
    "owned_ids",
    metadata,
    Column("id", Text, nullable=False),
    Column("account", Text, nullable=False),
    Column("channel_group", Text, nullable=False),
    Column("expires_at", BigInteger, nullable=False),  # Unix seconds
    PrimaryKeyConstraint("id", "account"),
    Index("owned_ids_expires", "expires_at"),
    sqlite_with_rowid=False,
)

balances = Table(
    "balances",
    metadata,
    Column("account", Text, primary_key=True, nullable=False),
    Column("balance", BigInteger, nullable=False),  # counts what is held
    Column("held", BigInteger, nullable=False),
    # Whether the account has rows in `spending`: most have none, and then nobody looks there.
    Column("budgeted", Boolean, nullable=False),
    CheckConstraint("held >= 0", name="balances_held"),
    sqlite_with_rowid=False,
)

postings = Table(
    "postings",
    metadata,
    Column("number", _ROW_NUMBER, primary_key=True, autoincrement=True),
    Column("reference", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("account", Text, nullable=False),
    Column("key", Text),
    Column("source", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("at", BigInteger, nullable=False),  # microseconds since 1970
    Column("note", Text),  # of a refund: the request's id
    CheckConstraint("amount > 0", name="postings_amount"),
    CheckConstraint(
        "(kind = 'credit' AND source = 'outside' AND target = 'available')"
        " OR (kind = 'hold' AND source = 'available' AND target = 'held')"
        " OR (kind = 'settle' AND source IN ('held', 'available') AND target = 'income')"
        " OR (kind = 'release' AND source = 'held' AND target = 'available')"
        " OR (kind = 'refund' AND source = 'income' AND target = 'available')",
        name="postings_kind",
    ),
    # No movement is booked twice.
    Index("postings_reference", "reference", "kind", "source", unique=True),
    # An account's newest, and what it spent since a day or month began.
    Index("postings_account", "account", "at", "number"),
    # What has been paid back of a request.
    Index(
        "postings_note",
        "note",
        sqlite_where=text("note IS NOT NULL"),
        postgresql_where=text("note IS NOT NULL"),
    ),
    sqlite_autoincrement=True,
)

# Open requests only, so it stays small and needs no index but its key.
intents = Table(
    "intents",
    metadata,
    Column("id", Text, primary_key=True, nullable=False),
    Column("account", Text, nullable=False),
    Column("key", Text),
    Column("amount", BigInteger, nullable=False),
    Column("owner", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),  # microseconds since 1970: when the hold was taken
    Column("record", Text, nullable=False),  # JSON: the row that it leaves if its process dies now
    CheckConstraint("amount >= 0", name="intents_amount"),
    sqlite_with_rowid=False,
)

owners = Table(
    "owners",
    metadata,
    Column("id", Text, primary_key=True, nullable=False),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("boot", Text, nullable=False),
    Column("started_at", BigInteger, nullable=False),  # Unix seconds by the database's clock, as seen_at
    Column("seen_at", BigInteger, nullable=False),
    Column("config", Text),
)

spending = Table(
    "spending",
    metadata,
    Column("account", Text, nullable=False),
    Column("scope", Text, nullable=False),  # key:NAME or account:NAME
    Column("period", Text, nullable=False),  # 2026-11-29 or 2026-11
    Column("spent", BigInteger, nullable=False),
    Column("held", BigInteger, nullable=False),
    PrimaryKeyConstraint("account", "scope", "period"),
    sqlite_with_rowid=False,
)


def _managed(name: str, *more: Column[Any]) -> Table:
    """A table of things that are managed in the database."""
    return Table(
        f"catalog_{name}",
        metadata,
        Column("name", Text, primary_key=True),
        Column("definition", Text, nullable=False),  # JSON, without secrets
        Column("version", BigInteger, nullable=False),  # of the whole catalog at the row's last change
        Column("created_at", BigInteger, nullable=False),  # microseconds since 1970
        Column("changed_at", BigInteger, nullable=False),
        *more,
    )


catalog_channels = _managed("channels", Column("sealed", LargeBinary))  # the credential, encrypted
catalog_models = _managed("models")
catalog_accounts = _managed("accounts")
catalog_keys = _managed(
    "keys",
    Column("digest", Text, nullable=False),  # SHA-256 of the secret, which is kept nowhere
    Column("hint", Text, nullable=False),
    Column("account", Text, nullable=False),
)
Index("catalog_keys_digest", catalog_keys.c.digest, unique=True)

# What the operator wants of a channel at present, also one of the config file; without a row it is active.
channel_duties = Table(
    "channel_duties",
    metadata,
    Column("name", Text, primary_key=True, nullable=False),
    Column("duty", Text, nullable=False),
    Column("changed_at", BigInteger, nullable=False),  # microseconds since 1970
    Column("changed_by", Text, nullable=False),
    CheckConstraint("duty IN ('active', 'paused', 'draining')", name="channel_duties_duty"),
    sqlite_with_rowid=False,
)

# One row: each change raises it in its own transaction, so that every process sees that there is one.
catalog_version = Table("catalog_version", metadata, Column("version", BigInteger, nullable=False))

# Who is signed in at the console. Of a session's id only the SHA-256 is kept.
admin_sessions = Table(
    "admin_sessions",
    metadata,
    Column("digest", Text, primary_key=True, nullable=False),
    Column("operator", Text, nullable=False),
    Column("proof", Text, nullable=False),  # that the operator's token is still the one signed in with
    Column("created_at", BigInteger, nullable=False),  # microseconds since 1970, as seen_at
    Column("seen_at", BigInteger, nullable=False),
    Index("admin_sessions_seen", "seen_at"),
)

# Who changed what. Only added to, until a row is older than the setting says.
audit = Table(
    "audit",
    metadata,
    Column("number", _ROW_NUMBER, primary_key=True, autoincrement=True),
    Column("at", BigInteger, nullable=False),  # microseconds since 1970
    Column("operator", Text),
    Column("via", Text, nullable=False),
    Column("address", Text),
    Column("action", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("name", Text),
    Column("changes", Text, nullable=False),  # JSON: field -> [old, new]
    Index("audit_at", "at"),
    Index("audit_name", "kind", "name", "number"),
    sqlite_autoincrement=True,
)

# What requests and answers said, by the id of the request; in a table of its own, so that rows stay small.
contents = Table(
    "contents",
    metadata,
    Column("id", Text, primary_key=True, nullable=False),
    Column("captured_at", BigInteger, nullable=False),  # microseconds since 1970
    Column("request", LargeBinary, nullable=False),  # UTF-8, compressed by zlib
    Column("request_bytes", BigInteger, nullable=False),  # in all, also what is not kept
    Column("request_truncated", Boolean, nullable=False),
    Column("answer", LargeBinary, nullable=False),
    Column("answer_bytes", BigInteger, nullable=False),
    Column("answer_truncated", Boolean, nullable=False),
    Index("contents_captured", "captured_at"),
)

# Names that occur together in requests, each such combination once: the buckets then have one number for it.
figure_combinations = Table(
    "figure_combinations",
    metadata,
    Column("number", _ROW_NUMBER, primary_key=True, autoincrement=True),
    Column("digest", Text, nullable=False),  # of the names, which may be longer than an index takes
    Column("model", Text),
    Column("channel", Text),
    Column("key", Text),
    Column("account", Text),
    Column("protocol", Text, nullable=False),
    Column("stream", Boolean, nullable=False),
    Index("figure_combinations_digest", "digest", unique=True),
    sqlite_autoincrement=True,
)

# Sums of the requests that began in the `seconds` from `at` on.
figure_buckets = Table(
    "figure_buckets",
    metadata,
    Column("seconds", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),  # Unix seconds
    Column("combination", BigInteger, nullable=False),
    *(Column(name, BigInteger, nullable=False) for name in SUMS),
    PrimaryKeyConstraint("seconds", "at", "combination"),
    sqlite_with_rowid=False,
)

# One row: which of the requests the buckets count. Whoever changes buckets raises the version with them.
figure_progress = Table(
    "figure_progress",
    metadata,
    Column("version", BigInteger, nullable=False),
    Column("state", Text, nullable=False),  # JSON
)
