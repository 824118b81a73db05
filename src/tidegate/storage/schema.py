"""The tables as the newest migration leaves them."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)

HEAD = "0001"
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
