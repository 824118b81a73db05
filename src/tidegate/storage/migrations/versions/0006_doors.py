"""Sessions of the console, and the trail of what operators did."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "admin_sessions",
        sa.Column("digest", sa.Text(), primary_key=True, nullable=False),
        sa.Column("operator", sa.Text(), nullable=False),
        sa.Column("proof", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
    )
    op.create_index("admin_sessions_seen", "admin_sessions", ["seen_at"])
    op.create_table(
        "audit",
        sa.Column("number", number, primary_key=True, autoincrement=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("operator", sa.Text()),
        sa.Column("via", sa.Text(), nullable=False),
        sa.Column("address", sa.Text()),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text()),
        sa.Column("changes", sa.Text(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("audit_at", "audit", ["at"])
    op.create_index("audit_name", "audit", ["kind", "name", "number"])


def downgrade() -> None:
    """Remove the tables."""
    op.drop_table("audit")
    op.drop_table("admin_sessions")
