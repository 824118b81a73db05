"""Which channels are paused or draining."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table; every channel is active."""
    op.create_table(
        "channel_duties",
        sa.Column("name", sa.Text(), primary_key=True, nullable=False),
        sa.Column("duty", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=False),
        sa.CheckConstraint("duty IN ('active', 'paused', 'draining')", name="channel_duties_duty"),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Remove the table."""
    op.drop_table("channel_duties")
