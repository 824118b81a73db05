"""Channels, models, accounts and keys that are managed in the database."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def _columns() -> list[sa.Column[object]]:
    """What every table of the catalog has."""
    return [
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
    ]


def upgrade() -> None:
    """Make the tables, and the row that counts their changes."""
    op.create_table("catalog_channels", *_columns(), sa.Column("sealed", sa.LargeBinary()))
    op.create_table("catalog_models", *_columns())
    op.create_table("catalog_accounts", *_columns())
    op.create_table(
        "catalog_keys",
        *_columns(),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("hint", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
    )
    op.create_index("catalog_keys_digest", "catalog_keys", ["digest"], unique=True)
    version = op.create_table("catalog_version", sa.Column("version", sa.BigInteger(), nullable=False))
    op.bulk_insert(version, [{"version": 0}])


def downgrade() -> None:
    """Remove the tables."""
    for name in ("version", "keys", "accounts", "models", "channels"):
        op.drop_table(f"catalog_{name}")
