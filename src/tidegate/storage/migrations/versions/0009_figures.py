"""The sums of requests by buckets of time, and how far the rows have been added up."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_COUNTS = (
    *("completed", "incomplete", "failed", "interrupted", "client_closed", "rejected"),
    *("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"),
    *("cost", "attempts", "attempts_failed"),
    *(f"first_{number:02}" for number in range(28)),
)


def upgrade() -> None:
    """Make the tables; the rows there are will be added up in the background."""
    op.create_table(
        "figure_combinations",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("model", sa.Text()),
        sa.Column("channel", sa.Text()),
        sa.Column("key", sa.Text()),
        sa.Column("account", sa.Text()),
        sa.Column("protocol", sa.Text(), nullable=False),
        sa.Column("stream", sa.Boolean(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("figure_combinations_digest", "figure_combinations", ["digest"], unique=True)
    op.create_table(
        "figure_buckets",
        sa.Column("seconds", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("combination", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in _COUNTS),
        sa.PrimaryKeyConstraint("seconds", "at", "combination"),
        sqlite_with_rowid=False,
    )
    progress = op.create_table(
        "figure_progress",
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
    )
    op.bulk_insert(progress, [{"version": 0, "state": '{"reached":0,"gaps":[],"backlog":[]}'}])
    unusual = sa.text("status <> 200")
    op.create_index(
        "requests_status",
        "requests",
        ["status", "created_at", "id"],
        sqlite_where=unusual,
        postgresql_where=unusual,
    )


def downgrade() -> None:
    """Remove them; the figures are made anew from the rows by a later upgrade."""
    op.drop_index("requests_status", "requests")
    for name in ("progress", "buckets", "combinations"):
        op.drop_table(f"figure_{name}")
