"""The journal of requests and the owners of stored responses."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "requests",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.Text()),
        sa.Column("account", sa.Text()),
        sa.Column("protocol", sa.Text(), nullable=False),
        sa.Column("stream", sa.Boolean(), nullable=False),
        sa.Column("model", sa.Text()),
        sa.Column("channel", sa.Text()),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("finish_reason", sa.Text()),
        sa.Column("first_token_ms", sa.Float()),
        sa.Column("duration_ms", sa.Float(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cache_read_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cache_write_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("usage_source", sa.Text(), nullable=False),
        sa.Column("error_type", sa.Text()),
        sa.Column("error_code", sa.Text()),
        sa.Column("error_message", sa.Text()),
        sa.Column("warnings", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Text(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("requests_id", "requests", ["id"], unique=True)
    op.create_index("requests_created", "requests", ["created_at", "id"])
    op.create_index("requests_key", "requests", ["key", "created_at", "id"])
    op.create_index("requests_account", "requests", ["account", "created_at", "id"])
    troubled = sa.text("outcome <> 'completed'")
    op.create_index(
        "requests_trouble",
        "requests",
        ["outcome", "created_at", "id"],
        sqlite_where=troubled,
        postgresql_where=troubled,
    )
    op.create_table(
        "owned_ids",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("channel_group", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", "account"),
        sqlite_with_rowid=False,
    )
    op.create_index("owned_ids_expires", "owned_ids", ["expires_at"])


def downgrade() -> None:
    """Remove both tables."""
    op.drop_table("owned_ids")
    op.drop_table("requests")
