"""The channels that a request left out, and what the caller's program calls itself."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; rows there are do not tell it."""
    op.add_column("requests", sa.Column("skipped", sa.Text()))
    op.add_column("requests", sa.Column("user_agent", sa.Text()))


def downgrade() -> None:
    """Remove them."""
    op.drop_column("requests", "user_agent")
    op.drop_column("requests", "skipped")
