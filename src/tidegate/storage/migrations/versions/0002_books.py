"""The books: balances, postings, open requests, their owners and what was spent; each row's cost."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables, and give every row there is the cost zero."""
    op.add_column("requests", sa.Column("cost", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("requests", sa.Column("items", sa.Text(), nullable=False, server_default="[]"))
    op.create_table(
        "balances",
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("balance", sa.BigInteger(), nullable=False),
        sa.Column("held", sa.BigInteger(), nullable=False),
        sa.Column("budgeted", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("account"),
        sa.CheckConstraint("held >= 0", name="balances_held"),
        sqlite_with_rowid=False,
    )
    _postings()
    op.create_table(
        "intents",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("key", sa.Text()),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.CheckConstraint("amount >= 0", name="intents_amount"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "owners",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("boot", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("config", sa.Text()),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "spending",
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("period", sa.Text(), nullable=False),
        sa.Column("spent", sa.BigInteger(), nullable=False),
        sa.Column("held", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("account", "scope", "period"),
        sqlite_with_rowid=False,
    )


def _postings() -> None:
    op.create_table(
        "postings",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        sa.Column("reference", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("key", sa.Text()),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("note", sa.Text()),
        sa.CheckConstraint("amount > 0", name="postings_amount"),
        sa.CheckConstraint(
            "(kind = 'credit' AND source = 'outside' AND target = 'available')"
            " OR (kind = 'hold' AND source = 'available' AND target = 'held')"
            " OR (kind = 'settle' AND source IN ('held', 'available') AND target = 'income')"
            " OR (kind = 'release' AND source = 'held' AND target = 'available')"
            " OR (kind = 'refund' AND source = 'income' AND target = 'available')",
            name="postings_kind",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("postings_reference", "postings", ["reference", "kind", "source"], unique=True)
    op.create_index("postings_account", "postings", ["account", "at", "number"])
    noted = sa.text("note IS NOT NULL")
    op.create_index("postings_note", "postings", ["note"], sqlite_where=noted, postgresql_where=noted)


def downgrade() -> None:
    """Remove the books; what requests cost is forgotten."""
    for table in ("spending", "owners", "intents", "postings", "balances"):
        op.drop_table(table)
    op.drop_column("requests", "items")
    op.drop_column("requests", "cost")
