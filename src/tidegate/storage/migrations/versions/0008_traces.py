"""The trace that a request belongs to."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; rows there are do not tell it."""
    op.add_column("requests", sa.Column("trace_id", sa.Text()))


def downgrade() -> None:
    """Remove it."""
    op.drop_column("requests", "trace_id")
