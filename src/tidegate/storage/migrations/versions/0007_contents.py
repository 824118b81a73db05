"""What requests and answers said, where a key's owner has asked for that to be kept."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "contents",
        sa.Column("id", sa.Text(), primary_key=True, nullable=False),
        sa.Column("captured_at", sa.BigInteger(), nullable=False),
        sa.Column("request", sa.LargeBinary(), nullable=False),
        sa.Column("request_bytes", sa.BigInteger(), nullable=False),
        sa.Column("request_truncated", sa.Boolean(), nullable=False),
        sa.Column("answer", sa.LargeBinary(), nullable=False),
        sa.Column("answer_bytes", sa.BigInteger(), nullable=False),
        sa.Column("answer_truncated", sa.Boolean(), nullable=False),
    )
    op.create_index("contents_captured", "contents", ["captured_at"])


def downgrade() -> None:
    """Remove the table, with all that was kept."""
    op.drop_table("contents")
